import { IconArrowRight, IconBookmark, IconHistory } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import type { BridgePreview } from '../../../shared/bridge/source.ts'
import { assessMapping } from '../../../shared/mapping/check-mapping.ts'
import { findDoubtfulColumns, toSwappedWarning } from '../../../shared/mapping/doubt-columns.ts'
import { withColumnNames } from '../../../shared/mapping/kept-columns.ts'
import {
  fieldsFor,
  keepKnownFields,
  type MatchConfidence,
  suggestMapping,
  toColumnIndex,
  toColumnSource,
} from '../../../shared/mapping/match-columns.ts'
import {
  findMissingColumns,
  isSameMapping,
  type SavedMapping,
} from '../../../shared/mapping/saved-mappings.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { sayMistake } from '../../../shared/messages/mapping-messages.ts'
import { sayExpected } from '../../../shared/messages/problem-messages.ts'
import { type Operation, REQUEST_FIELD } from '../../../shared/operations/operations.ts'
import type { Mapping } from '../../../shared/plan/plan.ts'
import type { RequestField } from '../../../shared/service/request-field.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import {
  type ContentRule,
  ContentSwitch,
  createContentRule,
  MaskedText,
  useContentShown,
} from '../../ui/content/user-content.tsx'
import { ActionButton, PrimaryButton, RowButton, SelectField, TextField } from '../../ui/controls.tsx'
import { useNaming } from '../../ui/form.tsx'
import { formatAgo, formatTimestamp } from '../../ui/format-time.ts'
import { ErrorNotice, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { showToast } from '../../ui/layout/toasts.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText, Sentence } from '../../ui/text/safe-text.tsx'
import styles from './mapping.module.css'

/** A mapping that is being edited, and the purpose of its rows. */
interface MappedProps {
  mapping: Mapping
  operation: Operation
  onMapping: (mapping: Mapping) => void
}

/** Which column, constant or template fills which field: the source's columns left, the fields right. */
export function MappingScreen(
  props: MappedProps & {
    preview: BridgePreview
    /** The purpose of the rows, with a control to change it. */
    strip: ReactNode
    /** What prevents the check of the rows besides the mapping itself; null if nothing. */
    todo: string | null
    busy: boolean
    onContinue: () => void
  },
) {
  const { preview, mapping, operation } = props
  const { columns } = preview
  const gaps = assessMapping(mapping, operation, columns, preview.rows).map((mistake) => ({
    field: mistake.field,
    ...sayMistake(mistake, 'window'),
  }))
  const doubtful = findDoubtfulColumns(mapping, columns, preview.rows)
  const suggested = suggestMapping(columns, operation, preview)
  const saved = useSavedMappings({ operation, columns, mapping, onMapping: props.onMapping })
  const mapped = Object.values(mapping).filter((source) => toColumnIndex(columns, source) >= 0).length
  return (
    <Screen
      title="Mapping"
      subtitle={`${formatCount(mapped)} of ${formatCounted(columns.length, 'column')} mapped`}
      actions={
        <>
          <ContentSwitch />
          <ActionButton label="Match by name" onClick={() => props.onMapping(suggested.mapping)} />
          <PrimaryButton
            onPress={props.onContinue}
            busy={props.busy}
            blocked={gaps[0]?.message ?? props.todo ?? undefined}
            icon={<IconArrowRight size="1rem" />}
          >
            Check all rows
          </PrimaryButton>
        </>
      }
    >
      {props.strip}
      {gaps.length > 0 && (
        <Notice kind="warning" title="Complete the mapping before the rows are checked">
          <ul>
            {gaps.map((gap) => (
              <li key={`${gap.field} ${gap.message}`}>
                <strong>{gap.message}.</strong> {gap.remedy}
              </li>
            ))}
          </ul>
        </Notice>
      )}
      {doubtful.length > 0 && (
        <Notice kind="warning" title="These columns may be swapped">
          <ul>
            {doubtful.map((found) => (
              <li key={found.field}>
                <strong>{found.field}</strong>{' '}
                <Sentence text={sayExpected(toSwappedWarning(found), 'window')} />.
              </li>
            ))}
          </ul>
          Choose another field for them, or continue if that is right.
        </Notice>
      )}
      {saved.panel}
      <Panel
        title="Your table becomes"
        flush
        aside={<>Columns without a field are kept in the export {saved.button}</>}
      >
        <ColumnTable
          preview={preview}
          mapping={mapping}
          operation={operation}
          confidence={suggested.confidence}
          onMapping={props.onMapping}
        />
      </Panel>
      <Panel title="Fields without a column" flush aside="One value for all rows, or a template">
        <FieldTable
          columns={columns}
          mapping={mapping}
          operation={operation}
          gaps={gaps}
          onMapping={props.onMapping}
        />
      </Panel>
    </Screen>
  )
}

/** The fields that no column fills, required ones first, each with an input for a constant or a template. */
function FieldTable(
  props: MappedProps & {
    columns: readonly string[]
    /** What is wrong with which field, in words. */
    gaps: readonly { field: string; message: string }[]
  },
) {
  const { columns, mapping, gaps } = props
  const fields = fieldsFor(props.operation)
    .filter((field) => field.name !== 'models' && field.kind !== 'json_object')
    .filter((field) => toColumnIndex(columns, mapping[field.name]) < 0)
    .sort((a, b) => Number(b.required === 'always') - Number(a.required === 'always'))
  return (
    <Table
      className={styles.table}
      rows={fields}
      toKey={({ name }) => name}
      columns={[
        {
          title: 'Field',
          className: `pre-wrap ${styles.column}`,
          cell: ({ name, required }) => (
            <>
              {name}
              {required === 'always' && <span className="warned text-xs medium"> required</span>}
            </>
          ),
        },
        {
          title: 'Value for all rows',
          width: '38%',
          cell: ({ name, required }) => {
            const source = mapping[name]
            const gap = gaps.find((known) => known.field === name)
            return (
              <TextField
                aria-label={`${name} for all rows`}
                placeholder={required === 'always' ? 'type a value' : 'not sent'}
                value={source?.kind === 'template' ? source.template : ''}
                onValue={(next) => props.onMapping(assignTemplate(mapping, name, next))}
                error={required === 'always' && gap ? gap.message : undefined}
                spellCheck={false}
              />
            )
          },
        },
        { title: 'Description', className: 'quiet', cell: ({ note }) => <Sentence text={note} /> },
      ]}
      foot={
        <span className="quiet">
          {fields.length === 0 ? (
            'Every field has a column.'
          ) : (
            <>
              A value can hold <code>{'{{row}}'}</code>, <code>{'{{run}}'}</code> and{' '}
              <code>{'{{column name}}'}</code>, which are filled in for each row. <code>{'{{row}}'}</code> is
              the record number: 1 for the first row below the header.
            </>
          )}
        </span>
      }
    />
  )
}

/** The mapping in which a template fills `field`; an empty one removes the field. */
export function assignTemplate(mapping: Mapping, field: string, template: string): Mapping {
  const next = { ...mapping }
  if (template === '') delete next[field]
  else next[field] = { kind: 'template', template }
  return next
}

/**
 * Earlier mappings of the columns: by the last run of a file with the same columns, and saved ones. `panel`
 * applies, renames and removes them, and is null if there are none; `button` saves the current mapping.
 */
function useSavedMappings(options: MappedProps & { columns: readonly string[] }): {
  panel: ReactNode
  button: ReactNode
} {
  const { operation, columns, mapping, onMapping } = options
  const last = useQuery(ask.mappings.findLast.queryOptions({ input: { operation, columns: [...columns] } }))
  const list = useQuery(ask.mappings.list.queryOptions())
  const change = useMutation({
    mutationFn: async (make: () => Promise<SavedMapping[]>) => showList(await make()),
  })
  const naming = useNaming({
    noun: 'mapping',
    onSave: (name) =>
      change.mutateAsync(() =>
        bridge.mappings.save({
          name,
          operation: operation.kind,
          mapping: withColumnNames(mapping, columns),
        }),
      ),
    onRename: (name, newName) => change.mutateAsync(() => bridge.mappings.rename({ name, newName })),
  })
  const saved = list.data?.filter((one) => one.operation === operation.kind) ?? []
  const isApplied = (other: Mapping) => isSameMapping(keepKnownFields(other, operation), mapping)
  const lastMapping = last.data ?? null
  const error = change.error ?? list.error ?? last.error
  const canSave = Object.keys(mapping).length > 0 && !saved.some((one) => isApplied(one.mapping))
  const apply = (other: Mapping) => onMapping(keepKnownFields(other, operation))
  const remove = async (removed: SavedMapping) => {
    const at = list.data?.indexOf(removed) ?? 0
    await change.mutateAsync(() => bridge.mappings.remove({ name: removed.name }))
    showToast({
      key: `mapping-removed ${removed.name}`,
      kind: 'good',
      title: (
        <>
          Removed the mapping <SafeText text={removed.name} max={80} />
        </>
      ),
      undo: async () => showList(await bridge.mappings.save({ ...removed, at })),
    })
  }
  const button = (
    <ActionButton
      label="Save this mapping…"
      small
      disabled={!canSave || naming.asked?.name === null}
      onClick={naming.askToSave}
    />
  )
  if (lastMapping === null && saved.length === 0 && naming.asked === null && error === null) {
    return { panel: null, button }
  }
  const panel = (
    <Panel title="Saved mappings">
      <ul className={`stack gap-1 ${styles.saved}`}>
        {lastMapping !== null && (
          <Line
            icon={<IconHistory size="1rem" aria-hidden />}
            name="As last time"
            about={
              <>
                <SafeText text={lastMapping.runName} max={80} />,{' '}
                <span title={formatTimestamp(lastMapping.startedAt)}>
                  {formatAgo(lastMapping.startedAt, Date.now())}
                </span>
              </>
            }
            isApplied={isApplied(lastMapping.mapping)}
            onApply={() => apply(lastMapping.mapping)}
          />
        )}
        {saved.map((one) => (
          <Line
            key={one.name}
            icon={<IconBookmark size="1rem" aria-hidden />}
            name={one.name}
            about={sayFit(one.mapping, columns)}
            isApplied={isApplied(one.mapping)}
            onApply={() => apply(one.mapping)}
          >
            {naming.toMenu(one.name, () => remove(one))}
          </Line>
        ))}
      </ul>
      {naming.form}
      {error !== null && <ErrorNotice error={error} />}
    </Panel>
  )
  return { panel, button }
}

function showList(list: SavedMapping[]): void {
  queryClient.setQueryData(ask.mappings.list.queryKey(), list)
}

function Line(props: {
  icon: ReactNode
  name: string
  about: ReactNode
  isApplied: boolean
  onApply: () => void
  children?: ReactNode
}) {
  const word = props.isApplied ? 'Applied' : 'Apply'
  return (
    <li>
      {props.icon}
      <strong>
        <SafeText text={props.name} max={80} />
      </strong>
      <span className="truncate flex-1 min-w-0 quiet">{props.about}</span>
      <RowButton
        label={word}
        name={`${word} ${props.name}`}
        isOutlined
        isDisabled={props.isApplied}
        onPress={props.onApply}
      />
      {props.children}
    </li>
  )
}

function sayFit(mapping: Mapping, columns: readonly string[]): ReactNode {
  const missing = findMissingColumns(mapping, columns)
  if (missing.length === 0) return formatCounted(Object.keys(mapping).length, 'field')
  return (
    <>
      missing here: <SafeText text={missing.join(', ')} max={120} />
    </>
  )
}

const CARRIED = ''
const SAMPLES = 3
const SAMPLE_CHARACTERS = 60

const NEED: Record<RequestField['required'], string> = {
  always: ' (required)',
  content: ' (content)',
  never: '',
}

const CONFIDENCE: Record<MatchConfidence, { word: string; meaning: string }> = {
  exact: { word: 'same name', meaning: 'The column has the name of the field.' },
  alike: {
    word: 'similar name',
    meaning: 'The name of the column differs from that of the field in spelling only.',
  },
  guess: {
    word: 'guessed, check it',
    meaning: 'Columns of this name often hold what the field needs. Look at the first values.',
  },
}

/** One line for each column: its name, examples of its content, and the field that it fills. */
function ColumnTable(
  props: MappedProps & {
    preview: BridgePreview
    confidence: ReturnType<typeof suggestMapping>['confidence']
  },
) {
  const { preview, mapping, operation } = props
  const { columns } = preview
  const suggested = suggestMapping(columns, operation, preview).mapping
  const isContent = createContentRule(columns, mapping, preview.rows)
  const shown = useContentShown()
  return (
    <Table
      className={styles.table}
      rows={columns.map((name, index) => {
        const field = fieldOfColumn(mapping, columns, index)
        const isSuggested = field !== null && toColumnIndex(columns, suggested[field]) === index
        const confidence = isSuggested ? props.confidence[field] : undefined
        return { name, field, match: confidence === undefined ? null : CONFIDENCE[confidence] }
      })}
      columns={[
        {
          title: 'Column',
          className: `pre-wrap ${styles.column}`,
          toCell: ({ name }) => ({ title: name }),
          cell: ({ name }, index) => (
            <SafeText text={name === '' ? `(column ${index + 1}, no name)` : name} max={48} />
          ),
        },
        {
          title: 'First values',
          cell: (_, index) => <Samples preview={preview} index={index} isContent={isContent} shown={shown} />,
        },
        { className: styles.arrow, cell: () => <IconArrowRight size="1rem" className="block" aria-hidden /> },
        {
          title: 'Becomes',
          className: styles.becomes,
          cell: ({ name, field }, index) =>
            isMediaPath(preview, name) ? (
              <span className="quiet">url, the address of the file</span>
            ) : (
              <SelectField
                aria-label={`${name} becomes`}
                value={field ?? CARRIED}
                onValue={(chosen) =>
                  props.onMapping(assignColumn(mapping, columns, index, chosen === CARRIED ? null : chosen))
                }
                data={toOptions(operation, name === '' ? `column ${index + 1}` : name, field)}
              />
            ),
        },
        {
          title: 'Match',
          className: styles.match,
          toCell: ({ match }) => ({ title: match?.meaning }),
          cell: ({ match }) => match?.word,
        },
      ]}
    />
  )
}

/** A folder's media files are named by path; Source decides how their addresses are formed. */
function isMediaPath({ format }: BridgePreview, column: string): boolean {
  return format === 'folder' && column === 'media'
}

function toOptions(operation: Operation, column: string, field: string | null) {
  const fields = fieldsFor(operation).map((known) => ({
    value: known.name,
    label: `${known.name}${NEED[known.required]}`,
  }))
  const keys = fieldsFor(operation)
    .filter(({ kind, name }) => kind === 'json_object' && name !== REQUEST_FIELD.name)
    .map(({ name }) => `${name}.${column}`)
  if (field?.includes('.') && !keys.includes(field)) keys.push(field)
  const items = keys.map((key) => ({ value: key, label: key }))
  return [
    { value: CARRIED, label: 'kept in the export' },
    { group: 'Fields', items: fields },
    { group: 'A key of an object', items },
  ]
}

function Samples(props: { preview: BridgePreview; index: number; isContent: ContentRule; shown: boolean }) {
  const { preview, index, isContent, shown } = props
  const samples: { row: number; text: string; length: number }[] = []
  for (const row of preview.rows) {
    const text = row.cells[index] ?? ''
    if (text !== '') samples.push({ row: row.row, text, length: row.cellLengths[index] ?? text.length })
    if (samples.length === SAMPLES) break
  }
  if (samples.length === 0) return <span className="quiet italic">empty in the first rows</span>
  return (
    <ul className={`flex flex-wrap overflow-hidden quiet ${styles.sampleList}`}>
      {samples.map((sample) => {
        const revealed = shown || !isContent(index, sample.text, sample.length)
        return (
          <li key={sample.row} className="truncate max-w-full" title={revealed ? sample.text : undefined}>
            <MaskedText
              text={sample.text}
              length={sample.length}
              max={SAMPLE_CHARACTERS}
              revealed={revealed}
            />
          </li>
        )
      })}
    </ul>
  )
}

/** The field that a column fills; null if it is only kept in the export. */
export function fieldOfColumn(mapping: Mapping, columns: readonly string[], index: number): string | null {
  for (const [field, source] of Object.entries(mapping)) {
    if (toColumnIndex(columns, source) === index) return field
  }
  return null
}

/** The mapping in which a column fills only `field`; with null, it is only kept in the export. */
export function assignColumn(
  mapping: Mapping,
  columns: readonly string[],
  index: number,
  field: string | null,
): Mapping {
  const next: Mapping = {}
  for (const [name, source] of Object.entries(mapping)) {
    if (toColumnIndex(columns, source) !== index) next[name] = source
  }
  if (field === null) return next
  next[field] = toColumnSource(columns, index)
  return next
}
