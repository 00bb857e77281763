import { Anchor } from '@mantine/core'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { sayCorrected } from '../../../shared/messages/fix-messages.ts'
import { adviseInWindow, findMendingStep, type MendingStep } from '../../../shared/messages/outcome-advice.ts'
import { ABOUT_DELAYS, MAY_INCLUDE_DELAYS } from '../../../shared/messages/own-delays.ts'
import { listRetries, listRunWarnings, type RunSession, type RunSummary } from '../../../shared/run/run.ts'
import { describeCached, describeLost, describeThrottling } from '../../../shared/run/run-view.ts'
import { askCauseRequest } from '../../bridge/asked-request.ts'
import { useLiveRuns } from '../../bridge/live-runs.ts'
import { ServiceMessage } from '../../ui/content/service-message.tsx'
import { ActionButton } from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { Notice, Panel } from '../../ui/layout/screen.tsx'
import { FactList } from '../../ui/table/table.tsx'
import { SafeText, Sentence, toSentence } from '../../ui/text/safe-text.tsx'

export function RetriesNotice(props: { summary: RunSummary; onOpenRun: (runId: string) => void }) {
  const { run_id: runId, whole_run: whole, retries } = props.summary
  const own = listRetries(props.summary).filter((session) => session.run_id === runId)
  if (whole === null && retries.length === 0 && own.length === 0) return null
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
      {own.map((session) => (
        <p key={session.number}>{describeSession(session, props.summary)}</p>
      ))}
      {retries.map((retry) => (
        <p key={retry.run_id}>
          <Anchor component="button" type="button" onClick={() => props.onOpenRun(retry.run_id)}>
            Retry of {formatTimestamp(retry.created_at)}
          </Anchor>
          : {retry.phase ?? retry.state}, {formatCount(retry.rows.succeeded)} of{' '}
          {formatCounted(retry.rows.read, 'row')} succeeded
        </p>
      ))}
    </Notice>
  )
}

/** A retry or correction of a run: how many rows it took over, and what came of them once it is over. */
export function describeSession(
  session: RunSession,
  { state, sessions }: Pick<RunSummary, 'state' | 'sessions'>,
): string {
  const { kind, started_at, rows_taken: taken, requests } = session
  const words = `${kind === 'correction' ? 'Correction' : 'Retry'} of ${formatTimestamp(started_at)}: ${formatCounted(taken, 'row')}`
  // While a run sends, its summary is from before that.
  if (state === 'running' && sessions.at(-1) === session) return `${words}, in progress`
  return `${words}, ${formatCount(requests.succeeded)} of ${formatCounted(requests.sent, 'request')} succeeded`
}

export interface NewKey {
  name: string
  since: string
  /** Requests that were rejected by then; a key that was refused after that is none to continue with. */
  refusedAt: number
}

/** Says since when a run has used another key. */
export function KeyNotice({ newKey, isPaused }: { newKey: NewKey; isPaused: boolean }) {
  return (
    <Notice
      kind="good"
      title={
        <SafeText text={`The run uses ${newKey.name} since ${formatTimestamp(newKey.since)}`} max={200} />
      }
    >
      {isPaused ? 'Press Resume to continue with it.' : 'New requests use it.'}
    </Notice>
  )
}

const MENDING: Record<MendingStep, string> = {
  operation: 'Change the operation',
  mapping: 'Change the mapping',
}

/** Says that the service refused every row for one reason, and links to the step that can correct that. */
export function RefusedNotice(props: { summary: RunSummary; onMend: (step: MendingStep) => void }) {
  const { rows, errors, operation } = props.summary
  const step = findMendingStep(rows, errors, operation)
  const [refused] = errors.filter(({ outcome }) => outcome === 'rejected')
  if (step === null || refused === undefined) return null
  return (
    <Notice
      kind="warning"
      title={`The service rejected ${rows.rejected === 1 ? 'the row' : `all ${formatCounted(rows.rejected, 'row')}`} for the same reason`}
      actions={<ActionButton label={MENDING[step]} onClick={() => props.onMend(step)} />}
    >
      <p>
        <ServiceMessage message={refused.message} request={askCauseRequest(props.summary.run_id, refused)}>
          {(text) => <Sentence text={text} />}
        </ServiceMessage>
      </p>
      <p>{adviseInWindow(refused, operation)} A new run keeps the source and everything else you have set.</p>
    </Notice>
  )
}

