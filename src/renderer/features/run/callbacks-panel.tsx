import { useQuery } from '@tanstack/react-query'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { sayRefusal } from '../../../shared/run/callback-overview.ts'
import type { RunSnapshot } from '../../../shared/run/snapshot.ts'
import { ask } from '../../bridge/client.ts'
import { type Figure, Figures, Panel } from '../../ui/layout/screen.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import styles from './run.module.css'

const RECEIVER_EVERY_MS = 2_000

/** Callbacks that were not as they usually are, by a word, each with what it did. */
const ODD = [
  ['early', 'early', 'before the acknowledgement; each settled its row'],
  ['late', 'late', 'when the row was overdue or unknown already; each settled it'],
  ['doubled', 'doubled', 'said the same again; nothing was changed'],
  ['differing', 'differing', 'said something else than the one that counts; kept with their row'],
  ['other_post', 'another post', 'named another post or item than their row; they settled nothing'],
  ['unreadable', 'unreadable', 'not as the interface has them; kept with their row'],
] as const satisfies readonly [keyof NonNullable<RunSnapshot['callbacks']>, string, string][]

/** What has come back of an async run and what is still awaited; what was odd about it, where anything was. */
export function CallbacksPanel(props: {
  callbacks: NonNullable<RunSnapshot['callbacks']>
  rows: RunSnapshot['rows']
  live: boolean
}) {
  const { callbacks, rows } = props
  const receiver = useQuery(
    ask.receiver.status.queryOptions({ refetchInterval: props.live ? RECEIVER_EVERY_MS : false }),
  )
  const refused = Object.entries(receiver.data?.refused ?? {}).filter(([, times]) => times > 0)
  return (
    <Panel
      title="Callbacks"
      aside={rows.awaiting > 0 ? `${formatCount(rows.awaiting)} awaited` : 'none awaited'}
    >
      <Figures figures={toFigures(callbacks, rows)} />
      <UnexpectedCallbacks callbacks={callbacks} />
      {refused.length > 0 && (
        <p className="mt-3 quiet">
          The receiver of this workspace has refused{' '}
          {refused.map(([why, times], index) => (
            <span key={why}>
              {index > 0 && ', '}
              <SafeText text={`${formatCounted(times, 'post')} ${sayRefusal(why)}`} max={120} />
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
  return figures
}

function UnexpectedCallbacks({ callbacks }: { callbacks: NonNullable<RunSnapshot['callbacks']> }) {
  const odd = ODD.filter(([kind]) => callbacks[kind] > 0)
  if (odd.length === 0) return null
  return (
    <Table
      look="plain"
      className={styles.odd}
      caption="Callbacks that were not as usual"
      hasNoHead
      rows={odd}
      columns={[
        { isNumber: true, cell: ([kind]) => formatCount(callbacks[kind]) },
        { isRowHead: true, cell: ([, word]) => word },
        { className: 'quiet', cell: ([, , meaning]) => meaning },
      ]}
    />
  )
}
