import { Button } from '@mantine/core'
import { IconAlertTriangle, IconCircleCheck } from '@tabler/icons-react'
import { type ReactNode, useMemo, useState } from 'react'
import type { BridgePreview } from '../../../shared/bridge/source.ts'
import { hasLoneHeader, suggestMapping } from '../../../shared/mapping/match-columns.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { sayFoundSheets } from '../../../shared/messages/mapping-messages.ts'
import { sayExpected } from '../../../shared/messages/problem-messages.ts'
import { fieldsOf, type Operation } from '../../../shared/operations/operations.ts'
import type { Mapping } from '../../../shared/plan/plan.ts'
import { findSheetChoice, toRowNumber } from '../../../shared/plan/source-place.ts'
import { formatProblemRow } from '../../../shared/run/problem.ts'
import type { EncodingReading } from '../../../shared/run/results.ts'
import {
  createContentRule,
  MASK_REM,
  MaskedText,
  useContentShown,
  useOnHideAll,
} from '../../ui/content/user-content.tsx'
import { ActionButton } from '../../ui/controls.tsx'
import { DataGrid, type GridColumn, toColumnRem } from '../../ui/grid/data-grid.tsx'
import { Notice } from '../../ui/layout/screen.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { labelEncoding } from './encodings.ts'
import styles from './source.module.css'

/** The content of the preview: parsed rows, malformed records, and whether there are more. */
export function PreviewCounts({ preview }: { preview: BridgePreview }) {
  const { rows, malformedRows } = preview
  const first = preview.problems[0]
  return (
    <p className={`flex flex-wrap quiet stressed ${styles.counts}`} aria-live="polite">
      <span>
        <strong>{formatCount(rows.length)}</strong> {rows.length === 1 ? 'row' : 'rows'} parsed
        {sayExtent(preview)}
      </span>
      {malformedRows === 0 ? (
        <span>
          <IconCircleCheck size="1rem" className="good" aria-hidden /> none malformed
        </span>
      ) : (
        <span className={`warned ${styles.bad}`}>
          <IconAlertTriangle size="1rem" aria-hidden />{' '}
          <strong>{formatCounted(malformedRows, 'row')} malformed</strong>
          {first !== undefined && `, first: row ${formatProblemRow(first)}, ${sayExpected(first, 'window')}`}
        </span>
      )}
    </p>
  )
}

function sayExtent({ format, files, hasMore }: BridgePreview): string {
  if (files !== undefined) return hasMore ? ', the files have more' : ', all files'
  const what = format === 'folder' ? 'folder' : format === 'xlsx' ? 'sheet' : 'file'
  return hasMore ? `, the ${what} has more` : `, the whole ${what}`
}

/**
 * Asks about a first line that looks like a row, or is the only name of a list: read as the header, it would
 * be lost silently. Nothing if there is no doubt.
 */
export function HeaderDoubt(props: {
  preview: BridgePreview
  operation: Operation
  headerRow: number | undefined
  onRow: () => void
}) {
  const { isHeaderDoubtful, header, columns, format, likelyHeaderRow } = props.preview
  const mayDoubt = header && props.headerRow === undefined && likelyHeaderRow === undefined
  const isLone = mayDoubt && hasLoneHeader(columns, format, props.operation)
  if (!isHeaderDoubtful && !isLone) return null
  return (
    <Notice
      kind="warning"
      title={isHeaderDoubtful ? 'The first line looks like a row' : 'The first line may be a row'}
      actions={<ActionButton label="It is a row" onClick={props.onRow} />}
    >
      {isHeaderDoubtful ? (
        'It is read as column names and is not sent.'
      ) : (
        <>
          No field is called <ColumnName name={columns[0] ?? ''} />. It is read as the name of the only column
          and is not sent.
        </>
      )}
    </Notice>
  )
}

/** A column's name within a sentence; backticks in it have no meaning. */
function ColumnName({ name }: { name: string }) {
  return (
    <code>
      <SafeText text={name} max={80} />
    </code>
  )
}

/** Says which of several sheets is read, if nobody chose one, and lets a person choose. */
export function SheetChoiceNotice(props: { preview: BridgePreview; onUse: (sheet: string) => void }) {
  const { sheets = [], sheet, sheetRows = [], hiddenSheets = [] } = props.preview
  if (sheet === undefined) return null
  const choice = findSheetChoice({ sheets, sheet, rows: sheetRows, hidden: hiddenSheets }, {})
  if (choice === null || choice.others.every(({ rows }) => rows === 0)) return null
  return (
    <Notice
      kind="info"
      title="The workbook has several sheets"
      actions={
        <Button onClick={() => props.onUse(sheet)}>
          <span>
            Keep <SafeText text={sheet} max={30} />
          </span>
        </Button>
      }
    >
      <SafeText text={`${sayFoundSheets(choice)}. To read another, choose it above.`} max={400} lines />
    </Notice>
  )
}

