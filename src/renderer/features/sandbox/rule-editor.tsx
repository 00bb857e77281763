import { Modal, Select } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import {
  CONTENT_CLASSES,
  type ContentClass,
  type Rule,
  type RuleCondition,
  ruleSchema,
} from '../../../shared/sandbox/content.ts'
import { ActionButton, CheckField, NumberField, TextField } from '../../ui/controls.tsx'
import { Form, FormActions } from '../../ui/form.tsx'
import styles from './sandbox.module.css'

const SUBJECTS: Record<RuleCondition['subject'], string> = {
  class_score: 'a class scores at least',
  watchlist: 'a term of a watchlist',
  custom_index: 'an item of an index',
  content_variant: 'the content variant is',
  language: 'the language is one of',
  url: 'there is a web address',
}

const NEW_CONDITIONS: Record<RuleCondition['subject'], RuleCondition> = {
  class_score: { subject: 'class_score', class: 'violence', min_score: 2 },
  watchlist: { subject: 'watchlist', watchlist: 'sandbox_terms' },
  custom_index: { subject: 'custom_index', custom_index_id: 'sandbox-index' },
  content_variant: { subject: 'content_variant', content_variant: 'live_chat' },
  language: { subject: 'language', any_of: ['EN'] },
  url: { subject: 'url' },
}

const NEW_RULE: Rule = {
  rule_id: '',
  rule_name: '',
  conditions: [NEW_CONDITIONS.class_score],
  action_id: 'flag-for-review',
  active: true,
}

/** Writes a rule, a new one where there is none. */
export function RuleEditor(props: {
  rule: Rule | null
  takenIds: readonly string[]
  onSave: (rule: Rule) => Promise<void>
  onClose: () => void
}) {
  const isNew = props.rule === null
  const [rule, setRule] = useState(props.rule ?? NEW_RULE)
  const set = (part: Partial<Rule>) => setRule((known) => ({ ...known, ...part }))
  const ruleId = isNew && rule.rule_id === '' ? toId(rule.rule_name) : rule.rule_id
  const isTaken = isNew && props.takenIds.includes(ruleId)
  const save = useMutation({ mutationFn: () => props.onSave({ ...rule, rule_id: ruleId }) })
  const setCondition = (at: number, condition: RuleCondition) =>
    set({ conditions: rule.conditions.map((one, index) => (index === at ? condition : one)) })
  return (
    <Modal opened size="lg" onClose={props.onClose} title={isNew ? 'Add a rule' : 'Edit the rule'}>
      <Form onSubmit={() => save.mutate()}>
        <div className={`flex flex-wrap items-end gap-3 p-0 border-0 ${styles.fields} ${styles.narrow}`}>
          <TextField
            label="Name"
            data-autofocus
            value={rule.rule_name}
            onValue={(rule_name) => set({ rule_name })}
          />
          <TextField
            label="Rule id"
            readOnly={!isNew}
            value={ruleId}
            error={isTaken ? 'Another rule has this id' : null}
            onValue={(rule_id) => set({ rule_id })}
          />
          <TextField label="Action id" value={rule.action_id} onValue={(action_id) => set({ action_id })} />
        </div>
        <fieldset className="m-0 p-0 border-0">
          <legend className="p-0 mb-2 bold">Triggers when all of these hold</legend>
          {rule.conditions.map((condition, index) => (
            <ConditionFields
              // biome-ignore lint/suspicious/noArrayIndexKey: a condition is known by its place alone
              key={index}
              condition={condition}
              isOnly={rule.conditions.length === 1}
              onChange={(changed) => setCondition(index, changed)}
              onRemove={() => set({ conditions: rule.conditions.filter((_, at) => at !== index) })}
            />
          ))}
          <ActionButton
            label="Add a condition"
            variant="subtle"
            small
            icon={IconPlus}
            onClick={() => set({ conditions: [...rule.conditions, NEW_CONDITIONS.class_score] })}
          />
        </fieldset>
        <CheckField label="Active" checked={rule.active} onValue={(active) => set({ active })} />
        <FormActions
          submit={isNew ? 'Add the rule' : 'Save the rule'}
          onCancel={props.onClose}
          sent={save}
          isBlocked={
            rule.rule_name.trim() === '' ||
            isTaken ||
            !ruleSchema.safeParse({ ...rule, rule_id: ruleId }).success
          }
        />
      </Form>
    </Modal>
  )
}

function toId(name: string): string {
  const words = name.toLowerCase().match(/[\p{Letter}\p{Number}]+/gu) ?? []
  return words.length === 0 ? '' : `rule-${words.join('-')}`
}

function ConditionFields(props: {
  condition: RuleCondition
  isOnly: boolean
  onChange: (condition: RuleCondition) => void
  onRemove: () => void
}) {
  const { condition, onChange } = props
  const text = (label: string, value: string, toCondition: (value: string) => RuleCondition) => (
    <TextField label={label} value={value} onValue={(next) => onChange(toCondition(next))} />
  )
  return (
    <div className={`flex flex-wrap items-end gap-3 p-0 border-0 ${styles.fields} ${styles.narrow}`}>
      <Select
        label="What"
        data={Object.entries(SUBJECTS).map(([value, label]) => ({ value, label }))}
        value={condition.subject}
        onChange={(value) => onChange(NEW_CONDITIONS[isSubject(value) ? value : 'class_score'])}
      />
      {condition.subject === 'class_score' && (
        <>
          <Select
            label="Class"
            data={[...CONTENT_CLASSES]}
            value={condition.class}
            onChange={(value) => isClass(value) && onChange({ ...condition, class: value })}
          />
          <NumberField
            label="Score (1 to 3)"
            min={1}
            max={3}
            allowDecimal={false}
            clampBehavior="strict"
            value={condition.min_score}
            onValue={(value) => value !== null && onChange({ ...condition, min_score: value })}
          />
        </>
      )}
      {condition.subject === 'watchlist' &&
        text('Watchlist', condition.watchlist, (watchlist) => ({ subject: 'watchlist', watchlist }))}
      {condition.subject === 'custom_index' &&
        text('Index id', condition.custom_index_id, (id) => ({
          subject: 'custom_index',
          custom_index_id: id,
        }))}
      {condition.subject === 'content_variant' &&
        text('Variant', condition.content_variant, (variant) => ({
          ...{ subject: 'content_variant', content_variant: variant },
        }))}
      {condition.subject === 'language' && (
        <LanguagesInput
          codes={condition.any_of}
          onCodes={(codes) => onChange({ subject: 'language', any_of: codes })}
        />
      )}
      {!props.isOnly && <ActionButton label="Remove" variant="subtle" small onClick={props.onRemove} />}
    </div>
  )
}

/** A list of codes. What is typed stays as it is: the space after the first code leads to the second. */
function LanguagesInput(props: { codes: readonly string[]; onCodes: (codes: string[]) => void }) {
  const { codes } = props
  const [typed, setTyped] = useState('')
  return (
    <TextField
      label="Two-letter codes, such as EN ES"
      value={parseCodes(typed).join() === codes.join() ? typed : codes.join(' ')}
      onValue={(value) => {
        setTyped(value)
        props.onCodes(parseCodes(value))
      }}
    />
  )
}

function parseCodes(text: string): string[] {
  return text.toUpperCase().match(/[^\s,]+/g) ?? []
}

function isSubject(value: string | null): value is RuleCondition['subject'] {
  return value !== null && value in SUBJECTS
}

function isClass(value: string | null): value is ContentClass {
  return CONTENT_CLASSES.some((one) => one === value)
}
