import { existsSync, globSync } from 'node:fs'
import { join, sep } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import type { CapacityPlan } from '../../../shared/load/capacity-plan.ts'
import type { Load } from '../../../shared/load/load.ts'
import { withColumnNames } from '../../../shared/mapping/kept-columns.ts'
import { keepKnownFields } from '../../../shared/mapping/match-columns.ts'
import { LAST_MAPPING } from '../../../shared/mapping/saved-mappings.ts'
import { EXIT } from '../../../shared/messages/error-entry.ts'
import { SluiceError, toSluiceError } from '../../../shared/messages/errors.ts'
import { findNeeds } from '../../../shared/messages/problem-traits.ts'
import { hasModes, isAsync, type Operation } from '../../../shared/operations/operations.ts'
import { CALLBACK_OPTIONS } from '../../../shared/options/callback-options.ts'
import { nameFlag } from '../../../shared/options/plan-options.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { SOURCE_ENDINGS_TEXT } from '../../../shared/plan/source-formats.ts'
import type { StoredConnection } from '../../../shared/plan/stored-connection.ts'
import { refuseWidePattern } from '../../../shared/plan/wide-pattern.ts'
import type { AcceptedCauses } from '../../../shared/run/accepted-causes.ts'
import { quoteForShell } from '../../../shared/shell-command.ts'
import { findConnection, findConnectionInUse, readConnections } from '../../engine/workspace/connections.ts'
import { findNamed } from '../../engine/workspace/named-entries.ts'
import { writePlanFile } from '../../engine/workspace/plan-file.ts'
import { readSavedMappings } from '../../engine/workspace/saved-mappings.ts'
import { removeStdin, storeStdin } from '../../engine/workspace/stdin-source.ts'
import type { CliContext } from '../context.ts'
import { resolveWorkspace, withEngine } from '../engine-access.ts'
import { resolveFromCaller } from '../invocation.ts'
import { toPlan } from '../options/plan-from-flags.ts'
import {
  addLimitOption,
  addPaceOptions,
  addSendingOptions,
  type PaceFlags,
  type SendingFlags,
} from '../options/sending-options.ts'
import { noteCorrectedUrls, type ServiceFlags, toConnectionInput } from '../options/service-options.ts'
import { addExamples } from '../options/shared-options.ts'
import { readFlags } from '../options/table-options.ts'
import { findUntrusted } from '../session/consent.ts'
import type { NamedFiles } from '../session/load-outputs.ts'
import { sendPlan } from '../session/send-plan.ts'
import { toPrintable } from '../terminal/output.ts'

/** A command that starts a run from a source. */
export interface SendingCommand<Own extends object> {
  name: string
  /** What the source holds, for the help of the argument. */
  source: string
  /** Its line in the list of its sibling commands; the list of all commands has its own words. */
  summary?: string
  description: string
  /** Declares the command's own options, before those of every sending command. */
  addOptions(command: Command): void
  toOperation(flags: Own): Operation
  /**
   * Finds the source of a command that needs none named; if there is nothing to send, says so and returns
   * null. `baseUrl` is where the requests go.
   */
  findSource?(
    sources: readonly string[],
    options: { flags: SendingFlags & Own; workspace: string; baseUrl: string },
  ): Promise<readonly string[] | null>
  /** Whether rows that were sent before can be skipped (default: true, except for load tests). */
  offersOnlyNew?: boolean
  /** Examples for the help, without the program's name. */
  examples: readonly string[]
  /** Makes it a load test, whose pace is among its own options. */
  toLoad?(flags: Own): Load
  /** The capacity search that a load test was asked for; null if none was. */
  toCapacity?(load: Load, flags: Own): CapacityPlan | null
}

/** The source that stands for standard input. */
const STDIN = '-'

function refuseForStdin(sources: readonly string[], { format, savePlan }: SendingFlags): void {
  if (sources.length > 1) throw new InvalidArgumentError('- (stdin) cannot be combined with other sources.')
  if (format === undefined || format === 'folder') {
    throw new InvalidArgumentError('- (stdin) needs --format csv, tsv, jsonl, openai-batch or xlsx.')
  }
  if (savePlan !== undefined) {
    throw new InvalidArgumentError(
      '--save-plan cannot be used with - (stdin): a plan file must name a source file.',
    )
  }
}

/** Stores standard input in the workspace, where it is kept as long as its run. */
function readStdin(
  context: CliContext,
  workspace: string,
  { format = 'csv' }: SendingFlags,
): Promise<string> {
  return storeStdin(workspace, context.openStdin(), format === 'openai-batch' ? '.jsonl' : `.${format}`)
}

