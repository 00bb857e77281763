import { Autocomplete, Button, Group, SegmentedControl, Stack, TagsInput } from '@mantine/core'
import { IconFile, IconX } from '@tabler/icons-react'
import { useState } from 'react'
import type { Evaluation } from '../../../shared/lookback/evaluation.ts'
import { type LabelChoices, type LabelColumn, splitValues } from '../../../shared/lookback/label-choices.ts'
import { parseShare } from '../../../shared/lookback/label-values.ts'
import { ANY_RULE } from '../../../shared/lookback/labels.ts'
import { RULE_COLUMNS_MAX } from '../../../shared/lookback/rule-columns.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { bridge } from '../../bridge/client.ts'
import { useFileChoice } from '../../bridge/file-choice.tsx'
import {
  ActionButton,
  IconButton,
  ScrollRegion,
  SelectField,
  SwitchField,
  TextField,
} from '../../ui/controls.tsx'
import { ErrorNotice, Notice, Panel } from '../../ui/layout/screen.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './evaluate.module.css'
import {
  changePositives,
  findLabelColumn,
  findMeaning,
  findRuleColumns,
  isGuessed,
  type LabelPlace,
  type LabelSettings,
  listRuleColumns,
  type RuleColumnChoice,
  readLabelFile,
  type TypedRuleColumn,
  withColumn,
} from './question.ts'

interface LabelsProps {
  choices: LabelChoices
  settings: LabelSettings
  onChange: (part: Partial<LabelSettings>) => void
}

const PLACES: { value: LabelPlace; label: string }[] = [
  { value: 'column', label: 'One column' },
  { value: 'rules', label: 'A column for each rule' },
  { value: 'file', label: 'Another file' },
  { value: 'verdicts', label: 'Verdicts' },
]

/**
 * Where the labels are, and which rules their values stand for: one line, to leave room for the figures,
 * unless something is to be changed. `isNeeded` says that something must be chosen.
 */
export function LabelsPanel(props: LabelsProps & { evaluation: Evaluation | null; isNeeded: boolean }) {
  const { choices, settings, onChange, evaluation, isNeeded } = props
  const { place, file, useVerdicts, separator, emptyIsNegative } = settings
  const ruleColumns = findRuleColumns(settings)
  const changeRuleColumns = (next: RuleColumnChoice) =>
    onChange(
      place === 'file' && file !== null ? { file: { ...file, ruleColumns: next } } : { ruleColumns: next },
    )
  const [isOpen, setOpen] = useState(false)
  // What had to be chosen stays open while the person chooses.
  if (isNeeded && !isOpen) setOpen(true)
  const hasVerdicts = place !== 'verdicts' && useVerdicts && choices.verdicts > 0
  const toggle = (
    <ActionButton
      label={isOpen ? 'Done' : 'Change labels'}
      small
      aria-expanded={isOpen}
      onClick={() => setOpen(!isOpen)}
    />
  )
  const instead = hasVerdicts ? (
    <Button size="compact-xs" onClick={() => onChange({ place: 'verdicts' })}>
      Evaluate only {formatCounted(choices.verdicts, 'verdict')}
    </Button>
  ) : undefined
  if (!isOpen) {
    return (
      <Panel title="Labels" aside={toggle}>
        <Summary choices={choices} settings={settings} evaluation={evaluation} />
      </Panel>
    )
  }
  return (
    <Panel title="Labels" aside={isNeeded ? instead : toggle}>
      <div className={styles.labels}>
        <Stack gap="sm">
          <SegmentedControl
            aria-label="Where the labels are"
            data={PLACES}
            value={place}
            onChange={(next) => onChange({ place: next })}
          />
          {place === 'column' && <ColumnChoice {...props} />}
          {place === 'file' && <FileChoice {...props} />}
          {ruleColumns !== null && (
            <p>
              A row should trigger the rules whose column says yes (1, true, yes, x) or has a share for which
              the condition holds. An empty cell beside others is a no; a row with any other cell has no
              label.
            </p>
          )}
          {ruleColumns?.isGuess === true && (
            <Notice
              kind="warning"
              title="These columns were guessed by their names"
              actions={
                <ActionButton
                  label="Use these columns"
                  small
                  disabled={listRuleColumns(ruleColumns.columns).length === 0}
                  onClick={() => changeRuleColumns({ ...ruleColumns, isGuess: false })}
                />
              }
            >
              Check that a yes in each means that the row should trigger the rule.
            </Notice>
          )}
          {place === 'verdicts' && (
            <p>
              {choices.verdicts === 0
                ? 'Nobody has given a verdict on a row of this run yet. Open a row in Results to give one.'
                : `${formatCounted(choices.judged, 'row')} of this run ${choices.judged === 1 ? 'has' : 'have'} a verdict.`}
            </p>
          )}
          {place !== 'verdicts' && (
            <>
              {ruleColumns === null && (
                <>
                  <TextField
                    maw="18rem"
                    label="Separator between labels"
                    placeholder="none: a cell is one label, or a list"
                    maxLength={20}
                    value={separator}
                    onValue={(separator) => onChange({ separator })}
                  />
                  <ShareField {...props} />
                </>
              )}
              <SwitchField
                label="An empty label means that nothing is wrong"
                description="When off, rows with an empty label are left out."
                value={emptyIsNegative}
                onValue={(emptyIsNegative) => onChange({ emptyIsNegative })}
              />
              <SwitchField
                label="Verdicts override labels"
                description={
                  choices.verdicts === 0 ? 'There are none yet.' : formatCounted(choices.verdicts, 'verdict')
                }
                value={useVerdicts}
                disabled={choices.verdicts === 0}
                onValue={(useVerdicts) => onChange({ useVerdicts })}
              />
            </>
          )}
        </Stack>
        {ruleColumns !== null && (
          <RuleColumnsTable
            columns={place === 'file' ? (file?.columns ?? []) : choices.columns}
            rules={choices.rules.map(({ rule }) => rule)}
            chosen={ruleColumns.columns}
            onChange={(columns) => changeRuleColumns({ ...ruleColumns, columns })}
          />
        )}
        {(place === 'column' || place === 'file') && ruleColumns === null && (
          <ValuesTable choices={choices} settings={settings} onChange={onChange} evaluation={evaluation} />
        )}
      </div>
    </Panel>
  )
}

