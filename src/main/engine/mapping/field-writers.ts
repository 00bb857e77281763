import { isFolderColumns } from '../../../shared/mapping/match-columns.ts'
import { compileTemplate, parseTemplate, type ReadCell } from '../../../shared/mapping/templates.ts'
import type { FoundProblem } from '../../../shared/messages/problem-messages.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { toFound } from '../../../shared/run/problem.ts'
import { toSegments } from '../../../shared/service/endpoints.ts'
import type { RequestField } from '../../../shared/service/request-field.ts'
import {
  addMembers,
  type Body,
  beginWithRequest,
  isObjectValue,
  JsonText,
  readJsonObject,
  toValueText,
} from './json-text.ts'

/** Writes one field into the body, or returns what prevents it. An existing field stays unchanged. */
export type WriteField = (
  body: Body,
  row: number,
  cells: readonly string[],
  /** For a row of JSON, the kind of each cell; see `CellKind`. */
  kinds: string | null,
) => FoundProblem | null

/**
 * Writes a cell unchanged; an empty one leaves the field out. Refuses rows of JSON with an object or array in
 * one of the `structured` columns.
 */
export function createTextWriter(
  name: string,
  read: ReadCell,
  structured: readonly number[] = [],
): WriteField {
  return (body, row, cells, kinds) => {
    const text = read(row, cells)
    if (text !== '') body[name] = text
    return kinds === null ? null : findStructured(name, structured, row, cells, kinds)
  }
}

