import { checkMapping, findUnknownPlaceholders } from '../../../shared/mapping/check-mapping.ts'
import { toLookAlike } from '../../../shared/mapping/id-text.ts'
import { findColumn, toWholeMapping } from '../../../shared/mapping/match-columns.ts'
import {
  isConstantTemplate,
  isUniqueByConstruction,
  listColumnsOf,
  parseTemplate,
  type ReadCell,
} from '../../../shared/mapping/templates.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { MappingMistake } from '../../../shared/messages/mapping-messages.ts'
import type { FoundProblem } from '../../../shared/messages/problem-messages.ts'
import {
  emptyNotesOf,
  fieldsOf,
  isAbout,
  parseFieldName,
  REQUEST_FIELD,
} from '../../../shared/operations/operations.ts'
import { DEFAULT_POST_ID } from '../../../shared/operations/task.ts'
import type { FieldSource, Mapping, Plan, SentPlan } from '../../../shared/plan/plan.ts'
import { type RequestField, V1_MAX_MODELS } from '../../../shared/service/request-field.ts'
import { createCellCheck } from './cell-checks.ts'
import {
  createMediaCell,
  createMediaUrl,
  createModelsWriter,
  createNotesWriter,
  createObjectWriter,
  createRequestWriter,
  createTextWriter,
  hasMediaFiles,
  keepPresent,
  type MediaAddresses,
  PATH_PLACEHOLDER,
  parseModels,
  type WriteField,
} from './field-writers.ts'
import { addJoined, joinCells } from './join-cells.ts'
import { compileFieldTemplate } from './json-template.ts'
import type { Body } from './json-text.ts'
import { createRowFixer, type FixedField, type FixedRow } from './row-fixer.ts'
import { MARK, toCellKinds, toFixingSession } from './row-marks.ts'
import { toHalf } from './split-row.ts'

/**
 * What a row is mapped to: its part of the request's body, and what could not be mapped. `problems` are all
 * of its mapping, also where nothing was fixed.
 */
interface MappedRow extends FixedRow {
  /** A body, a term of one, or the id in the path (docs/interface.md §2.1, §2.5, §4.3, §4.4, §4.7). */
  body: Body
  /** A value that no other row of the source may share; null if nothing need be looked up. */
  uniqueKey: UniqueKey | null
}

/** A value that only one row of a source may have, or should have, and the field it is in. */
export interface UniqueKey {
  field: string
  value: string
  /** What each of several rows with the value does to a custom index; absent if they cannot be sent. */
  effect?: 'adds' | 'removes'
  /** The row's spelling of the value if case does not count and `value` is lower-cased. */
  shown?: string
  /** What the value looks like, to warn of others that look the same. */
  looks?: string
}

/**
 * Maps a row (1-based) with its cells. Pure: the same plan, columns, run and row give the same body. `kinds`
 * tells which cells of a row of JSON are null or missing; without it all are text. `isAscii` as in a
 * `SourceBatch`.
 */
export type MapRow = (
  row: number,
  cells: readonly string[],
  kinds?: string | null,
  isAscii?: boolean,
) => MappedRow

const NO_PROBLEMS: readonly FoundProblem[] = Object.freeze([])

/**
 * Compiles a plan's mapping (see {@link resolveMapping}, which it applies) into a function that runs at
 * intake and again at sending. Cells are never trimmed; an empty one leaves its field out. `addresses` belong
 * to the run's media host. Throws `BAD_PLAN`.
 */