/** Says that rows succeeded without their result, so that triggered rules are missing. */
export function LostNotice({ summary }: { summary: RunSummary }) {
  const lost = describeLost(summary)
  return lost === null ? null : (
    <Notice kind="warning" title="Some results are missing">
      {toSentence(lost)}
    </Notice>
  )
}

/** Further facts that readers of the figures need: corrections, throttling, the cache. */
export function NotesPanel({ summary }: { summary: RunSummary }) {
  const { corrected } = summary
  const throttling = describeThrottling(summary)
  const cached = describeCached(summary)
  if (corrected === undefined && throttling === null && cached === null) return null
  return (
    <Panel title="Notes">
      <FactList
        facts={[
          corrected !== undefined && ['Corrected', sayCorrected(corrected)],
          throttling !== null && ['Throttling', throttling],
          cached !== null && ['From cache', cached],
        ]}
      />
    </Panel>
  )
}

/** Warnings about a run that have a notice or a figure of their own. */
const SHOWN_APART = new Set(['CUT_OFF', 'CONNECTIONS_NOT_REUSED'])

/** Why a run stopped, was cut off or slowed, and other warnings; offers another key if it was refused. */
export function StopNotice(props: {
  runId: string
  /** Asks for another key; null if the key cannot be changed. */
  onKey: (() => void) | null
  /** Continues although the service answers with other ids, or however many rows do not succeed. */
  onGoOn: (options: { accept: ['ids_rewritten'] } | { despiteErrors: true }) => void
}) {
  const { runId, onKey, onGoOn } = props
  const isPaused = useLiveRuns((live) => live.snapshots[runId]?.phase === 'paused')
  const notice = useLiveRuns((live) => live.snapshots[runId]?.notice)
  const warnings = useLiveRuns((live) => live.snapshots[runId]?.warnings) ?? []
  const cutOff = warnings.find(({ code }) => code === 'CUT_OFF')
  const others = listRunWarnings(warnings.filter(({ code }) => !SHOWN_APART.has(code)))
  const limited = useLiveRuns((live) => live.summaries[runId]?.generator.limited)
  return (
    <>
      {notice !== null && notice !== undefined && (
        <Notice
          kind="warning"
          title={<SafeText text={notice.reason} max={600} lines />}
          actions={
            notice.code === 'ids_rewritten' && isPaused ? (
              <ActionButton
                label="It rewrites ids: go on"
                onClick={() => onGoOn({ accept: ['ids_rewritten'] })}
              />
            ) : notice.code === 'mostly_errors' && isPaused ? (
              <ActionButton label="Go on despite errors" onClick={() => onGoOn({ despiteErrors: true })} />
            ) : (
              onKey !== null &&
              notice.code === 'key_refused' && <ActionButton label="Use another API key…" onClick={onKey} />
            )
          }
        >
          {notice.advice === null ? undefined : <SafeText text={notice.advice} max={600} lines />}
        </Notice>
      )}
      {cutOff !== undefined && (
        <Notice kind="warning" title="The figures of this run are incomplete">
          {cutOff.message}
        </Notice>
      )}
      {others.map((message) => (
        <Notice key={message} kind="warning" title={<SafeText text={message} max={600} lines />} />
      ))}
      {limited === true && (
        <Notice kind="warning" title={MAY_INCLUDE_DELAYS}>
          {ABOUT_DELAYS}
        </Notice>
      )}
    </>
  )
}
