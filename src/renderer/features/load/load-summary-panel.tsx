import type { LoadOverview } from '../../../shared/bridge/load.ts'
import { formatCount, formatRate, formatShare } from '../../ui/format-number.ts'
import { formatSpan } from '../../ui/format-time.ts'
import { type Figure, Figures } from '../../ui/layout/figures.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './load.module.css'

/** What a load test came to: what was asked for, and the rates, each a figure of its own. */
export function LoadSummaryPanel({ report }: { report: LoadOverview }) {
  return (
    <Panel
      title="Summary"
      aside={
        report.startedAt === null ? 'nothing was measured' : `measured for ${formatSpan(report.durationMs)}`
      }
    >
      <div className={styles.progress}>
        <Figures figures={toFigures(report)} />
        <p className={styles.plan}>
          <SafeText text={report.plan.join(' · ')} max={2_000} lines />
        </p>
        <p className={styles.plan}>{describeTraffic(report)}</p>
      </div>
    </Panel>
  )
}

function toFigures({ counts, rates, callbacks, generator }: LoadOverview): Figure[] {
  const unsuccessful = counts.rejected + counts.failed + counts.unknown
  const figures: Figure[] = []
  if (rates.scheduledPerS !== null) {
    figures.push({ label: 'Scheduled', value: formatRate(rates.scheduledPerS), unit: 'requests/s' })
  }
  figures.push(
    {
      label: 'Sent',
      value: formatRate(rates.attemptedPerS),
      unit: 'requests/s',
      note: `${formatCount(counts.sent)} in total`,
    },
    { label: 'Answered', value: formatRate(rates.answeredPerS), unit: 'requests/s' },
    {
      label: 'Succeeded',
      value: formatRate(rates.succeededPerS),
      unit: 'requests/s',
      note: `${formatCount(counts.succeeded)} in total`,
    },
    {
      label: 'Did not succeed',
      value: formatShare(unsuccessful, counts.sent),
      note: `${formatCount(counts.rejected)} rejected, ${formatCount(counts.failed)} failed, ${formatCount(counts.unknown)} unknown`,
    },
  )
  if (rates.scheduledPerS !== null) figures.push({ label: 'Dropped', value: formatCount(generator.dropped) })
  if (callbacks !== null) {
    figures.push({
      label: 'Callbacks',
      value: formatCount(callbacks.received),
      note: `${formatCount(callbacks.rejected)} said error, ${formatCount(callbacks.overdue)} overdue, ${formatCount(callbacks.outstanding)} outstanding`,
    })
  }
  return figures
}

function describeTraffic({ connections, throttling }: LoadOverview): string {
  const parts = [
    `${formatCount(connections.opened)} connections opened, ${formatCount(connections.reused)} requests sent on one that was open`,
  ]
  if (throttling.answers > 0 || throttling.retryAfterAnswers > 0) {
    parts.push(
      `${formatCount(throttling.answers)} answers of 429, ${formatCount(throttling.retryAfterAnswers)} asked to wait, ${formatSpan(throttling.askedS * 1000)} in total`,
    )
  }
  return `${parts.join('; ')}.`
}