export function createRowMapper(
  plan: SentPlan,
  columns: readonly string[],
  runToken: string,
  addresses?: MediaAddresses,
): MapRow {
  const { earlierFixes = [], ...newest } = plan
  if (earlierFixes.length > 0) {
    const create = (fixes: Plan['fixes']) =>
      createRowMapper({ ...newest, fixes }, columns, runToken, addresses)
    const mapNewest = create(plan.fixes)
    const earlier = earlierFixes.map(({ until, fixes }) => ({ until, mapRow: create([...fixes]) }))
    return (row, cells, kinds = null, isAscii = false) => {
      const session = toFixingSession(kinds)
      const { mapRow = mapNewest } = earlier.find(({ until }) => session < until) ?? {}
      return mapRow(row, cells, kinds, isAscii)
    }
  }
  const mapping = resolveMapping(plan, columns)
  const writers = createWriters(plan, mapping, columns, { runToken, addresses })
  const toUniqueKey = createUniqueKey(plan, mapping)
  const checkCells = createCellCheck(plan.operation, mapping, columns)
  const mapCells = (row: number, cells: readonly string[], kinds: string | null, isAscii = false) => {
    const body: Body = {}
    let problems: FoundProblem[] | null = null
    for (const write of writers) {
      const problem = write(body, row, cells, kinds)
      if (problem !== null) {
        problems ??= []
        problems.push(problem)
      }
    }
    const found = checkCells(row, cells, kinds, isAscii)
    if (found.length > 0) problems = problems === null ? found : [...problems, ...found]
    return { body, problems: problems ?? NO_PROBLEMS }
  }
  const toKey = (body: Record<string, unknown>) => (toUniqueKey === null ? null : toUniqueKey(body))
  const fixRow = createRowFixer({ ...plan, mapping }, columns, runToken, (field) =>
    createFixedField(field, plan, (kind) => compileSource(mapping[field], columns, runToken, kind)),
  )
  const hasFixes = plan.fixes !== undefined && plan.fixes.length > 0
  return (row, cells, kinds = null, isAscii = false) => {
    const isMarked = kinds?.includes(MARK) ?? false
    if (!hasFixes && !isMarked) {
      const { body, problems } = mapCells(row, cells, kinds, isAscii)
      return { body, uniqueKey: toKey(body), problems }
    }
    const half = toHalf(row, kinds)
    const record = half?.of ?? row
    const joined = isMarked ? joinCells(cells, kinds ?? '') : cells
    // Marks are not kinds of cells.
    const letters = isMarked ? toCellKinds(kinds ?? '') || null : kinds
    const { body, problems } = mapCells(record, joined, letters)
    const before = joined === cells ? null : { from: mapCells(record, cells, letters).body, to: { ...body } }
    const fixed = fixRow({ body, problems, row, cells: joined, source: { cells, kinds }, half })
    if (before === null) return { body, uniqueKey: toKey(body), ...fixed }
    const corrections = addJoined(fixed.corrections ?? [], before.from, before.to)
    return { body, uniqueKey: toKey(body), ...fixed, ...(corrections.length > 0 && { corrections }) }
  }
}

/**
 * Compiles a plan's mapping into a function that returns only the body, the same as {@link createRowMapper};
 * rows were checked before. Throws `BAD_PLAN`.
 */
export function createBodyMapper(
  plan: SentPlan,
  columns: readonly string[],
  runToken: string,
  addresses?: MediaAddresses,
): (row: number, cells: readonly string[], kinds: string | null) => Body {
  const writers = createWriters(plan, resolveMapping(plan, columns), columns, { runToken, addresses })
  const hasFixes = hasAnyFixes(plan)
  let mapRow: MapRow | null = null
  return (row, cells, kinds) => {
    if (hasFixes || kinds?.includes(MARK)) {
      mapRow ??= createRowMapper(plan, columns, runToken, addresses)
      return mapRow(row, cells, kinds).body
    }
    const body: Body = {}
    for (const write of writers) write(body, row, cells, kinds)
    return body
  }
}

function hasAnyFixes({ fixes = [], earlierFixes = [] }: SentPlan): boolean {
  return fixes.length > 0 || earlierFixes.length > 0
}

/** A field that takes another text as if its cell had it; null for what is not a single field. */
function createFixedField(
  name: string,
  plan: Plan,
  compile: (kind: RequestField['kind']) => ReadCell | null,
): FixedField | null {
  const field = fieldsOf(plan.operation).find((one) => one.name === name)
  if (field === undefined || field === REQUEST_FIELD) return null
  let text = ''
  const anything = { [name]: { kind: 'template', template: name } } as const
  const write = createWriter(field, plan, anything, [], () => () => text)
  return {
    kind: field.kind,
    read: compile(field.kind),
    set(body, row, given) {
      text = given
      delete body[name]
      return write?.(body, row, [], null) ?? null
    },
  }
}

/**
 * Compiles the mapping of one field into a function that maps nothing else; null if nothing fills the field.
 * It returns what {@link createRowMapper} writes into the body, or the row's own id if the plan replaces it
 * only on the wire, so that results join with a person's data. Throws `BAD_PLAN`.
 */
export function createFieldMapper(
  plan: SentPlan,
  columns: readonly string[],
  runToken: string,
  name: string,
): ((row: number, cells: readonly string[], kinds: string | null) => unknown) | null {
  const writers = createWriters(plan, resolveMapping(plan, columns), columns, { runToken, only: name })
  const hasFixes = hasAnyFixes(plan)
  if (writers.length === 0 && !hasFixes) return null
  let mapRow: MapRow | null = null
  return (row, cells, kinds) => {
    if (hasFixes || kinds?.includes(MARK)) {
      mapRow ??= createRowMapper(plan, columns, runToken)
      return toOwnValue(mapRow(row, cells, kinds), name)
    }
    const body: Body = {}
    for (const write of writers) write(body, row, cells, kinds)
    return body[name]
  }
}