/** The stored connection that is named or, if no address is given, the one in use. */
function findStored(workspace: string, flags: ServiceFlags): StoredConnection | null {
  if (flags.connection !== undefined) return findConnection(readConnections(workspace), flags.connection)
  return flags.baseUrl === undefined ? findConnectionInUse(readConnections(workspace)) : null
}

/** A sentence that names the given options without effect on this operation; empty if there are none. */
function noteIdleOptions(operation: Operation, flags: SendingFlags): string[] {
  if (isAsync(operation)) return []
  const servesMedia = flags.mediaHost || flags.mediaUrl !== undefined
  const given = Object.keys(readFlags(CALLBACK_OPTIONS, flags))
    .filter((name) => !(servesMedia && (name === 'host' || name === 'port')))
    .map((name) => nameFlag(`callback.${name}`))
  if (given.length === 0) return []
  const has = given.length === 1 ? 'has' : 'have'
  const why = hasModes(operation) ? 'without --async' : 'for this operation, which has no callbacks'
  return [`${given.join(', ')} ${has} no effect ${why}.`]
}

/** A plan takes all headers of the connection that it names, so a removed one would come back. */
function refuseUnkeptRemoval({ savePlan, removeHeader }: SendingFlags): void {
  if (savePlan === undefined || removeHeader === undefined) return
  throw new InvalidArgumentError(
    '--remove-header cannot be combined with --save-plan: a plan has all headers of its connection. Give it to the command plan',
  )
}

/**
 * Saves the plan with `--save-plan`, without accepted warnings: their causes are known only once the source
 * is read. Throws `BAD_USAGE` or `WORKSPACE_UNUSABLE`.
 */
async function savePlan(
  { env, err, errTerminal }: CliContext,
  workspace: string,
  given: Plan,
  flags: SendingFlags,
): Promise<void> {
  if (flags.savePlan === undefined) return
  const { accept: _codes, ...plan } = given
  const isReplaced = writePlanFile(resolveFromCaller(flags.savePlan, env), plan)
  if (flags.quiet) return
  // Without a terminal, a plan that no stored connection covers runs only with this option.
  const trust = findUntrusted(plan, readConnections(workspace), {}) === null ? '' : ' --trust-plan'
  await err.writeLine(
    `Plan ${isReplaced ? 'replaced' : 'saved'}: ${toPrintable(flags.savePlan)}. Run it with: ${errTerminal.commandPrefix} plan ${toPrintable(quoteForShell(flags.savePlan))}${trust}`,
  )
}

/** Adds the accepted causes of warnings to the plan of `--save-plan`, and names codes without a cause. */
async function saveAccepted(
  { env, err }: CliContext,
  { accept = [], ...plan }: Plan,
  flags: SendingFlags,
  accepted: AcceptedCauses | undefined,
): Promise<void> {
  if (flags.savePlan === undefined) return
  if (accepted !== undefined) writePlanFile(resolveFromCaller(flags.savePlan, env), { ...plan, accepted })
  const needed = (accepted?.causes ?? []).map(({ problem: code }) => findNeeds({ severity: 'warning', code }))
  const unused = accept.filter((code) => !needed.includes(code))
  if (unused.length === 0 || flags.quiet) return
  await err.writeLine(
    `The plan does not accept ${unused.join(', ')}, since the source has no such warnings. To accept them whatever a source has, add "accept" with the codes to the plan.`,
  )
}

