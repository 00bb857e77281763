import { describeLoad } from '../../../shared/load/load.ts'
import { listNeeded } from '../../../shared/messages/accept-messages.ts'
import { EXIT, type ExitCode } from '../../../shared/messages/error-entry.ts'
import { sayError } from '../../../shared/messages/error-messages.ts'
import type { SluiceError } from '../../../shared/messages/errors.ts'
import { formatBytes, formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { sayCorrected } from '../../../shared/messages/fix-messages.ts'
import { prettyJson } from '../../../shared/messages/pretty-json.ts'
import { findNeeds } from '../../../shared/messages/problem-traits.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { formatRow, toRowAndRecord } from '../../../shared/plan/source-place.ts'
import type { Fact } from '../../../shared/report/report.ts'
import { listSourceFacts, toSentBeforeFact } from '../../../shared/report/summary-report.ts'
import { type AcceptedCauses, joinAcceptedCauses } from '../../../shared/run/accepted-causes.ts'
import { countSendable } from '../../../shared/run/counts.ts'
import { UNSENT_COUNTS } from '../../../shared/run/item-state.ts'
import type { ProblemGroup } from '../../../shared/run/problem.ts'
import type { SourceRead } from '../../../shared/run/read-as.ts'
import type { RowDetail } from '../../../shared/run/results.ts'
import type { CorrectedCounts, RowCounts } from '../../../shared/run/run.ts'
import type { SentBeforeSummary } from '../../../shared/run/sent-before.ts'
import type { UsedMapping } from '../../../shared/run/used-mapping.ts'
import type { Engine } from '../../engine/engine.ts'
import type { RunHandle, StartOptions } from '../../engine/engine-interface.ts'
import { type CliContext, watchInterrupts } from '../context.ts'
import { SCHEMA_VERSION, writeDocumentLine } from '../documents/write-document.ts'
import { resolveFromCaller } from '../invocation.ts'
import type { ReportingFlags } from '../options/shared-options.ts'
import { createProgressReporter, type FollowOptions, toFollowOptions } from '../progress/progress-reporter.ts'
import { formatOpenWarnings } from '../summary/open-warnings.ts'
import {
  formatProblemGroups,
  listProblemSentences,
  toWordedGroup,
  toWordedGroups,
} from '../summary/row-text.ts'
import { toPrintable } from '../terminal/output.ts'
import { formatReport } from '../terminal/report-text.ts'
import { sayUnsupported } from '../unsupported-options.ts'
import { listAccepted } from './consent.ts'

/** Receives the causes of warnings that are accepted for a source; undefined if none is. */
export type OnAccepted = (accepted: AcceptedCauses | undefined) => Promise<void>

/** A plan to check without sending anything. */
export type PlanToCheck = { plan: Plan } & Pick<StartOptions, 'apiKey' | 'proxyCredentials' | 'headerValues'>

/** Reads and checks a plan's source, works with its rows, and removes the run. Sends nothing. */
async function tryOut<Found>(
  context: CliContext,
  engine: Engine,
  { plan, ...secrets }: PlanToCheck,
  flags: ReportingFlags,
  work: (runId: string) => Promise<Found>,
): Promise<Found | 'interrupted'> {
  const handle = await engine.runs.startRun(plan, { ...secrets, hold: true, isDryRun: true })
  try {
    const how = await readSource(context, handle, toFollowOptions(flags))
    return how === 'interrupted' ? how : await work(handle.runId)
  } finally {
    await dropRun(engine, handle)
  }
}

/**
 * Reads, maps and checks a source as a run would; shows its problems and the first request. Sends and keeps
 * nothing. Exits with 0 if every row can be sent, 1 if some can, 2 if none can.
 */
export async function dryRun(
  context: CliContext,
  engine: Engine,
  toCheck: PlanToCheck & { refusal?: SluiceError | null },
  flags: ReportingFlags & { onAccepted?: OnAccepted | undefined },
): Promise<ExitCode> {
  const { refusal = null } = toCheck
  const exit = await tryOut(context, engine, toCheck, flags, async (runId) => {
    const {
      rows,
      corrected = null,
      source_read: read_as = null,
      sent_before: sentBefore = null,
      mapping,
    } = await engine.runs.summarizeRun(runId)
    const found: Findings = {
      rows,
      corrected,
      sourceRead: read_as,
      sentBefore,
      mapping,
      problems: await engine.results.readProblems(runId),
      open: await engine.results.readOpenWarnings(runId),
      first: await readFirstRequest(engine, runId),
      refusal:
        refusal === null ? null : sayError(refusal.said, 'terminal', context.outTerminal.commandPrefix),
    }
    const before = listAccepted(found.problems, found.open)
    const accepted = joinAcceptedCauses(undefined, await engine.results.readColumns(runId), before)
    await flags.onAccepted?.(accepted)
    if (flags.json) await context.out.writeLine(toDocument(toCheck.plan, found))
    else await printFindings(context, toCheck.plan, found)
    if (countSendable(rows) === 0 && (rows.skipped ?? 0) === 0) return EXIT.badInput
    return rows.invalid === 0 ? EXIT.ok : EXIT.rowsFailed
  })
  return exit === 'interrupted' ? EXIT.interrupted : exit
}

/** Reads a plan's source as {@link dryRun} does, for the causes of warnings that a person must accept. */
export function readOpenWarnings(
  context: CliContext,
  engine: Engine,
  toCheck: PlanToCheck,
  flags: ReportingFlags,
): Promise<ProblemGroup[] | 'interrupted'> {
  return tryOut(context, engine, toCheck, flags, (runId) => engine.results.readOpenWarnings(runId))
}

interface Findings {
  rows: RowCounts
  /** What the fixes of the plan changed; null if they changed nothing. */
  corrected: CorrectedCounts | null
  sourceRead: SourceRead | null
  /** What earlier runs sent of the source; null if nothing. */
  sentBefore: SentBeforeSummary | null
  mapping: UsedMapping | undefined
  problems: ProblemGroup[]
  /** Causes of warnings that a run would ask about before it sends anything. */
  open: ProblemGroup[]
  first: RowDetail | null
  /** Why a run would be refused before it sends anything. */
  refusal: { code: string; message: string; hint: string } | null
}

/** Named counts of rows that are not sent; `wanted` chooses those left out on purpose, others, or both. */
function listUnsent(rows: RowCounts, wanted = [false, true]): [name: string, rows: number][] {
  return UNSENT_COUNTS.flatMap(({ count, isIntended }) => {
    const counted = wanted.includes(isIntended) ? rows[count] : undefined
    return counted === undefined ? [] : [[count, counted]]
  })
}

function toDryRunCounts(rows: RowCounts) {
  const [first, last] = [[false], [true]].map((wanted) => Object.fromEntries(listUnsent(rows, wanted)))
  return { read: rows.read, ...first, sendable: countSendable(rows), ...last }
}

/** The findings as `--json` prints them. */
function toDocument(
  { load, connection }: Plan,
  { rows, corrected, sourceRead, sentBefore, mapping, problems, open, first, refusal }: Findings,
): string {
  const rest = JSON.stringify({
    schema_version: SCHEMA_VERSION,
    dry_run: true,
    ...(load === undefined ? {} : { load: describeLoad(load, connection.timeoutMs) }),
    rows: toDryRunCounts(rows),
    ...(corrected !== null && { corrected }),
    ...(sentBefore !== null && { sent_before: sentBefore }),
    ...(sourceRead !== null && { source_read: sourceRead }),
    ...(mapping !== undefined && { mapping }),
    problems: toWordedGroups(problems),
    ...(refusal !== null && {
      refusal: { code: refusal.code, message: refusal.message, hint: refusal.hint },
    }),
    to_accept: open.map((group) => ({ accept: findNeeds(group), ...toWordedGroup(group) })),
  })
  if (first === null) return prettyJson(addMember(rest, 'first_request', 'null'))
  const { row, place } = first.result
  const request = { ...toRowAndRecord(row, place), method: first.requestMethod, url: first.requestUrl }
  // The body stays JSON text, so that numbers too long for a double keep their digits.
  const sent = addMember(JSON.stringify(request), 'body', first.requestBody ?? 'null')
  return prettyJson(addMember(rest, 'first_request', sent))
}

async function printFindings(context: CliContext, plan: Plan, found: Findings): Promise<void> {
  const { out, outTerminal } = context
  const { rows, corrected, sourceRead, sentBefore, mapping, problems, open, first, refusal } = found
  const counted = [
    `${formatCount(rows.read)} read`,
    `${formatCount(countSendable(rows))} can be sent`,
    ...listUnsent(rows).map(([name, count]) => `${formatCount(count)} ${name.replaceAll('_', ' ')}`),
  ].join(', ')
  const facts: Fact[] = [
    { label: 'Dry run', lines: ['nothing was sent'] },
    // What a load test will do, a line for each thing that was chosen.
    {
      label: 'Load',
      lines: plan.load === undefined ? [] : describeLoad(plan.load, plan.connection.timeoutMs),
    },
    ...listSourceFacts({ source_read: sourceRead, mapping }),
    { label: 'Rows', lines: [counted] },
    toSentBeforeFact({ rows, sent_before: sentBefore, only_new: plan.onlyNew !== undefined }),
    { label: 'Scores', lines: lacksScores(plan) ? ['answers have none; --legacy requests them'] : [] },
    { label: 'Corrected', lines: corrected === null ? [] : [sayCorrected(corrected)] },
  ]
  await out.writeLine(formatReport(outTerminal, [{ facts }]))
  if (problems.length > 0) {
    await out.writeLine()
    await out.writeLine(outTerminal.tone('strong', formatCounted(problems.length, 'problem')))
    for (const line of formatProblemGroups(outTerminal, problems, EXAMPLES, 'with_fixes')) {
      await out.writeLine(`  ${line}`)
    }
    const unsupported = sayUnsupported(context.command, listProblemSentences(problems).join('\n'))
    if (unsupported !== '') await out.writeLine(`  ${unsupported}`)
  }
  if (open.length > 0) {
    await out.writeLine()
    await out.writeLine(outTerminal.tone('strong', 'To confirm before sending'))
    for (const line of formatOpenWarnings(outTerminal, open)) await out.writeLine(line)
    await out.writeLine(`  Without a terminal, add --accept ${listNeeded(open).join(',')}`)
  }
  if (refusal !== null) {
    await out.writeLine()
    await out.writeLine(outTerminal.tone('strong', 'A run would be refused'))
    await out.writeLine(outTerminal.tone('bad', `  ${toPrintable(refusal.message)}`))
    await out.writeLine(`  ${toPrintable(refusal.hint)}`)
  }
  await printFirstRequest(context, first)
}

/** Whether answers will have no scores of classes, which a person should know before sending all rows. */
function lacksScores({ operation, load }: Plan): boolean {
  return load === undefined && operation.kind === 'task' && operation.api === 'v1' && !operation.legacy
}

const EXAMPLES = 10

async function readFirstRequest(engine: Engine, runId: string): Promise<RowDetail | null> {
  const page = await engine.results.readPage(runId, { filter: { state: 'pending' }, offset: 0, limit: 1 })
  const [first] = page.rows
  return first === undefined ? null : engine.results.readRow(runId, first.row)
}

async function printFirstRequest(context: CliContext, detail: RowDetail | null): Promise<void> {
  const { out, outTerminal } = context
  if (detail === null) return
  await out.writeLine()
  await out.writeLine(
    `${outTerminal.tone('strong', 'First request')}, row ${formatRow(detail.result.place)}  ${detail.requestMethod} ${toPrintable(detail.requestUrl)}`,
  )
  if (detail.requestBody === null) return
  for (const line of prettyJson(detail.requestBody).split('\n')) {
    await out.writeLine(`  ${toPrintable(line)}`)
  }
}

/** Adds a member to the text of a JSON object that is not empty. */
function addMember(object: string, name: string, json: string): string {
  return `${object.slice(0, -1)},${JSON.stringify(name)}:${json}}`
}

/**
 * Writes a plan's load test as a k6 project (`--export-k6 FOLDER`), which reads the key from the environment
 * when it is run. Sends and keeps nothing.
 */
export async function exportK6(
  context: CliContext,
  engine: Engine,
  toCheck: PlanToCheck,
  flags: ReportingFlags & { exportK6: string },
): Promise<ExitCode> {
  const exit = await tryOut(context, engine, toCheck, flags, async (runId) => {
    const file = resolveFromCaller(flags.exportK6, context.env)
    const { rows, sizeBytes } = await engine.results.exportRun(runId, { file, format: 'k6' })
    if (flags.json) await writeDocumentLine(context.out, { file, rows, bytes: sizeBytes })
    else {
      await context.out.writeLine(
        `${formatCounted(rows, 'row')} in ${file} (${formatBytes(sizeBytes)}); see its README.md to run it`,
      )
    }
    return EXIT.ok
  })
  return exit === 'interrupted' ? EXIT.interrupted : exit
}

/**
 * Shows a held run's progress until its source is read and checked. Ctrl-C stops the run; a second Ctrl-C
 * leaves at once. Returns whether the run was interrupted. Throws the `SluiceError` that ended intake.
 */
export async function readSource(
  context: CliContext,
  handle: RunHandle,
  options: FollowOptions,
): Promise<'read' | 'interrupted'> {
  handle.ended.catch(() => {})
  const progress = createProgressReporter(context, options)
  const stopListening = handle.onSnapshot(progress.update)
  let isInterrupted = false
  const stopWatching = watchInterrupts({
    first: () => {
      isInterrupted = true
      handle.stop()
    },
    second: () => process.exit(EXIT.interrupted),
  })
  try {
    await Promise.race([handle.ready, handle.ended])
  } finally {
    stopWatching()
    stopListening()
    progress.finish()
  }
  return isInterrupted ? 'interrupted' : 'read'
}

/** Ends a held run that has sent nothing, and removes it. */
export async function dropRun(
  engine: { runs: { deleteRun(runId: string): Promise<void> } },
  handle: RunHandle,
): Promise<void> {
  handle.stop()
  await handle.ended.catch(() => {})
  await engine.runs.deleteRun(handle.runId).catch(() => {})
}