/** {@link createFieldMapper} for the post_id; the function gives null if the row has none. */
export function createPostIdMapper(
  plan: SentPlan,
  columns: readonly string[],
  runToken: string,
): (row: number, cells: readonly string[], kinds: string | null) => string | null {
  const toField = createFieldMapper(plan, columns, runToken, 'post_id')
  return (row, cells, kinds) => {
    const postId = toField?.(row, cells, kinds)
    return typeof postId === 'string' && postId !== '' ? postId : null
  }
}

function toOwnValue({ body, corrections = [] }: MappedRow, name: string): unknown {
  const correction = corrections.find(({ field }) => field === name)
  return correction === undefined || correction.own === correction.sent ? body[name] : correction.own
}

/**
 * The plan's mapping with its gaps filled, see {@link toWholeMapping}. Resolving again changes nothing.
 * Throws `BAD_PLAN` naming unknown fields, columns, placeholders, and required fields without a source.
 */
export function resolveMapping(plan: Plan, columns: readonly string[]): Mapping {
  const { operation } = plan
  const mapping = toWholeMapping(plan, columns)
  const mistakes: MappingMistake[] = [
    ...checkMapping(mapping, {
      operation,
      columns,
      hasHeader: plan.source.header,
      hasMediaFiles: hasMediaFiles(plan, columns) && plan.source.media !== undefined,
    }),
    ...findMediaMistakes(plan, columns),
    ...findSurplusModels(plan, mapping),
    ...findFixMistakes(plan, columns),
  ]
  if (mistakes.length === 0) return mapping
  throw new SluiceError({
    id: 'mapping_unusable',
    mistakes,
    sheetChoice: null,
    headerRow: null,
    rowsInKeys: [],
  })
}

/** Placeholders of fixes that are unknown in this source. */
function findFixMistakes({ fixes = [] }: Plan, columns: readonly string[]): MappingMistake[] {
  return fixes.flatMap((fix) =>
    fix.kind === 'value' ? findUnknownPlaceholders(fix.field, fix.value, columns, []) : [],
  )
}

/** Surplus models that every row would name; those of a column are checked row by row. */
function findSurplusModels({ operation }: Plan, mapping: Mapping): MappingMistake[] {
  if (operation.kind !== 'task' || operation.api !== 'v1') return []
  const source = mapping['models']
  const lists = [operation.models]
  if (source?.kind === 'template' && isConstantTemplate(source.template)) {
    lists.push(parseModels(source.template) ?? [])
  }
  const surplus = lists.find((models) => models.length > V1_MAX_MODELS)
  if (surplus === undefined) return []
  return [{ id: 'too_many_models', field: 'models', models: surplus }]
}

/** Problems of the template that makes addresses of media files. */
function findMediaMistakes(plan: Plan, columns: readonly string[]): MappingMistake[] {
  const { media } = plan.source
  if (media?.kind !== 'template' || !hasMediaFiles(plan, columns)) return []
  const { template } = media
  const unknown = findUnknownPlaceholders('media', template, columns, [PATH_PLACEHOLDER])
  const hasPath = parseTemplate(template).some(
    (part) => part.kind === 'placeholder' && part.name.trim() === PATH_PLACEHOLDER,
  )
  if (hasPath) return unknown
  return [...unknown, { id: 'media_path_missing', field: 'media', template }]
}

/** `only` names the single wanted field, which a column with whole requests may also contain. */
function createWriters(
  plan: Plan,
  mapping: Mapping,
  columns: readonly string[],
  { runToken, addresses, only }: { runToken: string; addresses?: MediaAddresses | undefined; only?: string },
): WriteField[] {
  const compile: CompileField = (source, kind) => compileSource(source, columns, runToken, kind)
  const fields = fieldsOf(plan.operation)
  const readRequest = compile(mapping[REQUEST_FIELD.name], REQUEST_FIELD.kind)
  const writers: WriteField[] = []
  if (readRequest !== null) {
    writers.push(
      createRequestWriter(readRequest, fields, emptyNotesOf(plan.operation) === null ? [] : ['notes']),
    )
  }
  for (const field of fields) {
    if (field === REQUEST_FIELD || (only !== undefined && field.name !== only)) continue
    const write = createWriter(field, plan, mapping, columns, compile)
    if (field.name === 'url' && hasMediaFiles(plan, columns)) {
      const toUrl = createMediaUrl(plan, columns, runToken, addresses)
      writers.push(...(write === null ? [] : [keepPresent('url', write)]), createMediaWriter(toUrl, columns))
      continue
    }
    if (write === null) continue
    // An object takes the keys that a whole request's lacks.
    const isAlone = readRequest === null || field.kind === 'json_object'
    const source = mapping[field.name]
    const isDefault = source?.kind === 'template' && source.template === DEFAULT_POST_ID.template
    writers.push(isAlone ? write : keepPresent(field.name, write, !isDefault))
  }
  return writers
}

