import { NativeSelect } from '@mantine/core'
import { IconArrowRight } from '@tabler/icons-react'
import type { BridgePreview } from '../../../shared/bridge/source.ts'
import {
  fieldsFor,
  type MatchConfidence,
  suggestMapping,
  toColumnIndex,
  toColumnSource,
} from '../../../shared/mapping/match-columns.ts'
import { type Operation, REQUEST_FIELD } from '../../../shared/operations/operations.ts'
import type { Mapping } from '../../../shared/plan/plan.ts'
import type { RequestField } from '../../../shared/service/request-field.ts'
import {
  type ContentRule,
  createContentRule,
  MaskedText,
  useContentShown,
} from '../../ui/content/user-content.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './mapping.module.css'

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

/** One line for each column: its name, what stands in it, and the field it becomes. */
export function ColumnTable(props: {
  preview: BridgePreview
  mapping: Mapping
  operation: Operation
  confidence: ReturnType<typeof suggestMapping>['confidence']
  onMapping: (mapping: Mapping) => void
}) {
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
              <NativeSelect
                aria-label={`${name} becomes`}
                value={field ?? CARRIED}
                onChange={(event) => {
                  const chosen = event.currentTarget.value
                  props.onMapping(assignColumn(mapping, columns, index, chosen === CARRIED ? null : chosen))
                }}
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

/** A folder's media files are named by their path; their address is made from it, as Source says. */
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
    ...(items.length > 0 ? [{ group: 'A key of an object', items }] : []),
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

/** The field that a column fills, or null if it is only kept in the export. */
export function fieldOfColumn(mapping: Mapping, columns: readonly string[], index: number): string | null {
  for (const [field, source] of Object.entries(mapping)) {
    if (toColumnIndex(columns, source) === index) return field
  }
  return null
}

/** The mapping in which a column fills `field` and nothing else; null only carries it to the output. */
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
