import { IconCircleCheck, IconCircleX } from '@tabler/icons-react'
import type { LoadReport } from '../../../shared/load/load-report.ts'
import {
  formatThresholdMargin,
  formatThresholdValue,
  noteUnjudged,
} from '../../../shared/load/threshold-text.ts'
import type { ThresholdResult } from '../../../shared/load/thresholds.ts'
import { Panel } from '../../ui/layout/panel.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './load.module.css'

/**
 * Every threshold: whether it holds, what was measured, and how far that is from the limit; that none is about the
 * requests that did not succeed, where so. `report` is null until there is one.
 */
export function ThresholdsPanel({
  thresholds,
  report,
  isOver,
}: {
  thresholds: ThresholdResult[]
  report: Pick<LoadReport, 'thresholds' | 'counts' | 'generator'> | null
  isOver: boolean
}) {
  const unjudged = isOver && report !== null ? noteUnjudged(report) : null
  const crossed = thresholds.filter(({ ok }) => !ok).length
  return (
    <Panel title="Thresholds" aside={toPassedText(thresholds.length, crossed, isOver)} flush>
      {thresholds.length === 0 ? (
        <p className={styles.quiet}>
          {isOver ? 'There are none.' : 'Those that were set are judged from the first measured second on.'}
        </p>
      ) : (
        <table className={styles.table}>
          <caption className="visually-hidden">Thresholds</caption>
          <thead>
            <tr>
              <th scope="col">Threshold</th>
              <th scope="col">{isOver ? 'Verdict' : 'So far'}</th>
              <th scope="col" className={styles.number}>
                Value
              </th>
              <th scope="col">By how much</th>
            </tr>
          </thead>
          <tbody>
            {thresholds.map((result) => (
              <tr key={result.expression} data-ok={result.ok}>
                <th scope="row">
                  <code>
                    <SafeText text={result.expression} max={80} />
                  </code>
                </th>
                <td>
                  <Verdict ok={result.ok} />
                </td>
                <td className={styles.number}>{formatThresholdValue(result)}</td>
                <td>{formatThresholdMargin(result)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {unjudged !== null && <p className={styles.quiet}>{unjudged}</p>}
    </Panel>
  )
}

function Verdict({ ok }: { ok: boolean }) {
  const Icon = ok ? IconCircleCheck : IconCircleX
  return (
    <span className={ok ? styles.held : styles.crossed}>
      <Icon size="1.1em" stroke={2} aria-hidden />
      {ok ? 'holds' : 'crossed'}
    </span>
  )
}

function toPassedText(all: number, crossed: number, isOver: boolean): string {
  if (all === 0) return isOver ? 'none' : 'none judged yet'
  if (crossed > 0) return `${crossed} of ${all} crossed`
  return all === 1 ? 'it holds' : `all ${all} hold`
}