/** Offers to use the row that looks like the header below titles; `file` is set if there are several. */
export function HeaderChoice(props: { row: number; file: string | undefined; onUse: () => void }) {
  const { row, file, onUse } = props
  return (
    <Notice
      kind="warning"
      title={
        <>
          Row {row}
          {file !== undefined && (
            <>
              {' '}
              of <SafeText text={file} max={80} />
            </>
          )}{' '}
          looks like the header
        </>
      }
      actions={<ActionButton label={`Use row ${row}`} onClick={onUse} />}
    >
      The first line is read as column names now, and row {row} as a row.
      {file !== undefined && ' The number that you choose holds for all files.'}
    </Notice>
  )
}

/** Offers to fill merged cells, showing the first row with empty ones; nothing if there are none. */
export function MergedChoice(props: { preview: BridgePreview; onUse: (merged: 'empty' | 'fill') => void }) {
  const found = props.preview.problems.find(
    ({ code, args }) => code === 'merged_cells' && args?.['begins'] === 'rows',
  )
  if (found === undefined) return null
  return (
    <Notice
      kind="warning"
      title="Cells are empty because they are merged"
      actions={
        <>
          <ActionButton label="Fill with the first" onClick={() => props.onUse('fill')} />
          <ActionButton label="Leave empty" onClick={() => props.onUse('empty')} />
        </>
      }
    >
      Row {formatProblemRow(found)}: {sayExpected(found, 'window')}.
    </Notice>
  )
}

/** Says that cells have links, and offers those of a column as the address to send; nothing if none. */
export function LinkChoice(props: {
  preview: BridgePreview
  operation: Operation
  mapping: Mapping
  onMapping: (mapping: Mapping) => void
}) {
  const { preview, operation, mapping, onMapping } = props
  const hasUrl = fieldsOf(operation).some(({ name }) => name === 'url')
  const chosen = mapping['url']?.kind === 'column' ? mapping['url'].column : null
  return (preview.links ?? []).slice(0, LINKS_OFFERED).map(({ name, linkName, cell }) => (
    <Notice
      key={linkName}
      kind={chosen === linkName ? 'info' : 'warning'}
      title={chosen === linkName ? 'The links behind cells are sent' : 'Cells have links behind their texts'}
      actions={
        hasUrl &&
        chosen !== linkName && (
          <ActionButton
            label="Use the links as url"
            onClick={() => onMapping(fillWithLinks(mapping, name, linkName))}
          />
        )
      }
    >
      {chosen === linkName ? (
        <>
          The column <ColumnName name={linkName} /> fills url.
        </>
      ) : (
        <>
          Those of <ColumnName name={name} />, such as {cell}, are in the column{' '}
          <ColumnName name={linkName} />. Choose it in Mapping to send them.
        </>
      )}
    </Notice>
  ))
}

/** Columns with links that are offered on Source; Mapping has all. */
const LINKS_OFFERED = 3

/** Fills the url with links; the texts of these links are not content then. */
function fillWithLinks(mapping: Mapping, name: string, linkName: string): Mapping {
  const { text_data: text, ...rest } = mapping
  const isItsText = text?.kind === 'column' && text.column === name
  return { ...(isItsText ? rest : mapping), url: { kind: 'column', column: linkName } }
}

const COLUMNS_SHOWN = 60

type PreviewRow = BridgePreview['rows'][number]

/** The first rows of a source with the current reading; user content is masked until revealed. */
export function PreviewGrid(props: {
  preview: BridgePreview
  operation: Operation
  /** Mapped columns that a person chose, in addition to those matched by name. */
  mapping: Mapping
}) {
  const { preview, operation, mapping } = props
  const [cursor, setCursor] = useState(0)
  const shown = useContentShown()
  const columns = useMemo(
    () => toGridColumns(preview, operation, mapping, shown),
    [preview, operation, mapping, shown],
  )
  return (
    <DataGrid
      label="First rows of the source"
      columns={columns}
      count={preview.rows.length}
      rowAt={(index) => preview.rows[index] ?? null}
      cursor={cursor}
      onCursor={setCursor}
    />
  )
}