/** Finds an object or array in the columns that fill a text from a row of JSON. */
function findStructured(
  name: string,
  indexes: readonly number[],
  row: number,
  cells: readonly string[],
  kinds: string,
): FoundProblem | null {
  const index = indexes.find((at) => kinds[at] === 'j' && /^[[{]/.test(cells[at] ?? ''))
  if (index === undefined) return null
  return { row, severity: 'error', code: 'json_in_text', field: name, found: toFound(cells[index] ?? '') }
}

/**
 * Writes the notes of a term to update (docs/interface.md §2.5): null clears them, a key missing from a row
 * of JSON leaves them, and empty text can do either. `index` is their column, null for a template or for
 * nothing; `structured` as for a text.
 */
export function createNotesWriter(
  read: ReadCell | null,
  {
    index,
    clearsEmpty,
    structured,
  }: { index: number | null; clearsEmpty: boolean; structured: readonly number[] },
): WriteField {
  return (body, row, cells, kinds) => {
    const kind = kinds === null || index === null ? 's' : (kinds[index] ?? '-')
    if (kind === '-') return null
    const text = kind === 'n' || read === null ? '' : read(row, cells)
    if (text !== '') body['notes'] = text
    else if (clearsEmpty || kind === 'n') body['notes'] = null
    return kinds === null ? null : findStructured('notes', structured, row, cells, kinds)
  }
}

/** Writes a field unless the whole request contains it; with `isTold`, warns if the value there differs. */
export function keepPresent(name: string, write: WriteField, isTold = false): WriteField {
  return (body, row, cells, kinds) => {
    if (!Object.hasOwn(body, name)) return write(body, row, cells, kinds)
    if (!isTold) return null
    const own: Body = {}
    write(own, row, cells, kinds)
    const kept = toValueText(body[name])
    if (own[name] === undefined || toValueText(own[name]) === kept) return null
    return { row, severity: 'warning', code: 'kept_in_request', field: name, found: toFound(kept) }
  }
}

/**
 * One column may hold the whole object as JSON, others single keys. If both give a key different values, both
 * are sent; a whole request takes precedence over both.
 */
export function createObjectWriter(
  name: string,
  readObject: ReadCell | null,
  keys: readonly { key: string; read: ReadCell }[],
): WriteField {
  return (body, row, cells) => {
    const brought = body[name]
    if (brought !== undefined) {
      if (isObjectText(brought)) body[name] = addKeys(brought, keys, row, cells, false)
      return null
    }
    const text = readObject === null ? '' : readObject(row, cells)
    const object = text === '' ? null : readJsonObject(text)
    if (text !== '' && object === null) return toNoObject(name, row, text)
    const filled = addKeys(object, keys, row, cells, true)
    if (filled !== null) body[name] = filled
    return null
  }
}

function isObjectText(value: unknown): value is JsonText {
  return value instanceof JsonText && isObjectValue(value)
}

function addKeys(
  object: JsonText | null,
  keys: readonly { key: string; read: ReadCell }[],
  row: number,
  cells: readonly string[],
  repeats: boolean,
): JsonText | Record<string, string> | null {
  if (keys.length === 0) return object
  const added = keys
    .map(({ key, read }) => ({ key, value: read(row, cells) }))
    .filter(({ value }) => value !== '')
  if (added.length === 0) return object
  if (object !== null) return addMembers(object, added, repeats)
  const filled: Record<string, string> = {}
  for (const { key, value } of added) {
    // Plain assignment would set the prototype if the key is `__proto__`.
    Object.defineProperty(filled, key, { value, enumerable: true, configurable: true, writable: true })
  }
  return filled
}

/** A cell without models means the plan's own; that list is shared by all rows and never changed. */
export function createModelsWriter(name: string, read: ReadCell | null, models: string[]): WriteField {
  return (body, row, cells) => {
    const text = read === null ? '' : read(row, cells)
    const named = text === '' ? models : parseModels(text)
    if (named === null) {
      const cause = { code: 'unknown_model', args: { isList: false } } as const
      return { row, severity: 'error', field: name, ...cause, found: toFound(text) }
    }
    const used = named.length > 0 ? named : models
    if (used.length > 0) body[name] = used
    return null
  }
}

/** Starts a body from a whole request. The interface's null fields count as missing unless in `nullable`. */
export function createRequestWriter(
  read: ReadCell,
  fields: readonly RequestField[],
  nullable: readonly string[],
): WriteField {
  const kinds = new Map(fields.map(({ name, kind }) => [name, kind]))
  return (body, row, cells) => {
    const text = read(row, cells)
    if (text === '') return null
    const isRequest = beginWithRequest(body, text, ({ key, cell, kind, valueFrom, to }) => {
      if (kind === 's') return { value: cell }
      if (kind === 'n') return kinds.has(key) && !nullable.includes(key) ? null : { value: null }
      const isList = kinds.get(key) === 'string_array' && cell.startsWith('[')
      const list = isList ? parseModels(cell) : null
      return { value: list ?? new JsonText(text.slice(valueFrom, to)) }
    })
    return isRequest ? null : toNoObject('request', row, text)
  }
}

function toNoObject(field: string, row: number, text: string): FoundProblem {
  return { row, severity: 'error', code: 'not_json_object', field, found: toFound(text) }
}

/**
 * The models that a cell names: a JSON array of strings, or names separated by commas, semicolons, pipes or
 * white space. Null if it begins as a JSON array but is not one of strings.
 */
export function parseModels(cell: string): string[] | null {
  if (!cell.trimStart().startsWith('[')) return cell.split(/[,;|\s]+/).filter((name) => name !== '')
  try {
    const value: unknown = JSON.parse(cell)
    return isStringArray(value) ? value : null
  } catch {
    return null
  }
}

function isStringArray(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((item) => typeof item === 'string')
}

/** Where the media host serves a run's files. */
export interface MediaAddresses {
  /** The address of a file by its path inside the folder. */
  toMediaUrl: (path: string) => string
}

const MEDIA_COLUMN = 'media'

/** The placeholder for a file's path in a media template. */
export const PATH_PLACEHOLDER = 'path'

/** Whether a source's rows may be media files of a folder, to which the plan gives addresses. */
export function hasMediaFiles(plan: Plan, columns: readonly string[]): boolean {
  return (plan.source.format === 'folder' || isFolderColumns(columns)) && columns.includes(MEDIA_COLUMN)
}

/** The cell with the path of a row's media file; empty if the row is not one. */
export function createMediaCell(columns: readonly string[]): ReadCell {
  const index = columns.indexOf(MEDIA_COLUMN)
  return (_row, cells) => cells[index] ?? ''
}

/**
 * Gives the address of a row's media file: empty if the row is not one, null if the plan gives it no address.
 * Without `addresses`, as before a run has any, an address of the same form stands in.
 */
export function createMediaUrl(
  plan: Plan,
  columns: readonly string[],
  runToken: string,
  addresses: MediaAddresses | undefined,
): ReadCell | null {
  const { media } = plan.source
  if (media === undefined || !hasMediaFiles(plan, columns)) return null
  const readPath = createMediaCell(columns)
  if (media.kind === 'template') return createTemplateUrl(media.template, columns, runToken, readPath)
  const base = media.url ?? 'http://127.0.0.1'
  const toMediaUrl = addresses?.toMediaUrl ?? ((path) => `${base}/media/${toSegments(path)}`)
  return (row, cells) => {
    const path = readPath(row, cells)
    return path === '' ? '' : toMediaUrl(path)
  }
}

function createTemplateUrl(
  template: string,
  columns: readonly string[],
  runToken: string,
  readPath: ReadCell,
): ReadCell {
  const readers = parseTemplate(template).map((part): ReadCell => {
    if (part.kind === 'text') return () => part.text
    const isPath = part.name.trim() === PATH_PLACEHOLDER
    const read = isPath ? readPath : compileTemplate(`{{${part.name}}}`, columns, runToken)
    return (row, cells) => toSegments(read(row, cells))
  })
  return (row, cells) => (readPath(row, cells) === '' ? '' : readers.map((read) => read(row, cells)).join(''))
}
