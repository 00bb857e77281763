import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrownText } from '../../../shared/messages/thrown.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { isJsonObject } from '../../../shared/service/json-object.ts'
import { replaceFileSync } from '../../engine/workspace/replace-file.ts'
import { mapTlsPaths, toPlanPath } from './plan-paths.ts'

const SCHEMA_FILE = fileURLToPath(new URL('../../../../docs/plan.schema.json', import.meta.url))

/** Where an editor finds the schema, wherever the plan is moved to; nothing where this program comes without it. */
function toSchemaReference(): { $schema?: string } {
  return existsSync(SCHEMA_FILE) ? { $schema: pathToFileURL(SCHEMA_FILE).href } : {}
}

/** The pace of a run that sends each row once says nothing of a load test. */
function withoutIdlePace({ pace, ...plan }: Plan): Partial<Plan> {
  return plan.load === undefined ? { ...plan, pace } : plan
}

/** A plan as its file in that folder holds it. */
function toDocument(plan: Plan, folder: string): Record<string, unknown> {
  const { tls } = plan.connection
  const toPath = (path: string) => toPlanPath(folder, path)
  return {
    ...toSchemaReference(),
    ...withoutIdlePace(plan),
    connection: { ...plan.connection, ...(tls === undefined ? {} : { tls: mapTlsPaths(tls, toPath) }) },
    source: { ...plan.source, path: toPath(plan.source.path) },
  }
}

/** Whether a file holds a plan, so that another one may take its place. */
function isPlanFile(file: string): boolean {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    return isJsonObject(value) && 'operation' in value && 'source' in value
  } catch {
    return false
  }
}

/**
 * Writes a plan, whole or not at all; `file` is absolute. Only a plan is ever replaced; returns whether one was.
 * Throws `BAD_USAGE` where something else is there, and `FILE_UNWRITABLE`.
 */
export function writePlanFile(file: string, plan: Plan): boolean {
  const isThere = existsSync(file)
  if (isThere && !isPlanFile(file)) {
    throw new SluiceError({ id: 'save_plan_over_other', file })
  }
  const folder = dirname(file)
  try {
    replaceFileSync(file, `${JSON.stringify(toDocument(plan, folder), null, 2)}\n`, { isPrivate: false })
    return isThere
  } catch (error) {
    throw new SluiceError({ id: 'save_plan_unwritable', file, reason: toThrownText(error) }, { cause: error })
  }
}
