import type { PageRow } from '../../../shared/bridge/results.ts'
import type { RowVerdict } from '../../../shared/lookback/verdict.ts'
import { formatCount, formatMs } from '../../../shared/messages/figure-text.ts'
import { type ContentRule, MASK_REM, MaskedText } from '../../ui/content/user-content.tsx'
import type { GridColumn } from '../../ui/grid/data-grid.tsx'
import { AnswerLabel, nameAnswers } from '../../ui/states/answers.tsx'
import { RowNumber, StateLabel } from '../../ui/states/row-states.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { VerdictMark } from '../../ui/verdicts/verdict-mark.tsx'
import styles from './results.module.css'

/** Source columns that the table shows; a row's details show all. */
const SOURCE_COLUMNS_SHOWN = 12

/** Wide enough for the highest row number. */
function toRowColumn(rows: number): GridColumn<PageRow> {
  const rem = Math.max(4.75, 1.75 + formatCount(rows).length * 0.56)
  return {
    id: 'row',
    title: 'Row',
    rem,
    align: 'end',
    cell: (row) => <RowNumber row={row.row} place={row.place} />,
  }
}

const STATE: GridColumn<PageRow> = {
  id: 'state',
  title: 'State',
  rem: 7,
  cell: (row) => <StateLabel state={row.state} attempts={row.attempts} />,
}

const RULES: GridColumn<PageRow> = {
  id: 'rules',
  title: 'Triggered rules',
  rem: 11,
  cell: (row) =>
    row.triggeredRules.map((rule) => (
      <span key={rule.ruleId} className={styles.rule}>
        <SafeText text={rule.ruleName} max={40} />
      </span>
    )),
}

const ITEM_ID: GridColumn<PageRow> = {
  id: 'item',
  title: 'Item id',
  rem: 18,
  cell: (row) => row.customIndexItemId !== null && <SafeText text={row.customIndexItemId} max={60} />,
}

/** A row's outcome in the words of the operation. */
function toOutcomeColumn(operation: string): GridColumn<PageRow> {
  if (operation === 'index-add' || operation === 'index-remove') return ITEM_ID
  if (nameAnswers(operation) === null) return RULES
  return {
    id: 'outcome',
    title: operation === 'appeal-status' ? 'Appeal' : 'Term',
    rem: 9,
    cell: (row) => row.answer !== null && <AnswerLabel answer={row.answer} />,
  }
}

const ANSWER: GridColumn<PageRow> = {
  id: 'answer',
  title: 'Answer',
  rem: 10,
  cell: (row) => (
    <>
      {row.status ?? ''}{' '}
      <SafeText text={row.errorCode ?? (row.status === null ? (row.message ?? '') : '')} max={60} />
    </>
  ),
}

const LATENCY: GridColumn<PageRow> = {
  id: 'latency',
  title: 'Latency',
  rem: 5.25,
  align: 'end',
  cell: (row) => (row.durationMs === null ? '' : formatMs(row.durationMs)),
}

const CALLBACK_LATENCY: GridColumn<PageRow> = {
  id: 'callback',
  title: 'Callback',
  rem: 5.5,
  align: 'end',
  cell: (row) => (row.callbackLatencyMs === null ? '' : formatMs(row.callbackLatencyMs)),
}

const TRIES: GridColumn<PageRow> = {
  id: 'tries',
  title: 'Tries',
  rem: 3.5,
  align: 'end',
  cell: (row) => (row.attempts === 0 ? '' : row.attempts),
}

function toVerdictColumn(verdictsOf: (row: number) => readonly RowVerdict[]): GridColumn<PageRow> {
  return {
    id: 'verdict',
    title: 'Verdict',
    rem: 10,
    cell: (row) => <VerdictMark verdicts={verdictsOf(row.row)} />,
  }
}

/** The columns of the results table: the outcome of the row, its content, the answer, then its other cells; user content masked until revealed. */
export function createResultColumns(options: {
  operation: string
  isAsync: boolean
  /** The highest number of a row. */
  rows: number
  /** Names of the source's columns. */
  names: readonly string[]
  /** Indexes of the source's columns in the order they are shown. */
  order: readonly number[]
  isContent: ContentRule
  isRevealed: (row: number) => boolean
  /** What persons said of a row; null where nobody has judged any. */
  verdictsOf: ((row: number) => readonly RowVerdict[]) | null
}): GridColumn<PageRow>[] {
  const cells = options.order.slice(0, SOURCE_COLUMNS_SHOWN).map(
    (index, place): GridColumn<PageRow> => ({
      id: `cell ${index}`,
      title: <SafeText text={options.names[index] ?? `Column ${index + 1}`} max={40} />,
      rem: place === 0 ? 14 : MASK_REM,
      grow: place === 0,
      cell: (row) => {
        const text = row.cells[index] ?? ''
        const length = row.cellLengths[index] ?? text.length
        const revealed = !options.isContent(index, text, length) || options.isRevealed(row.row)
        return <MaskedText text={text} length={length} revealed={revealed} />
      },
    }),
  )
  return [
    toRowColumn(options.rows),
    STATE,
    toOutcomeColumn(options.operation),
    ...(options.verdictsOf === null ? [] : [toVerdictColumn(options.verdictsOf)]),
    ...cells.slice(0, 1),
    ANSWER,
    LATENCY,
    ...(options.isAsync ? [CALLBACK_LATENCY] : []),
    TRIES,
    ...cells.slice(1),
  ]
}

/** Columns with content first, then the others in their own order. */
export function orderColumns(count: number, content: readonly number[]): number[] {
  const all = Array.from({ length: count }, (_, index) => index)
  return [...content, ...all.filter((index) => !content.includes(index))]
}