/** Compiles what fills a field of a kind; null if nothing does. */
type CompileField = (source: FieldSource | undefined, kind: RequestField['kind']) => ReadCell | null

function createWriter(
  { name, kind }: RequestField,
  { operation }: Plan,
  mapping: Mapping,
  columns: readonly string[],
  compile: CompileField,
): WriteField | null {
  const read = compile(mapping[name], kind)
  if (kind === 'json_object') {
    const keys = Object.entries(mapping).flatMap(([field, source]) => {
      const parsed = parseFieldName(field, operation)
      const readKey = parsed?.kind === 'key' && parsed.name === name ? compile(source, 'string') : null
      return parsed?.kind === 'key' && readKey !== null ? [{ key: parsed.key, read: readKey }] : []
    })
    return read !== null || keys.length > 0 ? createObjectWriter(name, read, keys) : null
  }
  if (kind === 'string_array') {
    const models = operation.kind === 'task' ? operation.models : []
    return read !== null || models.length > 0 ? createModelsWriter(name, read, models) : null
  }
  const structured = listColumnsOf(mapping[name], columns)
  const emptyNotes = emptyNotesOf(operation)
  if (name === 'notes' && emptyNotes !== null) {
    const source = mapping[name]
    const index = source?.kind === 'column' ? findColumn(columns, source.column) : null
    const clearsEmpty = emptyNotes === 'clear'
    if (read === null && !clearsEmpty) return null
    return createNotesWriter(read, { index, clearsEmpty, structured })
  }
  return read === null ? null : createTextWriter(name, read, structured)
}

/** Whether a problem is that a media file has no address, from which the missing url follows. */
export function isMissingAddress(problem: FoundProblem): boolean {
  return problem.code === 'required' && problem.args.lack === 'address'
}

/** A media file's address is its url, unless the row has one already. */
function createMediaWriter(toUrl: ReadCell | null, columns: readonly string[]): WriteField {
  const readPath = createMediaCell(columns)
  if (toUrl === null) {
    return (body, row, cells) => {
      const found = readPath(row, cells)
      if (found === '' || body['url'] !== undefined) return null
      return { row, severity: 'error', code: 'required', args: { lack: 'address' }, field: 'url', found }
    }
  }
  const write = createTextWriter('url', toUrl)
  return (body, row, cells, kinds) => (body['url'] === undefined ? write(body, row, cells, kinds) : null)
}

function compileSource(
  source: FieldSource | undefined,
  columns: readonly string[],
  run: string,
  kind: RequestField['kind'],
): ReadCell | null {
  if (source === undefined) return null
  if (source.kind === 'template')
    return source.template === '' ? null : compileFieldTemplate(kind, source.template, columns, run)
  const index = findColumn(columns, source.column) ?? -1
  return (_row, cells) => cells[index] ?? ''
}

/**
 * Gives the value that must be unique among a source's rows: a task's post_id, or a term as the service
 * compares it, lower-cased (docs/interface.md §4.5, §8). For an index, gives the item, which should be
 * unique. Null if there is none, or the mapping guarantees it.
 */
function createUniqueKey(
  { operation, fixes = [] }: Plan,
  mapping: Mapping,
): ((body: Readonly<Record<string, unknown>>) => UniqueKey | null) | null {
  if (isAbout(operation, 'term')) return ({ term }) => toTermKey(term)
  if (operation.kind === 'index-add') return ({ url, media }) => toItemKey('adds', { url, media })
  if (operation.kind === 'index-remove')
    return ({ custom_index_item_id }) => toItemKey('removes', { custom_index_item_id })
  if (operation.kind !== 'task') return null
  const postId = mapping['post_id']
  const isUnique = postId?.kind === 'template' && isUniqueByConstruction(postId.template)
  // A whole request or a fix may set its own post_id.
  const isFixed = fixes.some((fix) => 'field' in fix && fix.field === 'post_id')
  if (isUnique && mapping['request'] === undefined && !isFixed) return null
  return ({ post_id: id }) => toKey('post_id', id)
}

function toTermKey(term: unknown): UniqueKey | null {
  const key = toKey('term', term)
  if (key === null) return null
  const { field, value } = key
  return { field, value: value.toLowerCase(), shown: value, looks: toLookAlike(value) }
}

/** The first of the fields that is filled. */
function toItemKey(effect: 'adds' | 'removes', fields: Readonly<Record<string, unknown>>): UniqueKey | null {
  for (const field in fields) {
    const key = toKey(field, fields[field])
    if (key !== null) return { ...key, effect }
  }
  return null
}

function toKey(field: string, value: unknown): UniqueKey | null {
  return typeof value === 'string' && value !== '' ? { field, value } : null
}
