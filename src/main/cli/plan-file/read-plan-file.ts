import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toSystemCode, toThrownText } from '../../../shared/messages/thrown.ts'
import type { PlanConnectionInput } from '../../../shared/plan/connection.ts'
import { findConflicts } from '../../../shared/plan/file/find-conflicts.ts'
import {
  formatJsonPath,
  formatPlanFileProblem,
  type PlanFileProblem,
  parsePlanFile,
} from '../../../shared/plan/file/parse-plan-file.ts'
import { type Plan, planSchema } from '../../../shared/plan/plan.ts'
import { type Connections, toPlanConnection } from '../../../shared/plan/stored-connection.ts'
import { isJsonObject } from '../../../shared/service/json-object.ts'
import { findConnection } from '../../engine/workspace/connections.ts'
import { fromPlanPath, mapTlsPaths } from './plan-paths.ts'

/**
 * Reads a plan file; `file` is absolute, paths in it are relative to its folder. What it leaves out of its connection
 * is filled from the stored one that it names. Throws `BAD_PLAN` with every problem, and `CONNECTION_NOT_FOUND`.
 */
export function readPlanFile(file: string, connections: Connections): Plan {
  const value = parseText(file, readText(file))
  const parsed = parsePlanFile(value)
  if (parsed.kind === 'problems') throw badPlan(file, parsed.problems)
  const { $schema, ...written } = parsed.plan
  const folder = dirname(file)
  const plan = planSchema.parse({
    ...written,
    name: written.name ?? basename(written.source.path),
    connection: fillConnection(value, folder, connections),
    source: { ...written.source, path: fromPlanPath(folder, written.source.path) },
    retry: fillRetry(value, written),
  })
  const conflicts = findConflicts(plan)
  if (conflicts.length === 0) return plan
  throw badPlan(
    file,
    conflicts.map(({ path, message }) => ({ path: formatJsonPath(path), message })),
  )
}

/** Throws `BAD_SOURCE` where the source of a plan file does not exist, and says where it was looked for. */
export function requireSource(file: string, { source }: Plan): void {
  if (existsSync(source.path)) return
  throw new SluiceError({ id: 'plan_source_missing', source: source.path, folder: dirname(file), file })
}

/** In a load test nothing is tried again unless the plan says so. */
function fillRetry(value: unknown, { load, retry }: Pick<Plan, 'load' | 'retry'>): Plan['retry'] {
  const given = isJsonObject(value) && isJsonObject(value['retry']) ? value['retry']['limit'] : undefined
  return load === undefined || given !== undefined ? retry : { ...retry, limit: 0 }
}

/** The connection of a plan file that is in order, over the stored one that it names. */
function fillConnection(value: unknown, folder: string, connections: Connections): unknown {
  const given = isJsonObject(value) && isJsonObject(value['connection']) ? value['connection'] : {}
  const { name } = given
  const isStored = connections.connections.some((one) => one.name === name)
  // Where the address is left out there is no other place it could come from.
  const base: Partial<PlanConnectionInput> =
    typeof name === 'string' && (isStored || given['baseUrl'] === undefined)
      ? toPlanConnection(findConnection(connections, name))
      : {}
  const { tls } = given
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
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8').replace(/^\uFEFF/, '')
  } catch (error) {
    throw new SluiceError(
      { id: 'plan_unreadable', file, reason: toSystemCode(error) === 'ENOENT' ? null : toThrownText(error) },
      { cause: error },
    )
  }
}

function parseText(file: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new SluiceError({ id: 'plan_not_json', file, reason: toThrownText(error) }, { cause: error })
  }
}

function badPlan(file: string, problems: readonly PlanFileProblem[]): SluiceError {
  return new SluiceError({ id: 'plan_refused', file, problems: problems.map(formatPlanFileProblem) })
}
