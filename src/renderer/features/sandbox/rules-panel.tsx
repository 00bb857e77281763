import { Modal, Select } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import {
  CONTENT_CLASSES,
  type Rule,
  type RuleCondition,
  ruleSchema,
} from '../../../shared/sandbox/content.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import {
  ActionButton,
  CheckField,
  NumberField,
  RowButton,
  SwitchField,
  TextField,
  toChoices,
} from '../../ui/controls.tsx'
import { Form, FormActions } from '../../ui/form.tsx'
import { ErrorNotice, Panel } from '../../ui/layout/screen.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { RemovedNotice } from './behaviour-panels.tsx'
import styles from './sandbox.module.css'

export function RulesPanel() {
  const rules = useQuery(ask.sandbox.rules.queryOptions())
  const [opened, setOpened] = useState<{ rule: Rule | null } | null>(null)
  const [removed, setRemoved] = useState<Rule | null>(null)
  const change = useMutation({
    mutationFn: (make: () => Promise<Rule[]>) => make(),
    onSuccess: (now) => queryClient.setQueryData(ask.sandbox.rules.queryKey(), now),
    onError: () => rules.refetch(),
  })
  const put = (rule: Rule, shown: Rule | null) => change.mutate(() => bridge.sandbox.putRule({ rule, shown }))
  const list = rules.data ?? []
  return (
    <>
      {rules.error !== null && <ErrorNotice error={rules.error} onRetry={rules.refetch} />}
      {change.error !== null && <ErrorNotice error={change.error} onDismiss={change.reset} />}
      {removed !== null && (
        <RemovedNotice
          title={
            <>
              Rule <SafeText text={removed.rule_name} max={80} /> removed
            </>
          }
          onUndo={() => {
            put(removed, null)
            setRemoved(null)
          }}
        />
      )}
      <Panel
        title={formatCounted(list.length, 'rule')}
        aside={
          <ActionButton label="Add a rule" small icon={IconPlus} onClick={() => setOpened({ rule: null })} />
        }
        flush
      >
        <Table
          className={styles.table}
          caption="Rules of the sandbox"
          rows={list}
          toKey={(rule) => rule.rule_id}
          columns={[
            {
              title: 'Active',
              cell: (rule) => (
                <SwitchField
                  aria-label={`${rule.rule_name} is active`}
                  value={rule.active}
                  onValue={(active) => put({ ...rule, active }, rule)}
                />
              ),
            },
            {
              title: 'Rule',
              isRowHead: true,
              cell: (rule) => (
                <>
                  <SafeText text={rule.rule_name} max={120} />
                  <div className="small normal">
                    <SafeText text={rule.rule_id} max={120} />
                  </div>
                </>
              ),
            },
            {
              title: 'Triggers when all of these hold',
              cell: (rule) => (
                <SafeText text={rule.conditions.map(sayCondition).join('; ')} max={400} lines />
              ),
            },
            {
              title: 'Actions',
              isActions: true,
              cell: (rule) => (
                <>
                  <RowButton
                    label="Edit"
                    name={`Edit rule ${rule.rule_name}`}
                    onPress={() => setOpened({ rule })}
                  />
                  <RowButton
                    label="Remove"
                    name={`Remove rule ${rule.rule_name}`}
                    onPress={() =>
                      change.mutate(() => bridge.sandbox.removeRule({ ruleId: rule.rule_id }), {
                        onSuccess: () => setRemoved(rule),
                      })
                    }
                  />
                </>
              ),
            },
          ]}
        />
      </Panel>
      {opened !== null && (
        <RuleEditor
          rule={opened.rule}
          takenIds={list.map(({ rule_id: id }) => id)}
          onSave={async (rule) => {
            const now = await bridge.sandbox.putRule({ rule, shown: opened.rule })
            queryClient.setQueryData(ask.sandbox.rules.queryKey(), now)
            setOpened(null)
          }}
          onClose={() => {
            setOpened(null)
            // It may have been refused because the rule is another by now.
            void rules.refetch()
          }}
        />
      )}
    </>
  )
}

function sayCondition(condition: RuleCondition): string {
  switch (condition.subject) {
    case 'class_score':
      return `${condition.class} scores at least ${condition.min_score}`
    case 'watchlist':
      return `a term of the watchlist ${condition.watchlist}`
    case 'custom_index':
      return `an item of the index ${condition.custom_index_id}`
    case 'content_variant':
      return `content variant ${condition.content_variant}`
    case 'url':
      return 'a web address'
    case 'language':
      return `language ${condition.any_of.join(' or ')}`
  }
}

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

/** Edits a rule, or a new one. */
function RuleEditor(props: {
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
        <CheckField label="Active" value={rule.active} onValue={(active) => set({ active })} />
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
        data={toChoices(SUBJECTS)}
        value={condition.subject}
        onChange={(subject) => subject !== null && onChange(NEW_CONDITIONS[subject])}
      />
      {condition.subject === 'class_score' && (
        <>
          <Select
            label="Class"
            data={CONTENT_CLASSES}
            value={condition.class}
            onChange={(value) => value !== null && onChange({ ...condition, class: value })}
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
          subject: 'content_variant',
          content_variant: variant,
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

/** A list of codes. The typed text stays unchanged: the space after the first code begins the second. */
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
