import type { ResultRow } from '../../../shared/run/results.ts'
import { toScoreScale } from '../../../shared/run/score-bands.ts'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './scores.module.css'

export interface ScoreScale {
  classes: readonly string[]
  end: number
}

type Scores = ResultRow['classScores']

/** Most classes in the strip of a row. */
const STRIP_MAX = 12

/** Width of a class in the strip and of its bar, and the height of a full bar, in the strip's own units. */
const STRIP = { step: 30, bar: 24, height: 100 }

/** Parts of a bar's path before and after its height. */
const BAR_STARTS = Array.from({ length: STRIP_MAX }, (_, place) => `M${place * STRIP.step} ${STRIP.height}v-`)
const BAR_END = `h${STRIP.bar}V${STRIP.height}z`

/** Least width of {@link ScoreStrip}, em of a cell; its text is cut to the remaining room. */
export function toStripEm(scale: ScoreScale): number {
  return 1 + Math.min(STRIP_MAX, scale.classes.length) * 0.42
}

/** A row's scores as bars side by side, each class at a fixed position, and the highest score in words. */
export function ScoreStrip({ scores, scale }: { scores: Scores; scale: ScoreScale }) {
  const sorted = toHighestFirst(scores)
  const [highest] = sorted
  if (highest === undefined) return null
  const words = sorted.map(({ className, score }) => `${className} ${formatScore(score)}`).join(', ')
  const classes = scale.classes.slice(0, STRIP_MAX)
  return (
    <span className={`inline-flex items-center gap-2 max-w-full ${styles.strip}`} role="img" title={words}>
      <svg
        className={`flex-none bg-sunken ${styles.bars}`}
        viewBox={`0 0 ${toStripWidth(classes.length)} ${STRIP.height}`}
        aria-hidden
      >
        <path fill="var(--chart-1)" d={toBarsPath(classes, scores, scale.end)} />
      </svg>
      <span className="min-w-0 overflow-hidden ellipsis text-xs">
        {highest.score === 0 ? (
          'all 0'
        ) : (
          <>
            <SafeText text={highest.className} max={24} isCell /> {formatScore(highest.score)}
          </>
        )}
      </span>
    </span>
  )
}

function toStripWidth(classes: number): number {
  return classes * STRIP.step - (STRIP.step - STRIP.bar)
}

/** All bars as one shape, since a table draws many; each has the height of its share of the scale. */
function toBarsPath(classes: readonly string[], scores: Scores, end: number): string {
  let path = ''
  for (const [place, className] of classes.entries()) {
    const share = Math.min(1, (scores.find((one) => one.className === className)?.score ?? 0) / end)
    const height = Math.round(share * STRIP.height)
    if (height > 0) path += `${BAR_STARTS[place]}${height}${BAR_END}`
  }
  return path
}

/** Each class with its score as a bar and number, highest first, and the thresholds of the answer's rules. */
export function ScoreBars(props: {
  scores: Scores
  /** End of the scale, unless a score is higher. */
  end: number
  thresholds: readonly { className: string; ruleName: string; threshold: number }[]
}) {
  const { scores, end: least, thresholds } = props
  const highest = Math.max(0, ...scores.map(({ score }) => score))
  const end = highest > least ? toScoreScale(highest) : least
  return (
    <section>
      <h3>Scores</h3>
      <Table
        look="plain"
        className={styles.table}
        hasNoHead
        rows={toHighestFirst(scores)}
        toKey={({ className }) => className}
        columns={[
          { width: '10rem', cell: ({ className }) => <SafeText text={className} max={60} /> },
          { isNumber: true, width: '4.5rem', cell: ({ score }) => formatScore(score) },
          {
            className: styles.wideBar,
            cell: ({ className, score }) => {
              const own = thresholds.filter((one) => one.className === className)
              return (
                <>
                  <svg viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden>
                    <rect fill="var(--sunken)" width={100} height={8} />
                    <rect fill="var(--chart-1)" width={Math.min(100, (score / end) * 100)} height={8} />
                    {own.map(({ ruleName, threshold }) => (
                      <rect
                        key={`${ruleName} ${threshold}`}
                        fill="var(--state-failed)"
                        x={Math.min(99, (threshold / end) * 100)}
                        width={1}
                        height={8}
                      />
                    ))}
                  </svg>
                  {own.map(({ ruleName, threshold }) => (
                    <span key={`${ruleName} ${threshold}`} className="small block">
                      <SafeText text={ruleName} max={60} /> triggers from {formatScore(threshold)}
                    </span>
                  ))}
                </>
              )
            },
          },
        ]}
      />
      <p className="small block">Scale from 0 to {end}</p>
    </section>
  )
}

function toHighestFirst(scores: Scores): Scores {
  return scores.toSorted((a, b) => b.score - a.score || (a.className < b.className ? -1 : 1))
}

function formatScore(score: number): string {
  return String(Number(score.toFixed(4)))
}
