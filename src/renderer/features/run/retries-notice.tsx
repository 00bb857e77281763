import { Anchor } from '@mantine/core'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { formatTimestamp } from '../../ui/format-time.ts'
import { Notice } from '../../ui/layout/notice.tsx'

/** The retries of a run with the way to each, and of a retry the way to the whole run. */
export function RetriesNotice(props: { summary: RunSummary; onOpenRun: (runId: string) => void }) {
  const { whole_run: whole, retries } = props.summary
  if (whole === null && retries.length === 0) return null
  return (
    <Notice kind="info" title={whole === null ? 'Counted together with its retries' : 'This is a retry'}>
      {whole !== null && (
        <p>
          Its rows are part of{' '}
          <Anchor component="button" type="button" onClick={() => props.onOpenRun(whole.run_id)}>
            the whole run
          </Anchor>
          , in which {formatCount(whole.rows.succeeded)} of {formatCounted(whole.rows.read, 'row')} succeeded.
        </p>
      )}
      {retries.map((retry) => (
        <p key={retry.run_id}>
          <Anchor component="button" type="button" onClick={() => props.onOpenRun(retry.run_id)}>
            Retry of {formatTimestamp(retry.created_at)}
          </Anchor>
          : {retry.state}, {formatCount(retry.rows.succeeded)} of {formatCounted(retry.rows.read, 'row')}{' '}
          succeeded
        </p>
      ))}
    </Notice>
  )
}
