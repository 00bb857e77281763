import { ActionIcon, Autocomplete, Button, Select, Switch, TextInput } from '@mantine/core'
import { IconPlus, IconX } from '@tabler/icons-react'
import { type FormEvent, useState } from 'react'
import type { LabelChoice } from '../../../shared/bridge/compare.ts'
import { ANY_RULE } from '../../../shared/lookback/labels.ts'
import styles from './labels.module.css'

interface Positive {
  id: number
  value: string
  rule: string
}

/** Asks where the labels of runs are and what they mean. */
export function LabelsForm(props: {
  /** Names of the source's columns. */
  columns: readonly string[]
  /** Names of known rules. */
  rules: readonly string[]
  /** What the button says. */
  action: string
  busy: boolean
  onLabels: (labels: LabelChoice) => void
}) {
  const [column, setColumn] = useState<string | null>(null)
  const [useVerdicts, setUseVerdicts] = useState(false)
  const [separator, setSeparator] = useState('')
  const [positives, setPositives] = useState<Positive[]>([])
  const columns = [...new Set(props.columns)].filter((name) => name !== '')
  const filled = positives.filter(({ value, rule }) => value.trim() !== '' && rule.trim() !== '')
  const submit = (event: FormEvent) => {
    event.preventDefault()
    props.onLabels({
      column,
      useVerdicts,
      positives: filled.map(({ value, rule }) => ({ value: value.trim(), rule: rule.trim() })),
      separator: separator === '' ? null : separator,
    })
  }
  const change = (id: number, part: Partial<Positive>) =>
    setPositives((all) => all.map((one) => (one.id === id ? { ...one, ...part } : one)))
  return (
    <form className={styles.form} onSubmit={submit}>
      <div className={styles.line}>
        <Select
          label="Label column"
          placeholder="None"
          clearable
          searchable
          data={columns}
          value={column}
          onChange={setColumn}
        />
        <TextInput
          label="Separator of labels"
          placeholder="None"
          className={styles.short ?? ''}
          value={separator}
          onChange={(event) => setSeparator(event.currentTarget.value)}
        />
        <Switch
          label="Use verdicts as labels"
          checked={useVerdicts}
          onChange={(event) => setUseVerdicts(event.currentTarget.checked)}
        />
      </div>
      {positives.map(({ id, value, rule }, index) => (
        <div key={id} className={styles.line}>
          <TextInput
            label={index === 0 ? 'Rows with the label' : undefined}
            aria-label={`Label ${index + 1}`}
            value={value}
            onChange={(event) => change(id, { value: event.currentTarget.value })}
          />
          <Autocomplete
            label={index === 0 ? 'should trigger the rule' : undefined}
            aria-label={`Rule of label ${index + 1}`}
            data={[...new Set([ANY_RULE, ...props.rules])]}
            value={rule}
            onChange={(text) => change(id, { rule: text })}
          />
          <ActionIcon
            aria-label={`Remove label ${index + 1}`}
            onClick={() => setPositives((all) => all.filter((one) => one.id !== id))}
          >
            <IconX size="1rem" aria-hidden />
          </ActionIcon>
        </div>
      ))}
      <div className={styles.line}>
        <Button
          variant="subtle"
          size="compact-sm"
          leftSection={<IconPlus size="1rem" aria-hidden />}
          onClick={() =>
            setPositives((all) => [...all, { id: (all.at(-1)?.id ?? 0) + 1, value: '', rule: '' }])
          }
        >
          Say what a label means
        </Button>
        <span className={styles.hint}>
          Without this, a label stands for the rule of its name, such as “Likely spam”.
        </span>
        <Button type="submit" loading={props.busy} disabled={column === null && !useVerdicts}>
          {props.action}
        </Button>
      </div>
    </form>
  )
}
