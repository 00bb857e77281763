import { existsSync } from 'node:fs'
import { basename } from 'node:path'
import type { CapacityPlan } from '../../../shared/load/capacity-plan.ts'
import { isEmpty } from '../../../shared/mapping/check-mapping.ts'
import { completeMapping, matchColumns } from '../../../shared/mapping/match-columns.ts'
import { listNeeded } from '../../../shared/messages/accept-messages.ts'
import { EXIT, type ExitCode } from '../../../shared/messages/error-entry.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { saySheetChoice } from '../../../shared/messages/mapping-messages.ts'
import { hasGuess, sayReadAs } from '../../../shared/messages/reading-messages.ts'
import { sayPassedOver } from '../../../shared/messages/used-mapping-words.ts'
import { mayAddTwice, OPERATIONS, REQUEST_FIELD } from '../../../shared/operations/operations.ts'
import type { Mapping, Plan } from '../../../shared/plan/plan.ts'
import { listSourcePaths } from '../../../shared/plan/source-paths.ts'
import { findSheetChoice } from '../../../shared/plan/source-place.ts'
import type { StoredConnection } from '../../../shared/plan/stored-connection.ts'
import { type AcceptCode, joinAccepted } from '../../../shared/run/accept-code.ts'
import { joinAcceptedCauses } from '../../../shared/run/accepted-causes.ts'
import { countSendable } from '../../../shared/run/counts.ts'
import type { SourcePreview } from '../../../shared/run/results.ts'
import { listSentBefore } from '../../../shared/run/sent-before.ts'
import type { Engine } from '../../engine/engine.ts'
import type { RunHandle } from '../../engine/engine-interface.ts'
import type { CliContext } from '../context.ts'
import { withEngine } from '../engine-access.ts'
import type { GivenKeyFlags } from '../options/key-options.ts'
import type { RunTimeFlags } from '../options/sending-options.ts'
import { toFollowOptions } from '../progress/progress-reporter.ts'
import { toPrintable } from '../terminal/output.ts'
import { toLaterTarget } from '../written-files.ts'
import { confirmSending, findGuarded, listAccepted, printAccepted } from './consent.ts'
import { dropRun, dryRun, exportK6, type OnAccepted, readOpenWarnings, readSource } from './dry-run.ts'
import { searchCapacity } from './find-capacity.ts'
import { type AskedOutputs, openLoadOutputs } from './load-outputs.ts'
import { createRunAccess, type RunAccess, type RunSecrets } from './run-access.ts'
import { settleRun } from './settle-run.ts'

/** A plan to run, and what to say first. */
export interface PlanToSend extends AskedOutputs {
  /** What a person should know before anything is sent, a sentence each. */
  notes: readonly string[]
  /** Why a run of the plan would be refused, for a dry run to say; absent or null if no reason is known. */
  refusal?: SluiceError | null
  /**
   * Called before anything is sent, once it is certain that the run can be exported as asked. Gets the
   * source's columns, or null if the source cannot be read.
   */
  beforeSending?: (columns: readonly string[] | null) => Promise<void>
  /** Called with the accepted causes of warnings, if any, after the source is read and before sending. */
  onAccepted?: OnAccepted | undefined
  /** Searches the capacity with the plan's load test as probes, instead of running it once. */
  capacity?: CapacityPlan | null
}

/** A plan with a complete mapping, and what it does that cannot be undone, a sentence each. */
type CompletePlan = PlanToSend & { lasting: readonly string[] }

