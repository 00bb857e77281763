import type { FieldSource, Plan } from '../../../shared/plan.ts'
import { type Problem, toFound } from '../../../shared/problem.ts'
import type { JsonObject } from '../../../shared/service/json-object.ts'
import { TASK_FIELDS, type TaskFieldName } from '../../../shared/service/tasks.ts'
import { findColumn } from './column-lookup.ts'
import { parseFieldName } from './field-names.ts'
import { parseJsonObject } from './json-cell.ts'
import { parseModels } from './models-cell.ts'
import { resolveMapping } from './resolve-mapping.ts'
import { compileTemplate, type ReadCell } from './templates.ts'

/** What a row becomes: the request's body, fields in the order of interface §2.1, and what could not be mapped. */
export interface MappedRow {
  body: Record<string, unknown>
  /** '' where the row has none. */
  postId: string
  problems: readonly Problem[]
}

/** Maps a row, 1-based, with the cells it has. Pure: the same plan, columns, run and row give the same body. */
export type MapRow = (row: number, cells: readonly string[]) => MappedRow

/** Puts one field into the body, or says what keeps it out. */
type WriteField = (body: Record<string, unknown>, row: number, cells: readonly string[]) => Problem | null

const NO_PROBLEMS: readonly Problem[] = Object.freeze([])

/**
 * Compiles a plan's mapping (see {@link resolveMapping}, which it applies) into a function that runs at intake and
 * again at sending. Cells are never trimmed; an empty one leaves its field out. Throws `BAD_PLAN`.
 */
export function createRowMapper(plan: Plan, columns: readonly string[], runToken: string): MapRow {
  const mapping = resolveMapping(plan, columns)
  const compile = (source: FieldSource | undefined) => compileSource(source, columns, runToken)
  const models = plan.operation.kind === 'task' ? plan.operation.models : []
  const writers: WriteField[] = []
  for (const { name, kind } of TASK_FIELDS) {
    const read = compile(mapping[name])
    if (kind === 'json_object') {
      const keys = Object.entries(mapping).flatMap(([field, source]) => {
        const parsed = parseFieldName(field)
        const readKey = parsed?.kind === 'key' && parsed.name === name ? compile(source) : null
        return parsed?.kind === 'key' && readKey !== null ? [{ key: parsed.key, read: readKey }] : []
      })
      if (read !== null || keys.length > 0) writers.push(createObjectWriter(name, read, keys))
    } else if (kind === 'string_array') {
      if (read !== null || models.length > 0) writers.push(createModelsWriter(name, read, models))
    } else if (read !== null) writers.push(createTextWriter(name, read))
  }
  return (row, cells) => {
    const body: Record<string, unknown> = {}
    let problems: Problem[] | null = null
    for (const write of writers) {
      const problem = write(body, row, cells)
      if (problem !== null) {
        problems ??= []
        problems.push(problem)
      }
    }
    const postId = body['post_id']
    return { body, postId: typeof postId === 'string' ? postId : '', problems: problems ?? NO_PROBLEMS }
  }
}

function compileSource(
  source: FieldSource | undefined,
  columns: readonly string[],
  run: string,
): ReadCell | null {
  if (source === undefined) return null
  if (source.kind === 'template')
    return source.template === '' ? null : compileTemplate(source.template, columns, run)
  const index = findColumn(columns, source.column) ?? -1
  return (_row, cells) => cells[index] ?? ''
}

function createTextWriter(name: TaskFieldName, read: ReadCell): WriteField {
  return (body, row, cells) => {
    const text = read(row, cells)
    if (text !== '') body[name] = text
    return null
  }
}

/** One column may hold the whole object as JSON, others single keys, which then go before the object's own. */
function createObjectWriter(
  name: TaskFieldName,
  readObject: ReadCell | null,
  keys: readonly { key: string; read: ReadCell }[],
): WriteField {
  return (body, row, cells) => {
    const text = readObject === null ? '' : readObject(row, cells)
    let object: JsonObject | null = null
    if (text !== '') {
      object = parseJsonObject(text)
      if (object === null) {
        const message = 'must be a JSON object'
        return { row, severity: 'error', code: 'not_json_object', field: name, message, found: toFound(text) }
      }
    }
    for (const { key, read } of keys) {
      const value = read(row, cells)
      if (value === '') continue
      object ??= {}
      // Plain assignment would set the prototype where the key is `__proto__`.
      Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true })
    }
    if (object !== null) body[name] = object
    return null
  }
}

/** A cell without models leaves the row to the plan's own; that list is shared by all rows and never changed. */
function createModelsWriter(name: TaskFieldName, read: ReadCell | null, models: string[]): WriteField {
  return (body, row, cells) => {
    const text = read === null ? '' : read(row, cells)
    const named = text === '' ? models : parseModels(text)
    if (named === null) {
      const message = 'must be names of models, or a JSON array of them'
      return { row, severity: 'error', code: 'unknown_model', field: name, message, found: toFound(text) }
    }
    const used = named.length > 0 ? named : models
    if (used.length > 0) body[name] = used
    return null
  }
}
