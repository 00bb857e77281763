import { existsSync, readFileSync } from 'node:fs'
import { dirname, isAbsolute, parse, relative, resolve, sep } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrown } from '../../../shared/messages/thrown.ts'
import type { PlanConnectionInput } from '../../../shared/plan/connection.ts'
import {
  escapePlanVariables,
  type FilledPlan,
  fillPlanVariables,
  unescapePlanVariables,
} from '../../../shared/plan/file/fill-variables.ts'
import { findConflicts } from '../../../shared/plan/file/find-conflicts.ts'
import {
  formatJsonPath,
  formatPlanFileProblem,
  type PlanFileProblem,
  parsePlanFile,
  wantsNoText,
} from '../../../shared/plan/file/parse-plan-file.ts'
import { type Plan, planSchema } from '../../../shared/plan/plan.ts'
import { headersSchema, mapHeaderPaths, mergeHeaders } from '../../../shared/plan/request-headers.ts'
import { listSourcePaths, mapSourcePaths, nameSource } from '../../../shared/plan/source-paths.ts'
import { type Connections, toPlanConnection } from '../../../shared/plan/stored-connection.ts'
import { isJsonObject } from '../../../shared/service/json-object.ts'
import { findConnection } from './connections.ts'
import { replaceFileSync } from './replace-file.ts'
import { findReplacedSource } from './replaced-source.ts'

/**
 * Reads a plan file. `file` is absolute; paths in the plan are relative to its folder. What its connection
 * leaves out comes from the stored connection that it names. With `env`, variables that the plan names are
 * filled in. If `isConnectionGiven`, its own connection will not be used, and a stored connection that it
 * names need not exist. Throws `BAD_PLAN` with every problem, and `CONNECTION_NOT_FOUND`.
 */
export function readPlanFile(
  file: string,
  connections: Connections,
  { env, isConnectionGiven = false }: { env?: NodeJS.ProcessEnv; isConnectionGiven?: boolean } = {},
): Plan {
  const { value: filled, problems, paths } = fillPlan(parseText(file, readText(file)), env)
  if (problems.length > 0) throw badPlan(file, problems)
  const value = isConnectionGiven ? withoutConnection(filled) : filled
  const parsed = parsePlanFile(value)
  if (parsed.kind === 'problems') throw badPlan(file, withoutFilled(parsed.problems, paths))
  const { $schema, $comment, ...written } = parsed.plan
  const folder = dirname(file)
  const plan = planSchema.parse({
    ...written,
    name: written.name ?? nameSource(written.source),
    connection: fillConnection(value, folder, connections),
    source: mapSourcePaths(written.source, (path) => fromPlanPath(folder, path)),
    retry: fillRetry(value, written),
  })
  const conflicts = findConflicts(plan)
  if (conflicts.length === 0) return plan
  throw badPlan(
    file,
    conflicts.map(({ path, message }) => ({ path: formatJsonPath(path), message })),
  )
}

/** The content of a plan file with its variables filled in. */
function fillPlan(value: unknown, env: NodeJS.ProcessEnv | undefined): FilledPlan {
  if (env === undefined) return { value: unescapePlanVariables(value), problems: [], paths: new Set() }
  return fillPlanVariables(value, (name) => env[name], wantsNoText)
}

/** Leaves the values of variables out of problems. */
function withoutFilled(
  problems: readonly PlanFileProblem[],
  paths: ReadonlySet<string>,
): readonly PlanFileProblem[] {
  return problems.map(({ path, message }) =>
    paths.has(path)
      ? { path, message: message.replace(/, found .*$/s, ', found the value of a variable') }
      : { path, message },
  )
}

/** Replaces the connection of a plan with a placeholder, which is never sent to. */
function withoutConnection(value: unknown): unknown {
  return isJsonObject(value) ? { ...value, connection: { baseUrl: 'http://overridden.invalid' } } : value
}

/** Throws `BAD_SOURCE` with the path if the source of a plan file does not exist. */
export function requireSource(file: string, { source }: Plan): void {
  const missing = listSourcePaths(source).find((path) => !existsSync(path))
  if (missing === undefined) return
  throw new SluiceError({ id: 'plan_source_missing', source: missing, folder: dirname(file), file })
}

/** Load tests retry only if the plan says so. */
function fillRetry(value: unknown, { load, retry }: Pick<Plan, 'load' | 'retry'>): Plan['retry'] {
  const given = isJsonObject(value) && isJsonObject(value['retry']) ? value['retry']['limit'] : undefined
  return load === undefined || given !== undefined ? retry : { ...retry, limit: 0 }
}

/** The valid connection of a plan file, completed from the stored one that it names. */
function fillConnection(value: unknown, folder: string, connections: Connections): unknown {
  const given = isJsonObject(value) && isJsonObject(value['connection']) ? value['connection'] : {}
  const { name } = given
  const isStored = connections.connections.some((one) => one.name === name)
  // Without an address of its own, only the stored connection can provide one.
  const base: Partial<PlanConnectionInput> =
    typeof name === 'string' && (isStored || given['baseUrl'] === undefined)
      ? toPlanConnection(findConnection(connections, name))
      : {}
  const { tls, headers, unixSocket } = given
  const fromFolder = (path: string) => fromPlanPath(folder, path)
  const files = isJsonObject(tls) ? mapTlsPaths(tls, (path) => fromPlanPath(folder, path)) : undefined
  const withoutSlash = (key: string) => {
    const address = given[key]
    return typeof address === 'string' ? { [key]: address.replace(/\/+$/, '') } : {}
  }
  return {
    ...base,
    ...given,
    ...withoutSlash('baseUrl'),
    ...withoutSlash('taskBaseUrl'),
    ...(files === undefined ? {} : { tls: files }),
    ...(headers === undefined
      ? {}
      : mergeHeaders(base.headers, mapHeaderPaths(headersSchema.parse(headers), fromFolder))),
    ...(typeof unixSocket === 'string' ? { unixSocket: fromFolder(unixSocket) } : {}),
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    throw new SluiceError({ id: 'plan_unreadable', file, ...toThrown(error) }, { cause: error })
  }
}