/** Runs a plan to its end and prints the summary; with `--dry-run` only checks it. Returns the exit code. */
export async function sendPlan(context: CliContext, asked: PlanToSend): Promise<ExitCode> {
  const { workspace, flags } = asked
  const given = withAccepted(asked.plan, flags.accept)
  const access = createRunAccess(context, {
    workspace,
    connection: given.connection,
    operation: given.operation.kind,
    key: toGivenFlags(flags),
  })
  // --quiet hides progress, and not that rows go elsewhere.
  const notes = [...access.notes, ...(flags.quiet ? [] : [...asked.notes, ...listIgnored(given)])]
  for (const note of notes) await context.err.writeLine(toPrintable(note))
  return withEngine(context, workspace, async (engine) => {
    const { plan, columns } = await completePlan(context, engine, given, { quiet: flags.quiet === true })
    const lasting = listLasting(plan, columns)
    if (!flags.quiet) for (const note of lasting) await context.err.writeLine(toPrintable(note))
    const { exportK6: folder } = flags
    if (flags.export !== undefined) {
      await engine.runs.checkExport(
        plan,
        toLaterTarget(context, workspace, flags.export, flags, [plan.source]),
      )
    }
    await asked.beforeSending?.(columns)
    if (flags.dryRun) {
      const { onAccepted } = asked
      const refusal = asked.refusal ?? (await findRefusedKey(access))
      const toCheck = { plan, ...access.readDryRunSecrets(), ...access.readComparedKey(), refusal }
      return dryRun(context, engine, toCheck, { ...flags, onAccepted })
    }
    if (folder !== undefined) {
      const toCheck = { plan, ...access.readDryRunSecrets() }
      return exportK6(context, engine, toCheck, { ...flags, exportK6: folder })
    }
    return sendAll(context, engine, { ...asked, plan, lasting }, access)
  })
}

/** The options with a key that the plan does not have. */
function toGivenFlags({ apiKeyFile, apiKeyCommand }: GivenKeyFlags): GivenKeyFlags {
  return {
    ...(apiKeyFile === undefined ? {} : { apiKeyFile }),
    ...(apiKeyCommand === undefined ? {} : { apiKeyCommand }),
  }
}

/** Why the key of a stored connection is not sent where the run sends; null if it is, or if none is named. */
async function findRefusedKey(access: RunAccess): Promise<SluiceError | null> {
  // A key given for one command belongs to the address given with it.
  if (access.notes.length === 0 || access.hasGivenKey) return null
  try {
    await access.readSecrets()
    return null
  } catch (error) {
    if (error instanceof SluiceError) return error
    throw error
  }
}

/** The plan with further warnings accepted. */
function withAccepted<P extends Plan>(plan: P, accept: readonly AcceptCode[] | undefined): P {
  const accepted = joinAccepted(plan.accept, accept)
  return accepted.length === 0 ? plan : { ...plan, accept: accepted }
}

/** What cannot be undone. */
function listLasting({ operation, mapping }: Plan, columns: readonly string[] | null): string[] {
  const whole = { ...(columns === null ? {} : matchColumns(columns, operation)), ...mapping }
  // A whole request may have any field, and a source that was not read may have any column.
  const isOpen = columns === null || !isEmpty(whole[REQUEST_FIELD.name])
  const fills = (field: string) => isOpen || !isEmpty(whole[field])
  const lasting = OPERATIONS[operation.kind].words.lasting?.(operation, fills) ?? null
  return lasting === null ? [] : [lasting]
}

/** Parts of a plan that have no effect. */
function listIgnored({ load, mapping }: Plan): string[] {
  if (load === undefined || mapping['post_id'] === undefined) return []
  return ['The post_id mapping is ignored: every request of a load test gets a new post_id.']
}

/**
 * The plan with a guessed column for each required field that is not mapped and has no column of its name.
 * Prints each guess before anything is sent; the stored plan contains it. Unless `quiet`, also prints which
 * of several sheets is read.
 */
