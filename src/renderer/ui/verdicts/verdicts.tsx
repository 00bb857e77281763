import { Group, Modal, Stack } from '@mantine/core'
import {
  IconArrowBackUp,
  IconArrowForwardUp,
  IconCheck,
  IconHelpCircle,
  IconMinus,
  IconNote,
  IconPlus,
  type TablerIcon,
} from '@tabler/icons-react'
import { type ComponentProps, type KeyboardEvent, useState } from 'react'
import { describeVerdict, type RowVerdict, VERDICT_WORDS } from '../../../shared/lookback/verdict.ts'
import { ActionButton, TextArea, TextField } from '../controls.tsx'
import { Form, FormActions } from '../form.tsx'
import { hasMod, hasModifier, nameShortcut } from '../shortcuts.ts'
import { SafeText } from '../text/safe-text.tsx'
import styles from './verdicts.module.css'

/** The look of a verdict on every screen: an icon of its own shape, a colour, and its words. */
const LOOKS: Record<RowVerdict['verdict'], { icon: TablerIcon; color: string }> = {
  agree: { icon: IconCheck, color: 'var(--state-succeeded)' },
  should: { icon: IconPlus, color: 'var(--state-rejected)' },
  'should-not': { icon: IconMinus, color: 'var(--state-failed)' },
  unsure: { icon: IconHelpCircle, color: 'var(--state-unknown)' },
}

/** A person's verdicts on a row, each with its rule, and whether there is a note. */
export function VerdictMark({ verdicts }: { verdicts: readonly RowVerdict[] }) {
  const note = verdicts.find((one) => one.note !== null)?.note ?? null
  return (
    <>
      {verdicts.map((verdict) => (
        <VerdictLabel key={`${verdict.verdict} ${verdict.rule}`} verdict={verdict} />
      ))}
      {note !== null && (
        <span className={styles.noted}>
          <IconNote size="1.05em" aria-hidden />
          note
        </span>
      )}
    </>
  )
}

export function VerdictLabel({
  verdict: { verdict, rule },
}: {
  verdict: Pick<RowVerdict, 'verdict' | 'rule'>
}) {
  const { icon: Icon, color } = LOOKS[verdict]
  return (
    <span className={styles.mark} style={{ color }} title={describeVerdict({ verdict, rule })}>
      <Icon size="1.05em" stroke={2.25} aria-hidden />
      <span className="truncate">
        {VERDICT_WORDS[verdict]}
        {rule !== null && (
          <>
            {' '}
            <SafeText text={rule} max={60} />
          </>
        )}
      </span>
    </span>
  )
}

/** Asks for the note on a row; an empty one removes it. */
export function NoteDialog(props: {
  /** The row as a person knows it. */
  row: string
  note: string | null
  /** Whether the row has a verdict; without one, a note makes it unsure. */
  hasVerdict: boolean
  onNote: (note: string) => void
  onClose: () => void
}) {
  const [note, setNote] = useState(props.note ?? '')
  return (
    <Modal opened onClose={props.onClose} title={`Note on row ${props.row}`}>
      <Form onSubmit={() => props.onNote(note)}>
        <TextArea
          data-autofocus
          label="Note"
          description={
            props.hasVerdict
              ? `Stored with your verdict. ${nameShortcut(['Mod', 'Enter'])} saves.`
              : `The row counts as unsure until you give another verdict. ${nameShortcut(['Mod', 'Enter'])} saves.`
          }
          value={note}
          onValue={setNote}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !hasMod(event)) return
            event.preventDefault()
            props.onNote(note)
          }}
          autosize
          minRows={3}
          maxRows={10}
          maxLength={10_000}
        />
        <FormActions submit="Save" onCancel={props.onClose} />
      </Form>
    </Modal>
  )
}

/** Rules that have a key of their own: 1 to 9. */
const RULE_KEYS = 9

/** A rule to choose; the first nine have keys. */
export function RuleButton(props: { rule: string; index: number } & ComponentProps<'button'>) {
  const { rule, index, ...others } = props
  return (
    <button
      type="button"
      className={`bare grid items-center w-full breaks pre-wrap ${styles.rule}`}
      {...others}
    >
      {index < RULE_KEYS ? <kbd>{index + 1}</kbd> : <span />}
      <SafeText text={rule} max={120} />
    </button>
  )
}

/** The rule of a digit; null if there is none. */
export function findRuleOfKey<Rule>(key: string, rules: readonly Rule[]): Rule | null {
  return /^[1-9]$/.test(key) ? (rules[Number(key) - 1] ?? null) : null
}

/** Asks for a rule: a known one by a click or the keys 1 to 9 or, with `takesOthers`, another one by name. */
export function RuleDialog(props: {
  title: string
  rules: readonly string[]
  takesOthers: boolean
  onRule: (rule: string) => void
  onClose: () => void
}) {
  const { rules, takesOthers, onRule } = props
  const [name, setName] = useState('')
  const press = (event: KeyboardEvent) => {
    if (event.target instanceof HTMLInputElement || event.repeat || hasModifier(event)) return
    const rule = findRuleOfKey(event.key, rules)
    if (rule === null) return
    event.preventDefault()
    onRule(rule)
  }
  return (
    <Modal opened onClose={props.onClose} title={props.title} onKeyDown={press}>
      <Stack gap="md">
        {rules.length > 0 && (
          <ul className={`grid gap-1 overflow-auto ${styles.rules}`} aria-label="Rules">
            {rules.map((rule, index) => (
              <li key={rule}>
                <RuleButton
                  rule={rule}
                  index={index}
                  {...(index === 0 && { 'data-autofocus': true })}
                  onClick={() => onRule(rule)}
                />
              </li>
            ))}
          </ul>
        )}
        {takesOthers && (
          <Group
            component="form"
            gap="xs"
            align="end"
            wrap="nowrap"
            onSubmit={(event) => {
              event.preventDefault()
              if (name.trim() !== '') onRule(name.trim())
            }}
          >
            <TextField
              flex={1}
              label={rules.length > 0 ? 'Another rule' : 'Rule'}
              description="Its name or id, as the service has it."
              value={name}
              onValue={setName}
              isLiteral
              maxLength={1_000}
              {...(rules.length === 0 && { 'data-autofocus': true })}
            />
            <ActionButton label="Choose" type="submit" disabled={name.trim() === ''} />
          </Group>
        )}
      </Stack>
    </Modal>
  )
}

export function UndoRedo(props: {
  canUndo: boolean
  canRedo: boolean
  onUndo: () => void
  onRedo: () => void
}) {
  return (
    <Group gap="xs" wrap="nowrap">
      <ActionButton
        label="Undo"
        small
        title={nameShortcut(['Mod', 'Z'])}
        disabled={!props.canUndo}
        icon={IconArrowBackUp}
        onClick={props.onUndo}
      />
      <ActionButton
        label="Redo"
        small
        title={nameShortcut(['Mod', 'Shift', 'Z'])}
        disabled={!props.canRedo}
        icon={IconArrowForwardUp}
        onClick={props.onRedo}
      />
    </Group>
  )
}
