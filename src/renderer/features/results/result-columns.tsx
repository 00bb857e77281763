import type { PageRow } from '../../../shared/bridge/results.ts'
import { formatCount, formatMs } from '../../ui/format-number.ts'
import type { GridColumn } from '../../ui/grid/data-grid.tsx'
import { StateLabel } from '../../ui/states/state-label.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { HiddenCell } from './hidden-cell.tsx'
import styles from './results.module.css'

/** Source columns that the table shows; a row's details show all. */
const SOURCE_COLUMNS_SHOWN = 12

const FIRST: GridColumn<PageRow>[] = [
  { id: 'row', title: 'Row', rem: 4.75, align: 'end', cell: (row) => formatCount(row.row) },
  { id: 'state', title: 'State', rem: 7, cell: (row) => <StateLabel state={row.state} /> },
  {
    id: 'rules',
    title: 'Triggered rules',
    rem: 11,
    cell: (row) =>
      row.triggeredRules.map((rule) => (
        <span key={rule.ruleId} className={styles.rule}>
          <SafeText text={rule.ruleName} max={40} />
        </span>
      )),
  },
]

const LAST: GridColumn<PageRow>[] = [
  {
    id: 'answer',
    title: 'Answer',
    rem: 10,
    cell: (row) => (
      <>
        {row.status ?? ''}{' '}
        <SafeText text={row.errorCode ?? (row.status === null ? (row.message ?? '') : '')} max={60} />
      </>
    ),
  },
  {
    id: 'latency',
    title: 'Latency',
    rem: 5.25,
    align: 'end',
    cell: (row) => (row.durationMs === null ? '' : formatMs(row.durationMs)),
  },
  {
    id: 'tries',
    title: 'Tries',
    rem: 3.5,
    align: 'end',
    cell: (row) => (row.attempts === 0 ? '' : row.attempts),
  },
]

/** The columns of the results table: what became of the row, its content, the answer, then its other cells; all of its own cells hidden until revealed. */
export function createResultColumns(options: {
  /** Names of the source's columns. */
  names: readonly string[]
  /** Indexes of the source's columns in the order they are shown. */
  order: readonly number[]
  isRevealed: (row: number) => boolean
}): GridColumn<PageRow>[] {
  const cells = options.order.slice(0, SOURCE_COLUMNS_SHOWN).map(
    (index, place): GridColumn<PageRow> => ({
      id: `cell ${index}`,
      title: <SafeText text={options.names[index] ?? `Column ${index + 1}`} max={40} />,
      rem: place === 0 ? 14 : 9,
      grow: place === 0,
      cell: (row) => {
        const text = row.cells[index] ?? ''
        return (
          <HiddenCell
            text={text}
            length={row.cellLengths[index] ?? text.length}
            revealed={options.isRevealed(row.row)}
          />
        )
      },
    }),
  )
  return [...FIRST, ...cells.slice(0, 1), ...LAST, ...cells.slice(1)]
}

/** The columns of the content first, the others in their own order after them. */
export function orderColumns(count: number, content: readonly number[]): number[] {
  const all = Array.from({ length: count }, (_, index) => index)
  return [...content, ...all.filter((index) => !content.includes(index))]
}
