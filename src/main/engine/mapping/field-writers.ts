import type { ReadCell } from '../../../shared/mapping/templates.ts'
import { type Problem, toFound } from '../../../shared/run/problem.ts'
import { isJsonObject, type JsonObject } from '../../../shared/service/json-object.ts'
import { parseJsonObject } from './json-cell.ts'
import { parseModels } from './models-cell.ts'

/** Puts one field into the body, or says what keeps it out. A field that is there already stays as it is. */
export type WriteField = (
  body: Record<string, unknown>,
  row: number,
  cells: readonly string[],
  /** Of a row of JSON, what each cell is there; see `CellKind`. */
  kinds: string | null,
) => Problem | null

/** Writes a cell as it is; an empty one leaves the field out. */
export function createTextWriter(name: string, read: ReadCell): WriteField {
  return (body, row, cells) => {
    const text = read(row, cells)
    if (text !== '') body[name] = text
    return null
  }
}

/**
 * Writes the notes of a term to update (docs/interface.md §2.5): null clears them, a key that a row of JSON lacks
 * leaves them, and empty text does either. `index` is the column they come from, null where they are a template or
 * nothing.
 */
export function createNotesWriter(
  read: ReadCell | null,
  { index, clearsEmpty }: { index: number | null; clearsEmpty: boolean },
): WriteField {
  return (body, row, cells, kinds) => {
    const kind = kinds === null || index === null ? 's' : (kinds[index] ?? '-')
    if (kind === '-') return null
    const text = kind === 'n' || read === null ? '' : read(row, cells)
    if (text !== '') body['notes'] = text
    else if (clearsEmpty || kind === 'n') body['notes'] = null
    return null
  }
}

/** Leaves a field alone that a whole request has brought. */
export function keepPresent(name: string, write: WriteField): WriteField {
  return (body, row, cells, kinds) => (Object.hasOwn(body, name) ? null : write(body, row, cells, kinds))
}

/**
 * One column may hold the whole object as JSON, others single keys, which then go before the object's own; what a
 * whole request has brought goes before both.
 */
export function createObjectWriter(
  name: string,
  readObject: ReadCell | null,
  keys: readonly { key: string; read: ReadCell }[],
): WriteField {
  return (body, row, cells) => {
    const brought = body[name]
    if (brought !== undefined) {
      if (isJsonObject(brought)) addKeys(brought, keys, row, cells, false)
      return null
    }
    const text = readObject === null ? '' : readObject(row, cells)
    const object = text === '' ? null : parseJsonObject(text)
    if (text !== '' && object === null) return toNoObject(name, row, text)
    const filled = addKeys(object, keys, row, cells, true)
    if (filled !== null) body[name] = filled
    return null
  }
}

function addKeys(
  object: JsonObject | null,
  keys: readonly { key: string; read: ReadCell }[],
  row: number,
  cells: readonly string[],
  overwrites: boolean,
): JsonObject | null {
  let filled = object
  for (const { key, read } of keys) {
    const value = read(row, cells)
    if (value === '' || (!overwrites && filled !== null && Object.hasOwn(filled, key))) continue
    filled ??= {}
    // Plain assignment would set the prototype where the key is `__proto__`.
    Object.defineProperty(filled, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return filled
}

/** A cell without models leaves the row to the plan's own; that list is shared by all rows and never changed. */
export function createModelsWriter(name: string, read: ReadCell | null, models: string[]): WriteField {
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

/**
 * Starts the body from a whole request. Null in a field of the interface counts as a field that is not there, but for
 * those in `nullable`.
 */
export function createRequestWriter(
  read: ReadCell,
  fields: readonly string[],
  nullable: readonly string[],
): WriteField {
  const emptied = fields.filter((name) => !nullable.includes(name))
  return (body, row, cells) => {
    const text = read(row, cells)
    if (text === '') return null
    const request = parseJsonObject(text)
    if (request === null) return toNoObject('request', row, text)
    for (const name of emptied) if (request[name] === null) delete request[name]
    for (const [key, value] of Object.entries(request)) {
      Object.defineProperty(body, key, { value, enumerable: true, configurable: true, writable: true })
    }
    return null
  }
}

function toNoObject(field: string, row: number, text: string): Problem {
  const message = 'must be a JSON object'
  return { row, severity: 'error', code: 'not_json_object', field, message, found: toFound(text) }
}
