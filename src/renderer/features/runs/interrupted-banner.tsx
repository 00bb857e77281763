import { Button } from '@mantine/core'
import type { RunEntry } from '../../../shared/bridge/runs.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { formatAgo } from '../../ui/format-time.ts'
import { Notice } from '../../ui/layout/notice.tsx'
import { isLoadTest } from '../../ui/states/is-load-test.ts'
import { SafeText } from '../../ui/text/safe-text.tsx'

/** Says that a run was cut off, what is left of it, and where to look at it and go on. */
export function InterruptedBanner(props: { entries: RunEntry[]; onReview: (runId: string) => void }) {
  const cut = props.entries.filter(
    ({ summary }) =>
      !isLoadTest(summary) &&
      summary.state === 'interrupted' &&
      summary.rows.not_sent + summary.rows.awaiting > 0,
  )
  const newest = cut[0]?.summary
  if (newest === undefined) return null
  const { rows } = newest
  const awaiting = rows.awaiting === 0 ? '' : `, ${formatCounted(rows.awaiting, 'callback')} still awaited`
  const unknown =
    rows.unknown === 0 ? '' : `, and of ${formatCounted(rows.unknown, 'row')} nobody knows the fate`
  return (
    <Notice
      kind="warning"
      title={
        <>
          <SafeText text={newest.name} max={60} /> was interrupted{' '}
          {formatAgo(newest.ended_at ?? newest.started_at ?? newest.created_at, Date.now())}
        </>
      }
      actions={
        <Button variant="default" onClick={() => props.onReview(newest.run_id)}>
          Review and resume
        </Button>
      }
    >
      {formatCounted(rows.not_sent, 'row')} not sent{awaiting}
      {unknown}. Nothing is sent again without a word.
      {cut.length > 1 && ` ${formatCounted(cut.length - 1, 'more run')} in the same state below.`}
    </Notice>
  )
}