/** Adds a sending command with its exit codes and its options in groups. */
export function addSendingCommand<Own extends object>(
  parent: Command,
  context: CliContext,
  definition: SendingCommand<Own>,
): Command {
  const { findSource } = definition
  const command = parent
    .command(definition.name)
    .argument(
      findSource === undefined ? '<source...>' : '[source...]',
      `${definition.source}: ${SOURCE_ENDINGS_TEXT} files, also as .gz, patterns such as 'posts/*.csv', folders, or - for stdin`,
    )
    .summary(definition.summary ?? '')
    .description(definition.description)
  definition.addOptions(command)
  const { toLoad, toCapacity } = definition
  const isLoad = toLoad !== undefined
  const { offersOnlyNew = !isLoad } = definition
  const sending = addSendingOptions(command, isLoad ? () => command : addPaceOptions, { offersOnlyNew })
  const limited = isLoad ? sending : addLimitOption(sending)
  limited.action(async (named: string[], flags: SendingFlags & PaceFlags & Own) => {
    const workspace = resolveWorkspace(flags.workspace, context.env)
    const stored = findStored(workspace, flags)
    const operation = definition.toOperation(flags)
    const { baseUrl } = toConnectionInput(flags, stored, context.env)
    const sources = findSource === undefined ? named : await findSource(named, { flags, workspace, baseUrl })
    if (sources === null) return
    const isStdin = sources.includes(STDIN)
    if (isStdin) refuseForStdin(sources, flags)
    refuseUnkeptRemoval(flags)
    const load = toLoad?.(flags) ?? null
    const capacity = load === null ? null : (toCapacity?.(load, flags) ?? null)
    const toPlanOf = (sourcePaths: readonly [string, ...string[]]) =>
      toPlan({ operation, sourcePaths, flags, load, stored, env: context.env })
    // Reports wrong options before anything is read.
    const given = toPlanOf(isStdin ? [STDIN] : expandSources(sources, context.env))
    const own = isStdin ? toPlanOf([await readStdin(context, workspace, flags)]) : given
    const plan = await withBaseMapping(context, workspace, own, flags.mapping)
    const notes = [
      ...(flags.connection === undefined && stored !== null
        ? [`Using connection ${stored.name}: ${plan.connection.baseUrl}`]
        : []),
      ...noteCorrectedUrls(flags),
      ...noteIdleOptions(operation, flags),
    ]
    try {
      let saved = plan
      const beforeSending = (columns: readonly string[] | null) => {
        saved = { ...plan, mapping: withColumnNames(plan.mapping, columns ?? []) }
        return savePlan(context, workspace, saved, flags)
      }
      const onAccepted = (accepted: AcceptedCauses | undefined) =>
        saveAccepted(context, saved, flags, accepted)
      const { savePlan: planFile } = flags
      const namedFiles: NamedFiles =
        planFile === undefined ? [] : [['saved_plan', resolveFromCaller(planFile, context.env)]]
      const asked = { workspace, plan, flags, notes, namedFiles, capacity, beforeSending, onAccepted }
      context.exitCode = await sendPlan(context, asked)
    } catch (error) {
      // Nothing was sent, so no run needs its source again.
      if (isStdin && toSluiceError(error).exitCode === EXIT.badInput) {
        removeStdin(workspace, plan.source.path)
      }
      throw error
    }
  })
  return addExamples(command, definition.examples, toLoad === undefined ? RUN_EXITS : LOAD_EXITS)
}

const RUN_EXITS = `${EXIT.ok} every row succeeded, ${EXIT.rowsFailed} some rows did not or the run stopped, ${EXIT.badInput} nothing sent,
${EXIT.interrupted} interrupted (can be resumed).`

const LOAD_EXITS = `${EXIT.ok} passed or no thresholds, ${EXIT.thresholdCrossed} threshold failed, ${EXIT.rowsFailed} no request succeeded or the test was stopped by an error,
${EXIT.badInput} nothing sent, ${EXIT.interrupted} interrupted. Results measured until then are kept and shown.`

/**
 * Absolute paths of the sources that a person named. A pattern that the shell left alone stands for the
 * matching files, ordered by path; hidden files match only if the pattern names the dot. A file whose name
 * looks like a pattern is that file. Throws `BAD_SOURCE` for a pattern without a match.
 */
function expandSources(named: readonly string[], env: NodeJS.ProcessEnv): readonly [string, ...string[]] {
  const [first, ...more] = named.flatMap((name) => expandSource(name, env))
  // The commands require one.
  if (first === undefined) throw new Error('no source was named')
  return [first, ...more]
}

function expandSource(name: string, env: NodeJS.ProcessEnv): string[] {
  const path = resolveFromCaller(name, env)
  if (!/[*?[{]/.test(name) || existsSync(path)) return [path]
  refuseWidePattern(name)
  const pattern = sep === '\\' ? path.replaceAll('\\', '/') : path
  const found = globSync(pattern, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted((a, b) => (a < b ? -1 : 1))
  if (found.length === 0) throw new SluiceError({ id: 'pattern_matches_nothing', source: name })
  return found
}

/**
 * The plan with the mapping of `--mapping` as a base for the one of its options: a saved mapping, or that of
 * the last run of a source with the same columns. Throws `BAD_USAGE` if there is none, and `BAD_SOURCE`.
 */
async function withBaseMapping(
  context: CliContext,
  workspace: string,
  plan: Plan,
  name: string | undefined,
): Promise<Plan> {
  if (name === undefined) return plan
  const { operation, source } = plan
  if (name !== LAST_MAPPING) {
    const saved = findNamed('mapping', readSavedMappings(workspace), name)
    if (saved.operation !== operation.kind) {
      throw new SluiceError({ id: 'mapping_of_other_operation', name, operation: saved.operation })
    }
    return { ...plan, mapping: { ...keepKnownFields(saved.mapping, operation), ...plan.mapping } }
  }
  return withEngine(context, workspace, async (engine) => {
    const { columns } = await engine.runs.previewSource(source, 1)
    const last = await engine.runs.findLastMapping(operation, columns)
    if (last === null) throw new SluiceError({ id: 'last_mapping_missing', file: source.path })
    return { ...plan, mapping: { ...keepKnownFields(last.mapping, operation), ...plan.mapping } }
  })
}