function parseText(file: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw SluiceError.because(error, { id: 'plan_not_json', file })
  }
}

function badPlan(file: string, problems: readonly PlanFileProblem[]): SluiceError {
  return new SluiceError({ id: 'plan_refused', file, problems: problems.map(formatPlanFileProblem) })
}

const SCHEMA_FILE = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? '../../../../docs/plan.schema.json' : '../docs/plan.schema.json',
    import.meta.url,
  ),
)

/** An absolute reference to the schema for editors, so that the plan can be moved; empty without a schema. */
function toSchemaReference(): { $schema?: string } {
  return existsSync(SCHEMA_FILE) ? { $schema: pathToFileURL(SCHEMA_FILE).href } : {}
}

/** Drops the pace from a load test's plan: it applies only to runs that send each row once. */
function withoutIdlePace({ pace, ...plan }: Plan): Partial<Plan> {
  return plan.load === undefined ? { ...plan, pace } : plan
}

/**
 * The plan without what was accepted for single rows (fixes that did not fit, rows that may have been sent),
 * since the next source has other rows.
 */
function withoutFixesOfRun({ accepted, ...plan }: Plan): Plan {
  const causes = (accepted?.causes ?? []).filter(
    ({ problem }) => problem !== 'unfit_fix' && problem !== 'maybe_sent',
  )
  return accepted === undefined || causes.length === 0 ? plan : { ...plan, accepted: { ...accepted, causes } }
}

/**
 * A plan as the JSON of its file in `folder`, or of a file that is moved elsewhere if that is null; `notes`
 * are hints for people.
 */
function toDocument(plan: Plan, folder: string | null, notes: readonly string[]): Record<string, unknown> {
  const { tls, headers, unixSocket } = plan.connection
  const toPath = (path: string) => (folder === null || !isAbsolute(path) ? path : toPlanPath(folder, path))
  return {
    ...toSchemaReference(),
    ...(notes.length > 0 && { $comment: notes.join(' ') }),
    ...withoutIdlePace(withoutFixesOfRun(plan)),
    connection: {
      ...plan.connection,
      ...(headers === undefined ? {} : { headers: mapHeaderPaths(headers, toPath) }),
      ...(unixSocket === undefined ? {} : { unixSocket: toPath(unixSocket) }),
      ...(tls === undefined ? {} : { tls: mapTlsPaths(tls, toPath) }),
    },
    source: mapSourcePaths(plan.source, toPath),
  }
}

/** Whether a file holds a plan, and may therefore be replaced by another. */
function isPlanFile(file: string): boolean {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return isJsonObject(value) && 'operation' in value && 'source' in value
  } catch {
    return false
  }
}

/**
 * Writes a plan, completely or not at all; `file` is absolute. Paths are relative to its folder unless it
 * `isMoved` from there; `notes` for people are written as a comment. Replaces nothing but a plan, and returns
 * whether it did. Throws `BAD_USAGE` if something else is there, and `FILE_UNWRITABLE`.
 */
export function writePlanFile(
  file: string,
  plan: Plan,
  { isMoved = false, notes = [] }: { isMoved?: boolean; notes?: readonly string[] } = {},
): boolean {
  const isThere = existsSync(file)
  // A source of requests may look like a plan.
  if (isThere && (!isPlanFile(file) || findReplacedSource(plan.source, file)?.how === 'is')) {
    throw new SluiceError({ id: 'save_plan_over_other', file })
  }
  const folder = isMoved ? null : dirname(file)
  try {
    replaceFileSync(
      file,
      `${JSON.stringify(escapePlanVariables(toDocument(plan, folder, notes)), null, 2)}\n`,
      {
        isPrivate: false,
      },
    )
    return isThere
  } catch (error) {
    throw SluiceError.because(error, { id: 'save_plan_unwritable', file })
  }
}

type Tls = NonNullable<PlanConnectionInput['tls']>

/**
 * A path as written in a plan file of that folder: relative, with forward slashes, so that both can be moved
 * together; absolute if the two share only the root.
 */
export function toPlanPath(folder: string, path: string): string {
  const steps = relative(folder, path)
  if (steps === '' || isAbsolute(steps)) return path
  const { root } = parse(folder)
  const climbs = steps.split(sep).filter((step) => step === '..').length
  const depth = folder.slice(root.length).split(sep).filter(Boolean).length
  return climbs > 0 && climbs >= depth ? path : steps.split(sep).join('/')
}

export function fromPlanPath(folder: string, path: string): string {
  return resolve(folder, path)
}

/** Applies a change to every path of the certificate files. */
export function mapTlsPaths(tls: Tls, change: (path: string) => string): Tls {
  const { systemAuthorities, caFile, certFile, keyFile } = tls
  return {
    ...(systemAuthorities === undefined ? {} : { systemAuthorities }),
    ...(caFile === undefined ? {} : { caFile: change(caFile) }),
    ...(certFile === undefined ? {} : { certFile: change(certFile) }),
    ...(keyFile === undefined ? {} : { keyFile: change(keyFile) }),
  }
}