async function completePlan(
  context: CliContext,
  engine: Engine,
  plan: Plan,
  options: { quiet: boolean },
): Promise<{ plan: Plan; columns: readonly string[] | null }> {
  const preview = await readPreview(engine, plan)
  if (preview === null) return { plan, columns: null }
  const { columns, sheets, sheet, sheetRows = [], hiddenSheets = [] } = preview
  if (preview.files !== undefined && !options.quiet) await context.err.writeLine(sayFiles(preview.files))
  // If nobody watches, only what could be wrong is worth a line.
  const isTold = context.errTerminal.isInteractive
  const shown = options.quiet ? [] : preview.readAs.filter((readAs) => isTold || hasGuess(readAs))
  for (const readAs of shown.slice(0, FILES_SHOWN)) {
    const name = readAs.file ?? basename(plan.source.path)
    await context.err.writeLine(toPrintable(`Reading ${name} as ${sayReadAs(readAs, 'terminal')}.`))
  }
  const isSheetOpen = plan.source.sheet === undefined && !options.quiet
  if (isSheetOpen && sheets !== undefined && sheet !== undefined) {
    const choice = findSheetChoice({ sheets, sheet, rows: sheetRows, hidden: hiddenSheets }, plan.source)
    if (choice !== null) await context.err.writeLine(toPrintable(saySheetChoice(choice, 'terminal')))
  }
  if (preview.ownExport !== undefined && !options.quiet) {
    await context.err.writeLine(OWN_EXPORT_NOTES[preview.ownExport])
  }
  const { guessed, passedOver } = completeMapping(plan, columns, preview)
  for (const [field, column] of listColumns(guessed)) {
    await context.err.writeLine(
      toPrintable(
        `Using column \`${column}\` for ${field} (guessed from its name). To change it, add --map ${field}=COLUMN.`,
      ),
    )
  }
  for (const [field, column] of listColumns(matchColumns(columns, plan.operation))) {
    // A column of an object's field, such as `a.b`, matches by part of its name: the person should check it.
    if (plan.mapping[field] !== undefined || column === field || !String(column).includes('.')) continue
    await context.err.writeLine(
      toPrintable(
        `Using column \`${column}\` for ${field} (by its name). To change it, add --map ${field}=COLUMN.`,
      ),
    )
  }
  for (const passed of passedOver.filter(({ isStated }) => isStated)) {
    await context.err.writeLine(toPrintable(sayPassedOver(passed)))
  }
  const empty = passedOver.map(({ field }) => [field, { kind: 'template', template: '' } as const] as const)
  const fields = Object.keys(guessed)
  const completed = {
    ...plan,
    mapping: { ...plan.mapping, ...Object.fromEntries(empty), ...guessed },
    ...(fields.length > 0 && {
      filledBy: { ...plan.filledBy, ...Object.fromEntries(fields.map((field) => [field, 'guess' as const])) },
    }),
  }
  return { plan: completed, columns }
}

/** Files named before anything is sent; of the rest, only the count. */
const NAMED_MAX = 10

/** Files whose reading is described before sending; the summary's document describes all. */
const FILES_SHOWN = 10

function sayFiles(files: readonly { name: string }[]): string {
  const names = files.slice(0, NAMED_MAX).map(({ name }) => name)
  const rest = files.length - names.length
  return toPrintable(
    `Reading ${files.length} files as one source: ${names.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`,
  )
}

/** What to say of formulas in a source with columns of Sluice's exports. */
const OWN_EXPORT_NOTES = {
  unguarded: 'The source is an export of Sluice: apostrophes that escape its formulas are removed.',
  'as-is':
    'The source has columns of a Sluice export. Its cells are read unchanged: if formulas were escaped, their apostrophes stay.',
} as const

function listColumns(mapping: Mapping): [field: string, column: string | number][] {
  return Object.entries(mapping).flatMap(([field, source]) =>
    source.kind === 'column' ? [[field, source.column]] : [],
  )
}

/** Rows that guesses are checked against. */
const GUESSED_FROM_ROWS = 100

/** The head of the source; null if it cannot be read, which the run then reports. */
async function readPreview(engine: Engine, { source }: Plan): Promise<SourcePreview | null> {
  // Starts no thread for a source that does not exist.
  if (!listSourcePaths(source).every((path) => existsSync(path))) return null
  try {
    return await engine.runs.previewSource(source, GUESSED_FROM_ROWS)
  } catch (error) {
    if (!(error instanceof SluiceError)) throw error
    return null
  }
}

