import { Group, Modal, Stack } from '@mantine/core'
import { type ComponentProps, type KeyboardEvent, useState } from 'react'
import { ActionButton, TextField } from '../controls.tsx'
import { SafeText } from '../text/safe-text.tsx'
import styles from './verdicts.module.css'

/** Rules that have a key of their own: 1 to 9. */
const RULE_KEYS = 9

/** A rule to be chosen; the first nine have keys. */
export function RuleButton(props: { rule: string; index: number } & ComponentProps<'button'>) {
  const { rule, index, ...others } = props
  return (
    <button type="button" className={`grid items-center w-full breaks pre-wrap ${styles.rule}`} {...others}>
      {index < RULE_KEYS ? <kbd>{index + 1}</kbd> : <span />}
      <SafeText text={rule} max={120} />
    </button>
  )
}

/** The rule that a digit stands for; null where it stands for none. */
export function findRuleOfKey<Rule>(key: string, rules: readonly Rule[]): Rule | null {
  return /^[1-9]$/.test(key) ? (rules[Number(key) - 1] ?? null) : null
}

/**
 * Asks for a rule: one of the known ones by a click or the keys 1 to 9, or, with `takesOthers`, one that nothing has
 * triggered, by name.
 */
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
    if (event.target instanceof HTMLInputElement || event.repeat) return
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