const NAMED_MAX = 6

function Summary(props: { choices: LabelChoices; settings: LabelSettings; evaluation: Evaluation | null }) {
  const { choices, settings, evaluation } = props
  const { place, column, file } = settings
  const ruleColumns = findRuleColumns(settings)
  const values = ruleColumns === null ? (evaluation?.labels.values ?? []) : []
  const further = values.length - NAMED_MAX + (evaluation?.labels.further_values ?? 0)
  const isReplaced = place !== 'verdicts' && evaluation?.labels.from.includes('verdicts') === true
  return (
    <p>
      {place === 'verdicts' && 'Verdicts of people'}
      {ruleColumns !== null && 'In a column for each rule'}
      {ruleColumns !== null && place === 'file' && (
        <>
          {' '}
          of <SafeText text={file?.source.name ?? ''} max={80} />
        </>
      )}
      {ruleColumns !== null && ': '}
      {ruleColumns !== null &&
        listRuleColumns(ruleColumns.columns).map(({ column: name, rule }, index) => (
          <span key={name + rule}>
            {index > 0 && ', '}
            <SafeText text={name} max={60} /> for{' '}
            <strong>
              <SafeText text={rule} max={80} />
            </strong>
          </span>
        ))}
      {place === 'column' && (
        <>
          In the column <SafeText text={column ?? ''} max={60} />
          {isGuessed(settings, choices) && ' (guessed)'}
        </>
      )}
      {place === 'file' && ruleColumns === null && (
        <>
          In the column <SafeText text={file?.label ?? ''} max={60} /> of{' '}
          <SafeText text={file?.source.name ?? ''} max={80} />
        </>
      )}
      {values.slice(0, NAMED_MAX).map(({ value, rows, rules }, index) => (
        <span key={value}>
          {index === 0 ? ': ' : ', '}
          <strong>
            <SafeText text={value} max={40} />
          </strong>{' '}
          stands for {rules.length === 0 ? 'no rule' : <SafeText text={rules.join(', ')} max={80} />} (
          {formatCounted(rows, 'row')})
        </span>
      ))}
      {further > 0 && ` and ${formatCounted(further, 'further value')}`}
      {isReplaced && '; verdicts replace the label of their row'}
    </p>
  )
}

const NO_COLUMN = ''

function ColumnChoice({ choices, settings, onChange }: LabelsProps) {
  const { columns, guess } = choices
  const describe = (column: (typeof columns)[number]) => {
    const values = column.values.slice(0, 3).map(({ value }) => value)
    return values.length === 0 ? column.name : `${column.name}: ${values.join(', ')}`
  }
  const withValues = columns.filter(({ values }) => values.length > 0)
  const others = columns.filter(({ values }) => values.length === 0)
  return (
    <SelectField
      label="Column"
      description={
        guess !== null && guess.label === settings.column
          ? 'Its name or its values look like labels.'
          : 'The column that says what each row should trigger.'
      }
      value={settings.column ?? NO_COLUMN}
      onValue={(name) => {
        const column = columns.find((one) => one.name === name)
        onChange(
          column === undefined
            ? { column: null, positives: [] }
            : { column: name, ...withColumn(column, choices) },
        )
      }}
      data={[
        { value: NO_COLUMN, label: 'Choose a column' },
        ...[
          {
            group: 'With few different values',
            items: withValues.map((column) => ({ value: column.name, label: describe(column) })),
          },
          { group: 'Others', items: others.map(({ name }) => ({ value: name, label: name })) },
        ].filter(({ items }) => items.length > 0),
      ]}
    />
  )
}

