import { Autocomplete, Group, Select } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { useState } from 'react'
import type { LabelChoice } from '../../../shared/bridge/compare.ts'
import { guessMeaning, type LabelChoices, splitValues } from '../../../shared/lookback/label-choices.ts'
import { ANY_RULE } from '../../../shared/lookback/labels.ts'
import { ActionButton, IconButton, SwitchField, TextField } from '../controls.tsx'
import { Form } from '../form.tsx'
import styles from './labels.module.css'

interface Positive {
  id: number
  value: string
  rule: string
}

/** Asks where the labels of runs are and what they mean, starting from what `choices` suggest. */
export function LabelsForm(props: {
  choices: LabelChoices
  /** Names of known rules, including those of a run other than that of `choices`. */
  rules: readonly string[]
  /** The button's text. */
  action: string
  busy: boolean
  /** The labels behind the shown figures; null if there are none. */
  used: LabelChoice | null
  onLabels: (labels: LabelChoice) => void
}) {
  const { used } = props
  const { columns, guess, verdicts } = props.choices
  const rules = [...new Set([...props.choices.rules.map(({ rule }) => rule), ...props.rules])]
  const suggest = (name: string | null) => {
    const found = columns.find((one) => one.name === name)
    const meaning = found === undefined ? { positives: [], separator: null } : guessMeaning(found, rules)
    return {
      separator: meaning.separator ?? '',
      positives: meaning.positives.map((positive, id) => ({ id, ...positive })),
    }
  }
  const [column, setColumn] = useState(used === null ? (guess?.label ?? null) : used.column)
  const [useVerdicts, setUseVerdicts] = useState(used?.useVerdicts ?? verdicts > 0)
  const [first] = useState(() => used ?? suggest(column))
  const [separator, setSeparator] = useState(first.separator ?? '')
  const [emptyIsNegative, setEmptyIsNegative] = useState(used?.emptyIsNegative ?? false)
  const [positives, setPositives] = useState<Positive[]>(() =>
    first.positives.map((positive, id) => ({ ...positive, id })),
  )
  const chosen = columns.find(({ name }) => name === column)
  const values = chosen === undefined ? [] : splitValues(chosen, separator).map(({ value }) => value)
  const filled = positives.filter(({ value, rule }) => value.trim() !== '' && rule.trim() !== '')
  const isWithoutRule = (one: Positive) => one.value.trim() !== '' && one.rule.trim() === ''
  const choice: LabelChoice = {
    column,
    useVerdicts,
    positives: filled.map(({ value, rule }) => ({ value: value.trim(), rule: rule.trim() })),
    separator: separator === '' ? null : separator,
    emptyIsNegative,
  }
  const isChanged = used !== null && JSON.stringify(used) !== JSON.stringify(choice)
  const change = (id: number, part: Partial<Positive>) =>
    setPositives((all) => all.map((one) => (one.id === id ? { ...one, ...part } : one)))
  return (
    <Form gap="sm" onSubmit={() => props.onLabels(choice)}>
      <Group gap="var(--space-2) var(--space-4)" align="flex-end">
        <Select
          label="Label column"
          placeholder="None"
          clearable
          searchable
          data={[...new Set(columns.map(({ name }) => name))].filter((name) => name !== '')}
          value={column}
          onChange={(name) => {
            const suggested = suggest(name)
            setColumn(name)
            setSeparator(suggested.separator)
            setPositives(suggested.positives)
          }}
        />
        <TextField
          label="Separator of labels"
          placeholder="None"
          w="12rem"
          value={separator}
          onValue={setSeparator}
        />
        <SwitchField
          className={styles.beside ?? ''}
          label="An empty label means that nothing is wrong"
          value={emptyIsNegative}
          onValue={setEmptyIsNegative}
        />
        <SwitchField
          className={styles.beside ?? ''}
          label="Use verdicts as labels"
          value={useVerdicts}
          onValue={setUseVerdicts}
        />
      </Group>
      {positives.map(({ id, value, rule }, index) => (
        <Group key={id} gap="var(--space-2) var(--space-4)" align="flex-end">
          <Autocomplete
            label={index === 0 ? 'Rows with the label' : undefined}
            aria-label={`Label ${index + 1}`}
            data={values}
            value={value}
            onChange={(text) => change(id, { value: text })}
          />
          <Autocomplete
            label={index === 0 ? 'should trigger the rule' : undefined}
            aria-label={`Rule of label ${index + 1}`}
            data={[...new Set([ANY_RULE, ...rules])]}
            value={rule}
            onChange={(text) => change(id, { rule: text })}
            error={isWithoutRule({ id, value, rule }) && 'Name a rule, or remove the label'}
          />
          <IconButton
            icon={IconX}
            className={styles.beside ?? ''}
            label={`Remove label ${index + 1}`}
            onClick={() => setPositives((all) => all.filter((one) => one.id !== id))}
          />
        </Group>
      ))}
      <Group gap="var(--space-2) var(--space-4)">
        <ActionButton
          label="Map a label to a rule"
          variant="subtle"
          small
          icon={IconPlus}
          onClick={() =>
            setPositives((all) => [...all, { id: (all.at(-1)?.id ?? 0) + 1, value: '', rule: '' }])
          }
        />
        <span className={`flex-1 quiet ${styles.hint}`}>
          {isChanged
            ? 'The figures below are still by the labels as they were before this change.'
            : filled.length === 0
              ? 'Without this, a label stands for the rule of its name, such as “Likely spam”.'
              : 'Rows with another label should trigger none of these rules.'}
        </span>
        <ActionButton
          label={props.action}
          variant="filled"
          type="submit"
          loading={props.busy}
          disabled={(column === null && !useVerdicts) || positives.some(isWithoutRule)}
        />
      </Group>
    </Form>
  )
}
