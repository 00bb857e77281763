import { writeFileSync } from 'node:fs'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { sendsKey } from '../../../shared/operations/operations.ts'
import type { Fix } from '../../../shared/plan/fixes.ts'
import { DEFAULT_STOP_RULE } from '../../../shared/plan/plan.ts'
import { isSameSource } from '../../../shared/plan/source-fingerprint.ts'
import type { Journal } from '../journal/journal.ts'
import { describeSuccessor, findSuccessor, isDeleted } from '../journal/run-family.ts'
import {
  insertRunRecord,
  type RunRecord,
  readRunRecord,
  toStoredPlan,
  updateRunRecord,
} from '../journal/run-record.ts'
import { restoreSendingTime } from '../journal/seconds.ts'
import { wasSentWith } from '../journal/sent-with.ts'
import { insertSession, type NewSession, readSessions } from '../journal/sessions.ts'
import { type IntakeProgress, runIntake } from '../run/intake.ts'
import { copyUnsucceeded } from '../run/journal/copy-unsucceeded.ts'
import { correctRows } from '../run/journal/correct-rows.ts'
import { putBackUnsuccessful } from '../run/journal/put-back.ts'
import { rebuildSeconds, recoverUnknown, resendKeyRefused, resendUnknown } from '../run/journal/recovery.ts'
import type { SentWith } from '../run/sent-before/earlier-runs.ts'
import type { ProxyCredentials } from '../secrets/bound-secret.ts'
import { type HeaderValues, toHeaderList } from '../secrets/header-values.ts'
import { readTransport } from '../service/transport.ts'
import { fingerprintSource } from '../source/source-fingerprint.ts'
import { toDryRunFile } from '../workspace/workspace-files.ts'
import { passWarnings } from './pass-warnings.ts'
import type { RunTask } from './run-thread.ts'

/**
 * Prepares a run's journal for sending: reads the source, takes over a parent's rows, or repairs what a dead
 * process left. Returns null if `isStopped` asked to stop first, or if there is nothing to send. Throws the
 * `SluiceError` of the failure.
 */
export async function prepareRun(
  task: RunTask,
  journal: Journal,
  hooks: {
    proxyCredentials: ProxyCredentials | null
    headerValues: HeaderValues | null
    sentWith: SentWith
    onProgress: (progress: IntakeProgress) => void
    isStopped: () => boolean
  },
): Promise<RunRecord | null> {
  const check = ({ plan: { connection } }: RunRecord): void => {
    readTransport(connection, hooks.proxyCredentials)
    toHeaderList(connection.headers, hooks.headerValues, new URL(connection.baseUrl))
  }
  const isOtherKey = wasSentWith([journal.db], 'key', hooks.sentWith.key) === false
  switch (task.work.kind) {
    case 'start':
      // Under the lease, so that nobody takes the dry run for one that was killed.
      if (task.isDryRun === true) writeFileSync(toDryRunFile(task.workspace, task.runId), '', { mode: 0o600 })
      createRun(task, journal, task.work.plan)
      break
    case 'retry':
      retryRun({ ...task, isOtherKey }, journal, task.work.onUnknown, check)
      break
    case 'correct':
      correctRun({ ...task, isOtherKey }, journal, task.work, check)
      break
    case 'child':
      copyUnsucceeded(journal, { ...task, ...task.work, nowMs: Date.now() })
      break
    case 'settle':
      return null
    case 'import':
      createRun(task, journal, task.work.plan)
      return null
    case 'resume':
      resumeRun({ ...task, isOtherKey }, journal, task.work.onUnknown)
      break
  }
  const record = readRecord(task, journal)
  // Report a missing certificate, credential or header before reading the source.
  check(record)
  if (record.state !== 'intake') return record
  await noteSource(journal, record)
  const { workspace, earlierRuns, searchWorkerUrl } = task
  const isWhole = await runIntake({
    workspace,
    record,
    journal,
    limit: readSessions(journal.db).at(-1)?.trialRows ?? undefined,
    earlierRuns,
    searchWorkerUrl,
    ...hooks,
  })
  return isWhole ? readRecord(task, journal) : null
}

/**
 * Records the source's fingerprint, so that a later run can tell whether it has changed. Discards what was
 * accepted if an interrupted process had read another content of the source.
 */
async function noteSource(journal: Journal, { plan: { source } }: RunRecord): Promise<void> {
  const fingerprint = await fingerprintSource(source)
  const text = fingerprint === null ? null : JSON.stringify(fingerprint)
  const stored = readRunRecord(journal.db)
  if (stored === null) throw new Error('the journal has no run')
  const { sourceFingerprint: before, plan } = stored
  const { accept: _codes, accepted: _causes, ...unaccepted } = plan
  const isOther = before !== null && (fingerprint === null || !isSameSource(before, fingerprint))
  const changes = { source_fingerprint: text, ...(isOther && { plan: toStoredPlan(unaccepted) }) }
  journal.transact('process', () => updateRunRecord(journal.db, changes))
}