/** A file of labels: chosen in the system's dialog on the desktop, uploaded in a browser. */
function FileChoice({ choices, settings, onChange }: LabelsProps) {
  const choice = useFileChoice('labels-file', async (source) => {
    const preview = await bridge.source.preview({ source: { sourceId: source.sourceId }, limit: 500 })
    onChange(readLabelFile(source, preview, choices))
  })
  const { file } = settings
  const names = file?.columns.map(({ name }) => name) ?? []
  const runKeys = [
    ...choices.columns.map(({ name }) => ({ value: name, label: name })),
    { value: 'sluice_row', label: 'row number (sluice_row)' },
    { value: 'sluice_record', label: 'record number (sluice_record)' },
    { value: 'post_id', label: 'post_id' },
  ]
  return (
    <>
      {choice.input}
      <div className="row flex-wrap gap-3 breaks">
        <ActionButton
          label={file === null ? 'Choose a file…' : 'Choose another file…'}
          loading={choice.isBusy}
          icon={IconFile}
          onClick={choice.choose}
        />
        {file !== null && <SafeText text={file.source.name} max={80} />}
      </div>
      {choice.error !== null && <ErrorNotice error={choice.error} onDismiss={choice.dismissError} />}
      {file !== null && (
        <>
          <SegmentedControl
            aria-label="How the file has the labels"
            data={[
              { value: 'column', label: 'In one column' },
              { value: 'rules', label: 'In a column for each rule' },
            ]}
            value={file.hasRuleColumns ? 'rules' : 'column'}
            onChange={(value) => onChange({ file: { ...file, hasRuleColumns: value === 'rules' } })}
          />
          {!file.hasRuleColumns && (
            <SelectField
              label="Column with the labels"
              value={file.label}
              onValue={(label) => {
                const column = file.columns.find(({ name }) => name === label)
                if (column === undefined) return
                onChange({ file: { ...file, label }, ...withColumn(column, choices) })
              }}
              data={names}
            />
          )}
          <div className="flex flex-wrap items-end gap-3 m-0 p-0 border-0">
            <SelectField
              label="Its rows are named by"
              value={file.key}
              onValue={(key) => onChange({ file: { ...file, key } })}
              data={names}
            />
            <SelectField
              label="which in the run is"
              value={file.runKey}
              onValue={(runKey) => onChange({ file: { ...file, runKey } })}
              data={runKeys}
            />
          </div>
        </>
      )}
    </>
  )
}

/** Adds a condition on numeric labels; its rules are then chosen like those of other values. */
function ShareField(props: LabelsProps & { evaluation: Evaluation | null }) {
  const { choices, settings, onChange, evaluation } = props
  const [typed, setTyped] = useState('')
  const share = parseShare(typed)
  const [rule, ...others] = choices.rules
  const add = () => {
    const meant = rule !== undefined && others.length === 0 ? rule.rule : ANY_RULE
    const taken = evaluation?.labels.values ?? []
    const value = typed.replaceAll(/\s/g, '')
    onChange({ positives: changePositives(settings.positives, taken, value, [meant]) })
    setTyped('')
  }
  return (
    <Group gap="xs" align="end">
      <TextField
        w="12rem"
        label="Labels that are shares"
        placeholder="such as >=0.5"
        maxLength={20}
        error={
          typed.trim() !== '' && typed.length > 3 && share === null ? 'Expected >=0.5 or >60%' : undefined
        }
        value={typed}
        onValue={setTyped}
      />
      <ActionButton label="Add the share" disabled={share === null} onClick={add} />
    </Group>
  )
}

