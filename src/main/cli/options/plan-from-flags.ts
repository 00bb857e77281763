import { InvalidArgumentError } from 'commander'
import type { Load } from '../../../shared/load/load.ts'
import { IN_FLIGHT_MAX } from '../../../shared/load/load-pace.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { Operation } from '../../../shared/operations/operations.ts'
import { CALLBACK_OPTIONS } from '../../../shared/options/callback-options.ts'
import { nameFlag } from '../../../shared/options/plan-options.ts'
import { RETRY_OPTIONS } from '../../../shared/options/retry-options.ts'
import { type PlanMedia, SOURCE_OPTIONS } from '../../../shared/options/source-options.ts'
import { findConflicts, type PlanConflict } from '../../../shared/plan/file/find-conflicts.ts'
import { type Pace, type Plan, planSchema } from '../../../shared/plan/plan.ts'
import { nameSource } from '../../../shared/plan/source-paths.ts'
import type { StoredConnection } from '../../../shared/plan/stored-connection.ts'
import { withOnlyNew } from './only-new-options.ts'
import { type PaceFlags, type SendingFlags, toStopRule } from './sending-options.ts'
import { toConnectionInput } from './service-options.ts'
import { type SourceFlags, toMapping } from './source-options.ts'
import { readFlags } from './table-options.ts'

const DEFAULT_CONCURRENCY = 4
const DEFAULT_TIMEOUT_MS = 60_000

/** The options behind each part of a plan, for errors that name the part. */
const FLAGS: Readonly<Record<string, string>> = {
  mapping: '--map, --set',
  onlyNew: '--only-new',
  'operation.legacy': '--legacy',
  'source.media.template': '--media-template',
}

/** What a sending command was asked to do. */
export interface Request {
  operation: Operation
  /** Absolute, at least one. */
  sourcePaths: readonly [string, ...string[]]
  flags: SendingFlags & PaceFlags
  /** A load test instead of a run that sends each row once. */
  load: Load | null
  /** The stored connection that was named or is in use. */
  stored: StoredConnection | null
  /** The environment that tells where relative paths begin. */
  env: NodeJS.ProcessEnv
}

/** The pace that options ask for. */
export function toPace(flags: PaceFlags, timeoutMs: number): Pace {
  if (flags.rate === undefined) {
    return { kind: 'closed', concurrency: flags.concurrency ?? DEFAULT_CONCURRENCY }
  }
  const whatFillsTheTimeout = Math.ceil(flags.rate * (timeoutMs / 1000))
  const maxInFlight = flags.concurrency ?? Math.min(IN_FLIGHT_MAX, Math.max(1, whatFillsTheTimeout))
  return { kind: 'open', ratePerSecond: flags.rate, maxInFlight }
}

function toMedia({ mediaTemplate, mediaHost, mediaUrl }: SourceFlags): PlanMedia | undefined {
  if (mediaTemplate !== undefined && (mediaHost || mediaUrl !== undefined)) {
    const other = mediaHost ? '--media-host' : '--media-url'
    throw new InvalidArgumentError(`--media-template cannot be combined with ${other}`)
  }
  if (mediaTemplate !== undefined) return { kind: 'template', template: mediaTemplate }
  if (mediaUrl !== undefined) return { kind: 'host', url: mediaUrl }
  return mediaHost ? { kind: 'host' } : undefined
}

function toSource([path, ...more]: Request['sourcePaths'], flags: SourceFlags) {
  const media = toMedia(flags)
  return {
    ...readFlags(SOURCE_OPTIONS, flags),
    path,
    ...(more.length === 0 ? {} : { more }),
    ...(media === undefined ? {} : { media }),
  }
}

function toSentence({ path, message }: PlanConflict): string {
  const flag = FLAGS[path.join('.')] ?? nameFlag(path.join('.')) ?? FLAGS[String(path[0])]
  return `${flag ?? path.join('.')}: ${message}`
}

/** The plan for a sending command. Throws a `SluiceError`, or `InvalidArgumentError` for contradictions. */
export function toPlan({ operation, sourcePaths, flags, load, stored, env }: Request): Plan {
  const connection = toConnectionInput(flags, stored, env)
  const source = toSource(sourcePaths, flags)
  const given = planSchema.parse({
    name: flags.name ?? nameSource(source),
    connection,
    source,
    mapping: toMapping([...(flags.map ?? []), ...(flags.set ?? [])]),
    ...(flags.accept === undefined ? {} : { accept: flags.accept }),
    operation,
    callback: readFlags(CALLBACK_OPTIONS, flags),
    ...(load === null ? { pace: toPace(flags, connection.timeoutMs ?? DEFAULT_TIMEOUT_MS) } : { load }),
    retry: { ...(load !== null && { limit: 0 }), ...readFlags(RETRY_OPTIONS, flags) },
    ...toStopRule(flags),
  })
  const plan = withOnlyNew(given, flags)
  refuseConflicts(plan)
  return plan
}

/** Throws `BAD_PLAN` if options do not go together in a plan. */
export function refuseConflicts(plan: Plan): void {
  const conflicts = findConflicts(plan)
  if (conflicts.length > 0) {
    throw new SluiceError({ id: 'options_in_conflict', conflicts: conflicts.map(toSentence) })
  }
}