function toGridColumns(
  preview: BridgePreview,
  operation: Operation,
  mapping: Mapping,
  shown: boolean,
): GridColumn<PreviewRow>[] {
  const { columns: names, rows } = preview
  const suggested = suggestMapping(names, operation, preview).mapping
  const isContent = createContentRule(names, { ...suggested, ...mapping }, rows)
  const row: GridColumn<PreviewRow> = {
    id: 'row',
    title: 'Row',
    rem: 4.5,
    align: 'end',
    cell: (data) => toRowNumber(data.place),
  }
  const file: GridColumn<PreviewRow> = {
    id: 'file',
    title: 'File',
    rem: toColumnRem(
      'File',
      rows.map(({ place }) => place.file?.length ?? 0),
    ),
    cell: ({ place }) => <SafeText text={place.file ?? ''} max={80} />,
  }
  const cells = names.slice(0, COLUMNS_SHOWN).map((name, index): GridColumn<PreviewRow> => {
    const read = (data: PreviewRow) => {
      const text = data.cells[index] ?? ''
      const length = data.cellLengths[index] ?? text.length
      return { text, length, revealed: shown || !isContent(index, text, length) }
    }
    const cellsRead = rows.map(read)
    const hasContent = isContent(index, '') || cellsRead.some(({ revealed }) => !revealed)
    // A masked cell only needs room for the mask.
    const lengths = cellsRead.map(({ length, revealed }) => (revealed ? length : 0))
    return {
      id: `cell ${index}`,
      title: <SafeText text={name} max={60} />,
      name,
      rem: Math.max(hasContent ? MASK_REM : 0, toColumnRem(name, lengths)),
      grow: true,
      cell: (data) => <MaskedText {...read(data)} isCell />,
    }
  })
  return [row, ...(preview.files === undefined ? [] : [file]), ...cells]
}

const FILES_SHOWN = 3

/**
 * Shows the same words in each encoding that a source may have, and applies the one that reads right. With
 * several files it only shows them, since a chosen encoding applies to all. Nothing if there is no doubt.
 */
export function EncodingDoubt(props: { preview: BridgePreview; onEncoding: (encoding: string) => void }) {
  const { encodingReadings, files } = props.preview
  if (files !== undefined) return <DoubtOfFiles files={files} />
  if (encodingReadings === undefined) return null
  return (
    <DoubtNotice title="The encoding is uncertain">
      {(revealed) => (
        <>
          <p>
            The same words in each encoding that the file may be in. Use the one in which they read right.
          </p>
          <ul className={`grid items-center p-0 ${styles.readings}`}>
            {encodingReadings.map((one) => (
              <li key={one.encoding} className="contents">
                <ActionButton
                  label={`Use ${labelEncoding(one.encoding)}`}
                  small
                  onClick={() => props.onEncoding(one.encoding)}
                />
                <span>
                  <MaskedText text={one.sample} revealed={revealed} />
                </span>
              </li>
            ))}
          </ul>
        </>
      )}
    </DoubtNotice>
  )
}

function DoubtOfFiles({ files }: { files: NonNullable<BridgePreview['files']> }) {
  const doubtful = files.flatMap(({ name, encodingReadings }) =>
    encodingReadings === undefined ? [] : [{ name, readings: encodingReadings }],
  )
  if (doubtful.length === 0) return null
  const more = doubtful.length - FILES_SHOWN
  return (
    <DoubtNotice title={`Uncertain encoding of ${formatCounted(doubtful.length, 'file')}`}>
      {(revealed) => (
        <>
          {doubtful.slice(0, FILES_SHOWN).map(({ name, readings }) => (
            <FileReadings key={name} name={name} readings={readings} revealed={revealed} />
          ))}
          {more > 0 && <p>and {formatCounted(more, 'more file', 'more files')}</p>}
          <p>
            The first is the one that is used. An encoding that you choose above holds for all files. If they
            differ, save the uncertain ones as UTF-8.
          </p>
        </>
      )}
    </DoubtNotice>
  )
}

function FileReadings(props: { name: string; readings: readonly EncodingReading[]; revealed: boolean }) {
  return (
    <>
      <SafeText text={props.name} max={80} />
      <ul className={`grid items-center p-0 ${styles.readings}`}>
        {props.readings.map(({ encoding, sample }) => (
          <li key={encoding} className="contents">
            <span className="small">{labelEncoding(encoding)}</span>
            <span>
              <MaskedText text={sample} revealed={props.revealed} />
            </span>
          </li>
        ))}
      </ul>
    </>
  )
}

/** The words are masked like all content; revealing them here reveals nothing else. */
function DoubtNotice(props: { title: string; children: (revealed: boolean) => ReactNode }) {
  const shown = useContentShown()
  const [isRevealed, setRevealed] = useState(false)
  useOnHideAll(() => setRevealed(false))
  return (
    <Notice
      kind="warning"
      title={props.title}
      actions={
        !shown && (
          <ActionButton
            label={isRevealed ? 'Hide the words' : 'Show the words'}
            onClick={() => setRevealed(!isRevealed)}
          />
        )
      }
    >
      {props.children(shown || isRevealed)}
    </Notice>
  )
}