function RuleColumnsTable(props: {
  columns: readonly LabelColumn[]
  rules: readonly string[]
  chosen: readonly TypedRuleColumn[]
  onChange: (chosen: readonly TypedRuleColumn[]) => void
}) {
  const { columns, rules, chosen, onChange } = props
  const used = new Set(chosen.map(({ column }) => column))
  const unread = chosen.length - listRuleColumns(chosen).length
  const free = columns.filter(({ name }) => !used.has(name))
  const change = (at: number, part: Partial<TypedRuleColumn>) =>
    onChange(chosen.map((one, index) => (index === at ? { ...one, ...part } : one)))
  return (
    <div className="stack gap-3">
      {chosen.length > 0 && (
        <ScrollRegion className={styles.values} label="The column of each rule">
          <Table
            look="dense"
            className={styles.table}
            rows={chosen.map((one, at) => ({ ...one, at }))}
            toKey={({ column }) => column}
            columns={[
              { title: 'Column', cell: ({ column }) => <SafeText text={column} max={80} /> },
              {
                title: 'Rule',
                width: '40%',
                cell: ({ at, column, rule }) => (
                  <Autocomplete
                    size="xs"
                    aria-label={`Rule of ${column}`}
                    placeholder="name of a rule"
                    data={rules}
                    value={rule}
                    onChange={(named) => change(at, { rule: named })}
                  />
                ),
              },
              {
                title: 'Says yes',
                width: '8rem',
                cell: ({ at, column, share }) => (
                  <TextField
                    size="xs"
                    aria-label={`What is a yes in ${column}`}
                    placeholder="1, yes, true"
                    maxLength={20}
                    error={share.trim() !== '' && parseShare(share) === null}
                    value={share}
                    onValue={(typed) => change(at, { share: typed })}
                  />
                ),
              },
              {
                title: 'Leave out',
                isActions: true,
                cell: ({ at, column }) => (
                  <IconButton
                    icon={IconX}
                    variant="subtle"
                    size="sm"
                    label={`Leave out ${column}`}
                    onClick={() => onChange(chosen.toSpliced(at, 1))}
                  />
                ),
              },
            ]}
          />
        </ScrollRegion>
      )}
      {unread > 0 && (
        <p className="warned" role="status">
          {formatCounted(unread, 'column')} left out: name the rule, and leave “Says yes” empty or type a
          share such as &gt;=0.5.
        </p>
      )}
      <SelectField
        maw="18rem"
        label="Add a column"
        disabled={chosen.length >= RULE_COLUMNS_MAX}
        value={NO_COLUMN}
        onValue={(name) => {
          if (name !== NO_COLUMN) onChange([...chosen, { column: name, rule: '', share: '' }])
        }}
        data={[
          { value: NO_COLUMN, label: 'Choose a column' },
          ...free.map(({ name }) => ({ value: name, label: name })),
        ]}
      />
    </div>
  )
}

function ValuesTable(props: LabelsProps & { evaluation: Evaluation | null }) {
  const { choices, settings, onChange, evaluation } = props
  const { positives } = settings
  const column = findLabelColumn(settings, choices)
  const listed = evaluation?.labels.values ?? (column === null ? [] : splitValues(column, settings.separator))
  // Conditions that no row meets, or that were just added.
  const shares = positives.filter(
    ({ value }) => parseShare(value) !== null && listed.every((one) => one.value !== value),
  )
  const values = [
    ...listed,
    ...[...new Set(shares.map(({ value }) => value))].map((value) => ({ value, rows: 0 })),
  ]
  if (values.length === 0) {
    return (
      <p className="small">
        {column === null
          ? 'The values of the labels are listed here, each with the rules that it stands for.'
          : `${column.name} has too many different values for labels, or none.`}
      </p>
    )
  }
  const rules = [...new Set([ANY_RULE, ...choices.rules.map(({ rule }) => rule)])]
  const taken = evaluation?.labels.values ?? []
  const further = evaluation?.labels.further_values ?? 0
  return (
    <ScrollRegion className={styles.values} label="What each label means">
      <Table
        look="dense"
        className={styles.table}
        rows={values}
        toKey={({ value }) => value}
        columns={[
          { title: 'Label', cell: ({ value }) => <SafeText text={value} max={120} /> },
          { title: 'Rows', isNumber: true, cell: ({ rows }) => formatCount(rows) },
          {
            title: 'Should trigger',
            width: '55%',
            cell: ({ value }) => {
              const meaning =
                positives.length > 0
                  ? findMeaning(positives, value)
                  : (taken.find((one) => one.value === value)?.rules ?? [])
              return (
                <TagsInput
                  size="xs"
                  aria-label={`Rules of ${value}`}
                  placeholder={meaning.length === 0 ? 'no rule' : ''}
                  data={rules}
                  value={meaning}
                  onChange={(chosen) =>
                    onChange({ positives: changePositives(positives, taken, value, chosen) })
                  }
                />
              )
            },
          },
        ]}
      />
      <p className={`small ${styles.belowTable}`}>
        {further > 0 && `${formatCounted(further, 'further value')} without a rule. `}
        {evaluation === null
          ? settings.place === 'file'
            ? 'Values of the first rows of the file.'
            : `Values of ${formatCount(choices.looked)} of ${formatCounted(choices.rows, 'row')}.`
          : 'Only rules that a label is mapped to are judged.'}
      </p>
    </ScrollRegion>
  )
}
