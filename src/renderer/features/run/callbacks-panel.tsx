import type { RunSnapshot } from '../../../shared/snapshot.ts'
import { bridge } from '../../bridge/client.ts'
import { useQuery } from '../../bridge/use-query.ts'
import { formatCount, formatQuantity } from '../../ui/format-number.ts'
import { type Figure, Figures } from '../../ui/layout/figures.tsx'
import { Panel } from '../../ui/layout/panel.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './run.module.css'

const RECEIVER_EVERY_MS = 2_000

const ODD = {
  early: { label: 'Early', note: 'before the acknowledgement; each settled its row' },
  late: { label: 'Late', note: 'after the row was overdue or unknown; each settled it' },
  doubled: { label: 'Doubled', note: 'their row was settled already' },
  unreadable: { label: 'Unreadable', note: 'not as the interface has them; kept with their row' },
} as const

/** What has come back of an async run and what is still awaited; what was odd about it, where anything was. */
export function CallbacksPanel(props: {
  callbacks: NonNullable<RunSnapshot['callbacks']>
  rows: RunSnapshot['rows']
  live: boolean
}) {
  const { callbacks, rows } = props
  const receiver = useQuery('receiver status', (signal) => bridge.receiver.status(undefined, { signal }), {
    everyMs: props.live ? RECEIVER_EVERY_MS : undefined,
    keep: true,
  })
  const refused = Object.entries(receiver.data?.refused ?? {}).filter(([, times]) => times > 0)
  return (
    <Panel
      title="Callbacks"
      aside={rows.awaiting > 0 ? `${formatCount(rows.awaiting)} awaited` : 'none awaited'}
    >
      <Figures figures={toFigures(callbacks, rows)} />
      {refused.length > 0 && (
        <p className={styles.refused}>
          The receiver of this workspace has refused{' '}
          {refused.map(([why, times], index) => (
            <span key={why}>
              {index > 0 && ', '}
              <SafeText text={`${formatQuantity(times, 'post')} (${why.replaceAll('_', ' ')})`} max={80} />
            </span>
          ))}{' '}
          of any run. They changed nothing.
        </p>
      )}
    </Panel>
  )
}

function toFigures(callbacks: NonNullable<RunSnapshot['callbacks']>, rows: RunSnapshot['rows']): Figure[] {
  const figures: Figure[] = [
    { label: 'Received', value: formatCount(callbacks.received) },
    { label: 'Settled their row', value: formatCount(callbacks.settled) },
  ]
  if (rows.overdue > 0) {
    figures.push({
      label: 'Overdue',
      value: formatCount(rows.overdue),
      note: 'a late one still settles its row',
    })
  }
  for (const kind of ['early', 'late', 'doubled', 'unreadable'] as const) {
    if (callbacks[kind] > 0) figures.push({ ...ODD[kind], value: formatCount(callbacks[kind]) })
  }
  return figures
}