function createRun(
  { runId, appVersion, callbackBase, mediaBase, work, limit }: RunTask,
  journal: Journal,
  plan: RunRecord['plan'],
): void {
  journal.transact('power', () =>
    insertRunRecord(journal.db, {
      runId,
      runToken: runId,
      parentRunId: null,
      name: plan.name ?? runId,
      plan,
      createdAtMs: Date.now(),
      appVersion,
      callbackBase,
      mediaBase,
      isImport: work.kind === 'import',
      trialRows: limit,
    }),
  )
}

/** A continued run, perhaps with a key it has not been sent with before. */
type GoingOn = RunTask & { isOtherKey: boolean }

/** Requeues, in their own run, the rows that did not succeed. */
function retryRun(
  task: GoingOn,
  journal: Journal,
  onUnknown: 'resend' | 'skip',
  check: (record: RunRecord) => void,
): void {
  recoverForRetry(task, journal, check)
  putBackUnsuccessful(journal, { onUnknown, session: toSession(task, 'retry', onUnknown) })
}

/** The same with other fixes, and with rows that were never sent. */
function correctRun(
  task: GoingOn,
  journal: Journal,
  { fixes, onUnknown }: { fixes: readonly Fix[]; onUnknown: 'resend' | 'skip' },
  check: (record: RunRecord) => void,
): void {
  recoverForRetry(task, journal, check)
  const { workspace, accept } = task
  const session = toSession(task, 'correction', onUnknown)
  const checkWarnings = (checked: Journal) => passWarnings(checked, accept)
  correctRows(journal, { workspace, fixes, onUnknown, session, check: checkWarnings })
}

function recoverForRetry(task: RunTask, journal: Journal, check: (record: RunRecord) => void): void {
  const record = readRecord(task, journal)
  const { runId } = record
  if (record.plan.load !== undefined) throw new SluiceError({ id: 'load_not_repeatable', runId })
  if (record.state === 'intake') throw new SluiceError({ id: 'rows_unread', runId })
  // If nothing can be sent, no row is requeued.
  check(record)
  recover(journal, record)
}

function toSession(
  { appVersion, deliveredCodes, callbackTimeoutMs, isOtherKey }: GoingOn,
  kind: 'resume' | 'retry' | 'correction',
  onUnknown: 'resend' | 'skip',
): NewSession {
  const options = { onUnknown, deliveredCodes, callbackTimeoutMs, ...(isOtherKey && { isOtherKey }) }
  return { kind, startedAtMs: Date.now(), appVersion, options }
}

function resumeRun(task: GoingOn, journal: Journal, onUnknown: 'resend' | 'skip'): void {
  const record = readRunRecord(journal.db)
  if (record === null) {
    throw new SluiceError({ id: 'run_unplanned', runId: task.runId })
  }
  refuseLoad(record)
  const { parentRunId } = record
  const successor = findSuccessor(record.supersededBy, task.workspace)
  if (successor !== null) {
    throw new SluiceError({ id: 'rest_taken_over', runId: task.runId, ...describeSuccessor(successor) })
  }
  const unknownTaker = findSuccessor(record.unknownTakenBy, task.workspace)
  if (onUnknown === 'resend' && unknownTaker !== null && isDeleted(unknownTaker)) {
    throw new SluiceError({ id: 'unknown_taken_over', runId: task.runId, ...describeSuccessor(unknownTaker) })
  }
  // A child run whose copying was interrupted copies again; nothing was sent yet.
  if (record.state === 'intake' && parentRunId !== null) {
    copyUnsucceeded(journal, { ...task, parentRunId, onUnknown, nowMs: record.createdAtMs })
    return
  }
  recover(journal, record)
  const session = toSession(task, 'resume', onUnknown)
  const isTrial = task.endsWithTrial && record.state !== 'completed'
  const trialRows = isTrial ? (readSessions(journal.db).at(-1)?.trialRows ?? undefined) : undefined
  journal.transact('process', () =>
    insertSession(journal.db, { ...session, options: { ...session.options, trialRows } }),
  )
  // Rows that a retry took over are the retry's to send.
  if (onUnknown === 'resend' && unknownTaker === null) resendUnknown(journal)
  // Whoever resumes it had time to replace the key; if it is refused again, the run soon stops.
  if (sendsKey(record.plan.operation)) resendKeyRefused(journal)
}

/** Repairs what a dead process left. */
function recover(journal: Journal, record: RunRecord): void {
  recoverUnknown(journal)
  rebuildSeconds(journal)
  // A dead process's sending time is known only from the seconds it wrote.
  if (record.state === 'running') restoreSendingTime(journal, record)
}

/** What a load test measured before its interruption is complete; continuing would measure something else. */
function refuseLoad({ runId, plan, startedAtMs }: RunRecord): void {
  if (plan.load === undefined || startedAtMs === null) return
  throw new SluiceError({ id: 'load_not_resumable', runId })
}

/** The journal's record of the run, with settings for this session only. */
function readRecord({ callbackTimeoutMs, stop, systemProxy }: RunTask, journal: Journal): RunRecord {
  const record = readRunRecord(journal.db)
  if (record === null) throw new Error('the journal has no run')
  if (callbackTimeoutMs !== undefined) record.plan.callback.timeoutMs = callbackTimeoutMs
  if (stop !== undefined) record.plan.stop = { ...(record.plan.stop ?? DEFAULT_STOP_RULE), ...stop }
  if (systemProxy) record.plan.connection.proxy = systemProxy
  return record
}
