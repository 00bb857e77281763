import type { ReactNode } from 'react'
import { formatBytes, formatCount, formatRate, formatShare } from '../../../shared/messages/figure-text.ts'
import { formatSlowdown, type RunSnapshot } from '../../../shared/run/snapshot.ts'
import { formatSpan } from '../../ui/format-time.ts'
import { type Figure, Figures } from '../../ui/layout/figures.tsx'
import { Notice } from '../../ui/layout/notice.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import { CountsBar, CountsTable } from '../../ui/states/counts-bar.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './run.module.css'

/** How far a run is: one bar, the counts by state, rate and time left; `pace` changes how fast it goes. */
export function ProgressPanel({ snapshot, pace }: { snapshot: RunSnapshot; pace?: ReactNode }) {
  const { rows, phase } = snapshot
  const done = rows.read - rows.not_sent - rows.awaiting
  return (
    <Panel
      title="Progress"
      aside={
        phase === 'intake'
          ? `${formatBytes(snapshot.bytes.read)} of ${formatBytes(snapshot.bytes.total)} read`
          : `${formatCount(done)} of ${formatCount(rows.read)} rows, ${formatShare(done, rows.read)}`
      }
    >
      <div className={styles.progress}>
        {snapshot.slowdown !== null && (
          <Notice kind="warning" title={<SafeText text={toSentence(formatSlowdown(snapshot.slowdown))} />} />
        )}
        <CountsBar rows={rows} label="Progress of the run" />
        <div className={styles.top}>
          <div className={styles.figures}>
            <Figures figures={toFigures(snapshot)} />
            {pace}
          </div>
          <CountsTable rows={rows} toRepeat={snapshot.toRepeat} />
        </div>
      </div>
    </Panel>
  )
}

function toSentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`
}

function toFigures(snapshot: RunSnapshot): Figure[] {
  const { phase, ratePerSecond, etaMs, elapsedMs, requests } = snapshot
  const ended = phase === 'ended'
  const figures: Figure[] = [
    {
      label: ended ? 'Average rate' : 'Rate',
      value: formatRate(ended ? ratePerSecond.mean : ratePerSecond.current),
      unit: 'requests/s',
      ...(!ended && { note: `${formatRate(ratePerSecond.mean)}/s average` }),
    },
    ended
      ? { label: 'Took', value: formatSpan(elapsedMs) }
      : {
          label: 'Time left',
          value: etaMs === null ? '–' : formatSpan(etaMs),
          note: `${formatSpan(elapsedMs)} so far`,
        },
    {
      label: 'Requests sent',
      value: formatCount(requests.sent),
      note: requests.retried === 0 ? 'no retries' : `${formatCount(requests.retried)} of them tried again`,
    },
  ]
  if (snapshot.retryAfter.answers > 0) {
    figures.push({
      label: 'Asked to wait',
      value: formatCount(snapshot.retryAfter.answers),
      unit: 'times',
      note: `${formatSpan(snapshot.retryAfter.waitedMs)} waited`,
    })
  }
  if (snapshot.warnings.length > 0) {
    figures.push({
      label: 'Connections',
      value: 'not reused',
      note: snapshot.warnings.map(({ message }) => message).join(' '),
    })
  }
  return figures
}