async function sendAll(
  context: CliContext,
  engine: Engine,
  toSend: CompletePlan,
  access: RunAccess,
): Promise<ExitCode> {
  const { plan, flags } = toSend
  refuseUnconfirmedResend(context, plan, flags)
  if (flags.limit !== undefined && plan.load !== undefined) throw new SluiceError({ id: 'limit_of_load' })
  const guarded = findGuarded(context, access.production, flags)
  const secrets = await access.readSecrets()
  const outputs = await openLoadOutputs(context, toSend)
  const { capacity = null } = toSend
  try {
    if (capacity !== null && plan.load !== undefined) {
      const probe = { ...plan, load: plan.load }
      const toCheck = { plan, ...access.readDryRunSecrets() }
      const open = context.canAsk ? await readOpenWarnings(context, engine, toCheck, flags) : []
      if (open === 'interrupted') return EXIT.interrupted
      const search = { plan: withAccepted(probe, listNeeded(open)), capacity, flags, guarded, open, outputs }
      return await searchCapacity(context, engine, search, access)
    }
    // Warnings accepted beforehand are listed before anything is sent.
    const isAccepted = plan.accept !== undefined || plan.accepted !== undefined
    const started =
      guarded === null && !context.canAsk && !isAccepted
        ? await engine.runs.startRun(plan, { ...secrets, ...toLimit(flags) })
        : await startConfirmed(context, engine, toSend, guarded, secrets)
    if (typeof started === 'number') return started
    outputs.follow(started)
    return await settleRun(context, engine, started, flags, access)
  } finally {
    await outputs.close()
  }
}

/** Without a terminal, resending must be confirmed before the run. Throws `NOT_CONFIRMED`. */
function refuseUnconfirmedResend(context: CliContext, { operation }: Plan, flags: RunTimeFlags): void {
  if (!mayAddTwice(operation.kind) || flags.onUnknown !== 'resend') return
  if (flags.resendIndexAdds || context.canAsk) return
  throw new SluiceError({ id: 'resend_unconfirmed' })
}

function toLimit({ limit }: RunTimeFlags): { limit?: number } {
  return limit === undefined ? {} : { limit }
}

/** Reads the source, then asks all questions; an exit code if declined, or interrupted before production. */
async function startConfirmed(
  context: CliContext,
  engine: Engine,
  { plan, flags, lasting, onAccepted }: CompletePlan,
  guarded: StoredConnection | null,
  secrets: RunSecrets,
): Promise<RunHandle | ExitCode> {
  const handle = await engine.runs.startRun(plan, { ...secrets, ...toLimit(flags), hold: true })
  const how = await readSource(context, handle, toFollowOptions(flags))
  if (how === 'interrupted') {
    if (guarded === null) return handle
    await dropRun(engine, handle)
    return EXIT.interrupted
  }
  const accept = await confirmRows(context, engine, handle, {
    baseUrl: plan.connection.baseUrl,
    guarded,
    lasting,
    limit: flags.limit ?? Number.POSITIVE_INFINITY,
    isQuiet: flags.quiet === true,
    onAccepted,
  }).catch(async (error: unknown) => {
    await dropRun(engine, handle)
    throw error
  })
  if (accept === null) {
    await dropRun(engine, handle)
    await context.err.writeLine('Nothing was sent.')
    return EXIT.badInput
  }
  handle.begin({ accept })
  return handle
}

/** Asks about the rows of a held run, if there are any to send, and about its warnings. */
async function confirmRows(
  context: CliContext,
  engine: Engine,
  { runId }: RunHandle,
  {
    limit,
    isQuiet,
    onAccepted,
    ...question
  }: {
    baseUrl: string
    guarded: StoredConnection | null
    lasting: readonly string[]
    limit: number
    isQuiet: boolean
    onAccepted: PlanToSend['onAccepted']
  },
): Promise<AcceptCode[] | null> {
  // Counted in the journal: the latest snapshot may be older than the last row.
  const summary = await engine.runs.summarizeRun(runId)
  const { rows } = summary
  const sendable = Math.min(countSendable(rows), limit)
  const told = listSentBefore(
    summary.sent_before,
    { skipped: rows.skipped, sendable: countSendable(rows), isOnlyNew: summary.only_new === true },
    'terminal',
  )
  if (!isQuiet) for (const line of told) await context.err.writeLine(toPrintable(line))
  const open = await engine.results.readOpenWarnings(runId)
  // A warning can be about something that is not sent, such as a fix that fits no row.
  if (sendable === 0 && open.length === 0) return []
  const before = listAccepted(await engine.results.readProblems(runId), open)
  if (before.length > 0 && !isQuiet) await printAccepted(context, before)
  const accept = await confirmSending(context, { ...question, what: formatCounted(sendable, 'row'), open })
  if (accept !== null) {
    const accepted = joinAcceptedCauses(undefined, await engine.results.readColumns(runId), [
      ...before,
      ...open,
    ])
    await onAccepted?.(accepted)
  }
  return accept
}
