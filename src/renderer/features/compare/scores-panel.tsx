import type { ComparedDecisions } from '../../../shared/bridge/compare.ts'
import type { ScoreMoves } from '../../../shared/lookback/comparison.ts'
import { describeNoMoves, formatScoreMove } from '../../../shared/lookback/comparison-text.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { Panel } from '../../ui/layout/screen.tsx'
import { RowNumber } from '../../ui/states/row-states.tsx'
import { type Column, Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './compare.module.css'

/** How the scores of each class moved, with a small drawing of how far. */
export function ScoresPanel({ compared }: { compared: ComparedDecisions }) {
  const { scores, scored_rows: scoredRows } = compared
  return (
    <Panel title="Scores that moved" flush scrolls>
      <Table
        className={styles.table}
        caption="Scores that moved, by class"
        empty={describeNoMoves(scoredRows)}
        rows={scores}
        columns={COLUMNS}
      />
    </Panel>
  )
}

const COLUMNS: readonly Column<ScoreMoves>[] = [
  {
    title: 'Class',
    cell: (one) => (
      <>
        <SafeText text={one.class} max={60} />
        {one.from_cache && <span className="quiet"> analysed before</span>}
      </>
    ),
  },
  { title: 'Rose', isNumber: true, cell: (one) => formatCounted(one.rose, 'row') },
  { title: 'Fell', isNumber: true, cell: (one) => formatCounted(one.fell, 'row') },
  {
    title: 'Rows by move, B − A',
    cell: (one) => <MovesDrawing name={one.class} distribution={one.distribution} />,
  },
  { title: 'Mean move', isNumber: true, cell: (one) => formatScoreMove(one.mean) },
  { title: 'Largest rise', isNumber: true, cell: (one) => <LargestMove move={one.largest_rise} /> },
  { title: 'Largest fall', isNumber: true, cell: (one) => <LargestMove move={one.largest_fall} /> },
]

function LargestMove({ move }: { move: ScoreMoves['largest_rise'] }) {
  if (move === null) return '–'
  return (
    <>
      {formatScoreMove(move.b - move.a)}{' '}
      <span className="quiet">
        {move.a} → {move.b}, row <RowNumber record={move.record} place={move.place} />
      </span>
    </>
  )
}

/** Sizes in pixels. */
const DRAWING = { width: 240, height: 40, base: 30 }

/** Bars of how many rows moved how far, falls at the left of the middle and rises at its right. */
function MovesDrawing({ name, distribution }: { name: string; distribution: ScoreMoves['distribution'] }) {
  const { width, moves } = distribution
  const furthest = Math.max(width, ...moves.map(({ move }) => Math.abs(move)))
  const most = Math.max(...moves.map(({ rows }) => rows))
  const step = DRAWING.width / (2 * Math.round(furthest / width) + 1)
  const middle = DRAWING.width / 2
  return (
    <svg
      className={styles.moves}
      width={DRAWING.width}
      height={DRAWING.height}
      role="img"
      aria-label={`Moves of ${name}: ${moves.map(({ move, rows }) => `${formatScoreMove(move)} ${formatCounted(rows, 'row')}`).join(', ')}`}
    >
      <line stroke="var(--line-strong)" x1={middle} x2={middle} y1="0" y2={DRAWING.base} />
      {moves.map(({ move, rows }) => {
        // Few are still some: a bar that is there is seen.
        const height = Math.max(1.5, (rows / most) * (DRAWING.base - 2))
        return (
          <rect
            key={move}
            data-rise={move > 0}
            x={middle + (move / width) * step - step / 2 + 0.5}
            y={DRAWING.base - height}
            width={Math.max(1, step - 1)}
            height={height}
          >
            <title>{`${formatScoreMove(move)}: ${formatCounted(rows, 'row')}`}</title>
          </rect>
        )
      })}
      <text x="0" y={DRAWING.height - 1}>
        {formatScoreMove(-furthest)}
      </text>
      <text x={middle} y={DRAWING.height - 1} textAnchor="middle">
        0
      </text>
      <text x={DRAWING.width} y={DRAWING.height - 1} textAnchor="end">
        {formatScoreMove(furthest)}
      </text>
    </svg>
  )
}
