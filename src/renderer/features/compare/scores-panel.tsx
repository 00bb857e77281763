import type { ComparedDecisions } from '../../../shared/bridge/compare.ts'
import type { ScoreMoves } from '../../../shared/lookback/comparison.ts'
import { describeNoMoves, formatScoreMove } from '../../../shared/lookback/comparison-text.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { Panel } from '../../ui/layout/screen.tsx'
import { RowNumber } from '../../ui/states/row-states.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './compare.module.css'

/** How the scores of each class moved, with a small drawing of how far. */
export function ScoresPanel({ compared }: { compared: ComparedDecisions }) {
  const { scores, scored_rows: scoredRows } = compared
  return (
    <Panel title="Scores that moved" flush scrolls>
      {scores.length === 0 ? (
        <p className={styles.none}>{describeNoMoves(scoredRows)}</p>
      ) : (
        <table className={styles.table}>
          <caption className="visually-hidden">Scores that moved, by class</caption>
          <thead>
            <tr>
              <th scope="col">Class</th>
              <th scope="col" className={styles.number}>
                Rose
              </th>
              <th scope="col" className={styles.number}>
                Fell
              </th>
              <th scope="col">Rows by move, B − A</th>
              <th scope="col" className={styles.number}>
                Mean move
              </th>
              <th scope="col" className={styles.number}>
                Largest rise
              </th>
              <th scope="col" className={styles.number}>
                Largest fall
              </th>
            </tr>
          </thead>
          <tbody>
            {scores.map((one) => (
              <tr key={`${one.class} ${one.from_cache}`}>
                <th scope="row">
                  <SafeText text={one.class} max={60} />
                  {one.from_cache && <span className={styles.quiet}> analysed before</span>}
                </th>
                <td className={styles.number}>{formatCounted(one.rose, 'row')}</td>
                <td className={styles.number}>{formatCounted(one.fell, 'row')}</td>
                <td>
                  <MovesDrawing name={one.class} distribution={one.distribution} />
                </td>
                <td className={styles.number}>{formatScoreMove(one.mean)}</td>
                <td className={styles.number}>
                  <LargestMove move={one.largest_rise} />
                </td>
                <td className={styles.number}>
                  <LargestMove move={one.largest_fall} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  )
}

function LargestMove({ move }: { move: ScoreMoves['largest_rise'] }) {
  if (move === null) return '–'
  return (
    <>
      {formatScoreMove(move.b - move.a)}{' '}
      <span className={styles.quiet}>
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
      <line className={styles.zero} x1={middle} x2={middle} y1="0" y2={DRAWING.base} />
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
