import { isJson } from '../messages/pretty-json.ts'
import {
  fieldsOf,
  hasModes,
  isAbout,
  isAsync,
  OPERATIONS,
  type Operation,
  parseFieldName,
  REQUEST_FIELD,
} from '../operations/operations.ts'
import { DEFAULT_POST_ID } from '../operations/task.ts'
import type { FieldSource, FilledBy, Mapping, Plan } from '../plan/plan.ts'
import { findCellName, findOwnColumns, isJsonLinesExport } from '../run/export-columns.ts'
import { FORBIDDEN_ID_CHARACTERS, type RequestField } from '../service/request-field.ts'
import { trimName } from './id-text.ts'
import { isLinkColumn } from './link-columns.ts'

/** The export's name for an added item, by which a later run removes it (docs/interface.md §4.4). */
const EXPORTED_ITEM_ID = 'sluice_custom_index_item_id'

/**
 * The index of a column by its exact name, its 1-based number, or its name without invisible characters; null
 * if none matches. A name of digits wins over the number.
 */
export function findColumn(columns: readonly string[], column: string | number): number | null {
  if (typeof column === 'string') {
    const index = findColumnOfName(columns, column)
    if (index !== -1) return index
    if (!/^\d+$/.test(column)) return null
  }
  const number = Number(column)
  return number >= 1 && number <= columns.length ? number - 1 : null
}

/** A column's index by its exact name, else without invisible characters; -1 if none or several have it. */
export function findColumnOfName(columns: readonly string[], name: string): number {
  const exact = columns.indexOf(name)
  if (exact !== -1) return exact
  const seen = trimName(name)
  const index = seen === '' ? -1 : columns.findIndex((column) => trimName(column) === seen)
  return index !== -1 && columns.findLastIndex((column) => trimName(column) === seen) === index ? index : -1
}

/**
 * Names in comparable form: without case, spaces, underscores, hyphens, dots and invisible characters;
 * letters of other alphabets in a Latin name become the Latin letters that they look like.
 */
export function toComparable(name: string): string {
  const comparable = trimName(name)
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[\s_.-]+/g, '')
  return /[a-z]/.test(comparable)
    ? comparable.replaceAll(/[\u0370-\u052f]/g, (letter) => LOOKS_LIKE[letter] ?? letter)
    : comparable
}

/** Latin letters that Cyrillic and Greek letters look like, in lower or upper case. */
const LOOKS_LIKE: Readonly<Record<string, string>> = {
  ...{ а: 'a', в: 'b', с: 'c', ԁ: 'd', е: 'e', һ: 'h', н: 'h', і: 'i', ј: 'j', к: 'k', м: 'm', о: 'o' },
  ...{ р: 'p', ԛ: 'q', ѕ: 's', т: 't', ԝ: 'w', х: 'x', у: 'y' },
  ...{ α: 'a', β: 'b', ε: 'e', η: 'h', ι: 'i', κ: 'k', μ: 'm', ν: 'v', ο: 'o', ρ: 'p', τ: 't', χ: 'x' },
}

/**
 * The columns of a folder's rows. A text file fills `text_data`, a JSON file `request`, a media file `media`
 * (with its path inside the folder); `kind` says which.
 */
export const FOLDER_COLUMNS = ['path', 'kind', 'text_data', 'request', 'media'] as const

/** Whether a source is a folder, by its columns. */
export function isFolderColumns(columns: readonly string[]): boolean {
  return (
    columns.length === FOLDER_COLUMNS.length && FOLDER_COLUMNS.every((name, index) => columns[index] === name)
  )
}

/**
 * How certain a match is: the header is the field's name, differs from it only in case and separators, or is
 * a word that people use for such content. The first two are used without asking; a guess is shown before
 * anything is sent.
 */
export type MatchConfidence = 'exact' | 'alike' | 'guess'

/** The mapping that the columns suggest, and how certain each of its fields is. */
export interface SuggestedMapping {
  mapping: Mapping
  confidence: Record<string, MatchConfidence>
}

/**
 * Words for required fields, English and German, the likeliest first; `v2` is the text of the SMS spam
 * collection. Optional fields are never guessed.
 */
const WORDS_FOR: Record<string, readonly string[]> = {
  text_data: [
    ...[
      'text',
      'message',
      'comment',
      'tweet',
      'prompt',
      'body',
      'content',
      'caption',
      'review',
      'sms',
      'msg',
    ],
    ...['chat', 'reply', 'utterance', 'sentence', 'description', 'post', 'selftext', 'feedback', 'question'],
    ...['answer', 'nachricht', 'kommentar', 'beitrag', 'inhalt', 'bewertung', 'beschreibung', 'v2'],
  ],
  url: [
    ...['link', 'uri', 'image', 'picture', 'photo', 'video', 'media', 'attachment', 'address'],
    ...['bild', 'foto', 'adresse'],
  ],
  user_id: [
    ...['user', 'author', 'username', 'account', 'sender', 'uid', 'poster', 'handle', 'member', 'screen'],
    ...['nutzer', 'benutzer', 'autor', 'absender', 'verfasser', 'konto', 'mitglied'],
  ],
  post_id: ['id'],
  custom_index_item_id: ['item', 'id'],
  term: ['terms', 'word', 'phrase', 'keyword', 'expression', 'begriff', 'wort'],
  notes: ['note', 'notiz'],
  appeal_id: ['appeal', 'appeals', 'id'],
}

/** Suffixes with which a word still names an address, a person or an item. */
const SUFFIXES: Record<string, readonly string[]> = {
  url: ['url', 'link', 'uri'],
  user_id: ['id', 'name'],
  custom_index_item_id: ['id'],
}

/** For each name and word, in comparable form, the fields that a column of this name may fill. */
const FIELDS_OF_WORDS = new Map<string, Set<string>>()
for (const [field, words] of Object.entries(WORDS_FOR)) {
  const suffixed = words.flatMap((word) => [word, ...(SUFFIXES[field] ?? []).map((suffix) => word + suffix)])
  for (const name of [toComparable(field), ...suffixed]) {
    FIELDS_OF_WORDS.set(name, (FIELDS_OF_WORDS.get(name) ?? new Set()).add(field))
  }
}

/** Whether columns with these two names may fill the same field: `post_id` and `ID`, `author` and `User`. */
export function mayFillSameField(one: string, other: string): boolean {
  const fields = FIELDS_OF_WORDS.get(toComparable(one)) ?? []
  const others = FIELDS_OF_WORDS.get(toComparable(other))
  return [...fields].some((field) => others?.has(field))
}

/**
 * Maps columns to fields by name: exact wire names first, then names that differ only in case, spaces,
 * underscores or hyphens. `user_metadata.KEY` and the like fill that key. No column fills two fields.
 *
 * In a folder, `request` is matched and `media` is not, since that is not an address; elsewhere `media` is
 * matched and `request` is not, since such a column may hold anything. A column named like a field of the
 * operation's other mode only is left alone, see {@link findLeftOutFields}: a source for the other mode, or
 * the export of an async add, can be used as it is.
 */
export function matchColumns(columns: readonly string[], operation: Operation): Mapping {
  const isFolder = isFolderColumns(columns)
  const passedOver = new Set([isFolder ? 'media' : REQUEST_FIELD.name])
  for (const { name } of findUnlistedFields(operation)) passedOver.add(name)
  const mapping: Mapping = {}
  const taken = new Set<string>()
  const take = (field: string, column: string) => {
    mapping[field] = { kind: 'column', column }
    taken.add(column)
  }
  // An export has the ids that rows were sent with, not those of the source, and unsent rows have none.
  if (isJsonLinesExport(columns)) taken.add('post_id')
  for (const column of columns) {
    if (parseFieldName(column, operation) === null || passedOver.has(column) || taken.has(column)) continue
    if (!isRenamed(column, columns)) take(column, column)
  }
  for (const { name } of fieldsOf(operation)) {
    if (Object.hasOwn(mapping, name) || passedOver.has(name)) continue
    const wanted = [
      toComparable(name),
      ...(name === 'custom_index_item_id' ? [toComparable(EXPORTED_ITEM_ID)] : []),
    ]
    const column = columns.find(
      (candidate) => !taken.has(candidate) && wanted.includes(toComparable(candidate)),
    )
    if (column !== undefined) take(name, column)
  }
  return mapping
}

/** The fields that the operation only has in its other mode (docs/interface.md §2.1, §4.3, §4.4). */
export function findUnlistedFields(operation: Operation): readonly RequestField[] {
  if (!hasModes(operation)) return []
  return fieldsOf(operation).filter(({ mode }) => mode !== 'both' && mode !== operation.mode)
}

/**
 * A plan's mapping completed automatically: columns matched by name fill the fields that the plan does not,
 * and a task's post_id gets {@link DEFAULT_POST_ID}, in load tests always. A template without text (`--set
 * url=`) leaves its field empty on purpose.
 */
export function toWholeMapping(
  { operation, mapping, load }: Pick<Plan, 'operation' | 'mapping' | 'load'>,
  columns: readonly string[],
): Mapping {
  const whole: Mapping = { ...matchColumns(columns, operation), ...mapping }
  fillDefaults(whole, operation)
  // A load test submits each row repeatedly, each time with another post_id.
  if (load !== undefined) whole['post_id'] = DEFAULT_POST_ID
  return whole
}

function fillDefaults(mapping: Mapping, { kind }: Operation): void {
  for (const [field, source] of Object.entries(OPERATIONS[kind].defaults ?? {})) mapping[field] ??= source
}

const TABLES: ReadonlySet<string> = new Set(['csv', 'tsv', 'xlsx'])

/** Whether a table's only column is not named like a field: a list of terms or texts often has no header. */
export function hasLoneHeader(
  header: readonly string[],
  format: string | undefined,
  operation: Operation,
): boolean {
  if (header.length !== 1 || format === undefined || !TABLES.has(format)) return false
  return Object.keys(matchColumns(header, operation)).length === 0
}

/** The fields of the other mode that columns are named like; {@link matchColumns} leaves these alone. */
export function findLeftOutFields(columns: readonly string[], operation: Operation): RequestField[] {
  const names = new Set(columns.map(toComparable))
  return findUnlistedFields(operation).filter(({ name }) => names.has(toComparable(name)))
}

/** The first rows of a source, as in a preview. */
interface SeenRows {
  format?: string
  columns: readonly string[]
  rows: readonly { cells: readonly string[] }[]
  /** Columns with links, which a person must choose: they are never guessed. */
  links?: readonly { linkName: string }[]
}

/** Indexes of a JSON source's columns with objects or arrays in its first rows: neither ids nor texts. */
function findStructured(seen: SeenRows | null): number[] {
  if (seen === null || seen.format !== 'jsonl') return []
  const isStructured = (cell: string | undefined) => cell !== undefined && /^[[{]/.test(cell) && isJson(cell)
  return seen.columns.flatMap((_, index) =>
    seen.rows.some(({ cells }) => isStructured(cells[index])) ? [index] : [],
  )
}

/** Whether another field already names the user; otherwise a column called `id` may do so. */
function hasUser(...mappings: readonly Mapping[]): boolean {
  return mappings.some((mapping) => mapping['user_id'] !== undefined)
}

/** Fewest rows for which a column called `id` can be taken as the post_id. */
const FEWEST_IDS = 2

/** Whether the first rows have distinct ids in a column, which the service accepts as post_ids. */
function areDistinctIds(index: number, seen: SeenRows | null): boolean {
  const ids = seen?.rows.map(({ cells }) => cells[index] ?? '') ?? []
  return (
    ids.length >= FEWEST_IDS &&
    new Set(ids).size === ids.length &&
    ids.every((id) => id !== '' && !FORBIDDEN_ID_CHARACTERS.test(id))
  )
}

/**
 * Guesses columns for required fields that `mapping` leaves open, by words that people use for such content.
 * A folder's columns are known, so none is guessed. `seen` excludes columns with objects and arrays; without
 * it, `id` is never guessed as the post_id, which has a default.
 */
function guessColumns(
  columns: readonly string[],
  operation: Operation,
  mapping: Mapping,
  seen: SeenRows | null = null,
): Mapping {
  if (isFolderColumns(columns)) return {}
  const used = listUsed(columns, mapping, seen)
  const guessed: Mapping = {}
  for (const { name, required } of fieldsFor(operation)) {
    const isWanted = required !== 'never' || (isAbout(operation, 'term') && name === 'notes')
    if (!isWanted || mapping[name] !== undefined || isRivalMapped(name, { ...mapping, ...guessed })) continue
    const index = findByValues(columns, name, used, seen)
    if (index < 0) continue
    if (name === 'post_id' && !(hasUser(mapping, guessed) && areDistinctIds(index, seen))) continue
    used.add(index)
    guessed[name] = toColumnSource(columns, index)
  }
  return guessed
}

/** A field with a source of its own: neither open nor left empty on purpose. */
function isFilled(source: FieldSource | undefined): boolean {
  return source !== undefined && !(source.kind === 'template' && source.template === '')
}

/** A column that is named like a field, but is not sent because another column fills the content. */
export interface PassedOver {
  field: string
  column: string | number
  /** The field that is sent instead, with its source; `isStated` if a person said so. */
  kept: string
  source: FieldSource
  isStated: boolean
}

/** A completed mapping: what was guessed, and what is not sent because of the chosen content. */
export interface CompletedMapping {
  guessed: Mapping
  passedOver: PassedOver[]
}

/**
 * Completes a person's mapping for sending. text_data and url are both content and exclude each other: if one
 * is mapped, a column named like the other is passed over; a column that looks like the text wins over one
 * named `url`. Columns with both names stay, since each row may have one of them; both also stay if rows are
 * split.
 */
export function completeMapping(
  { operation, mapping, fixes = [] }: Pick<Plan, 'operation' | 'mapping' | 'fixes'>,
  columns: readonly string[],
  seen: SeenRows | null = null,
): CompletedMapping {
  const matched = matchColumns(columns, operation)
  const whole: Mapping = { ...matched, ...mapping }
  const isTask = operation.kind === 'task' && !isFolderColumns(columns)
  if (!isTask) return { guessed: guessColumns(columns, operation, whole, seen), passedOver: [] }
  const splits = fixes.some(({ kind }) => kind === 'split')
  const passedOver: PassedOver[] = []
  const passOver = (field: string, kept: string, source: FieldSource, isStated: boolean) => {
    const own = matched[field]
    if (own?.kind === 'column') passedOver.push({ field, column: own.column, kept, source, isStated })
  }
  for (const [field, kept] of RIVALS) {
    const source = mapping[kept]
    if (splits || source === undefined || !isFilled(source)) continue
    if (mapping[field] === undefined) passOver(field, kept, source, true)
  }
  for (const { field } of passedOver) whole[field] = { kind: 'template', template: '' }
  const text = isOnlyMatched('url', whole, mapping) ? guessText(columns, whole, seen) : null
  if (text !== null && !splits) passOver('url', 'text_data', text, false)
  const found: Mapping = text === null ? {} : { text_data: text }
  const url = mapping['url']
  if (url !== undefined && isFilled(url) && whole['text_data'] === undefined) {
    const left = guessText(columns, whole, seen)
    if (left?.kind === 'column') {
      passedOver.push({ field: 'text_data', column: left.column, kept: 'url', source: url, isStated: true })
    }
  }
  return {
    guessed: { ...found, ...guessColumns(columns, operation, { ...whole, ...found }, seen) },
    passedOver,
  }
}

const RIVALS = [
  ['url', 'text_data'],
  ['text_data', 'url'],
] as const

/** Whether a column named `url` fills the content, although nobody mapped it or the text. */
function isOnlyMatched(field: string, whole: Mapping, stated: Mapping): boolean {
  return stated[field] === undefined && isFilled(whole[field]) && whole['text_data'] === undefined
}

/** The column that looks like the text, if any of the first rows has text in it. */
function guessText(columns: readonly string[], mapping: Mapping, seen: SeenRows | null): FieldSource | null {
  const used = listUsed(columns, mapping, seen)
  const rows = seen?.rows ?? []
  for (;;) {
    const index = findByValues(columns, 'text_data', used, seen)
    if (index < 0) return null
    if (rows.length === 0 || rows.some(({ cells }) => (cells[index] ?? '') !== '')) {
      return toColumnSource(columns, index)
    }
    used.add(index)
  }
}

const LINK = /^\s*(?:[a-z][a-z\d+.-]*:)?\/\/|^\s*www\./i
const NUMBER = /^[\s\d.,:%+-]*$/

/** {@link findByWord} without columns whose first values rule them out: no address, or only numbers. */
function findByValues(
  columns: readonly string[],
  field: string,
  used: ReadonlySet<number>,
  seen: SeenRows | null,
): number {
  const passed = new Set(used)
  for (;;) {
    const index = findByWord(columns, field, passed)
    const cells = seen?.rows.map((row) => row.cells[index] ?? '').filter((cell) => cell !== '') ?? []
    const isOther =
      (field === 'url' && cells.length > 0 && !cells.some((cell) => LINK.test(cell))) ||
      (field === 'text_data' && cells.length > 1 && cells.every((cell) => NUMBER.test(cell)))
    if (index < 0 || !isOther) return index
    passed.add(index)
  }
}

/** Columns that a guess must not take: mapped ones, those with objects, and links, which a person chooses. */
function listUsed(columns: readonly string[], mapping: Mapping, seen: SeenRows | null): Set<number> {
  const used = new Set([...findStructured(seen), ...findOwnColumns(columns)])
  for (const { linkName } of seen?.links ?? []) used.add(columns.indexOf(linkName))
  for (const source of Object.values(mapping)) used.add(toColumnIndex(columns, source))
  return used
}

/** Indexes of the columns whose names suggest texts, except `used` ones. */
export function findTextColumns(columns: readonly string[], used: ReadonlySet<number>): number[] {
  return findAllByWord(columns, 'text_data', used)
}

/** Indexes of the columns whose names suggest addresses, except `used` ones. */
export function findUrlColumns(columns: readonly string[], used: ReadonlySet<number>): number[] {
  return findAllByWord(columns, 'url', used)
}

function findAllByWord(columns: readonly string[], field: string, used: ReadonlySet<number>): number[] {
  const passed = new Set(used)
  const found: number[] = []
  for (let index = findByWord(columns, field, passed); index >= 0; ) {
    found.push(index)
    passed.add(index)
    index = findByWord(columns, field, passed)
  }
  return found
}

/** The initial mapping in both shells: certain matches, a task's own post_id, and guesses for the rest. */
export function suggestMapping(
  columns: readonly string[],
  operation: Operation,
  seen: SeenRows | null = null,
): SuggestedMapping {
  const mapping: Mapping = {}
  const confidence: Record<string, MatchConfidence> = {}
  const { guessed, passedOver } = completeMapping({ operation, mapping: {} }, columns, seen)
  const isPassedOver = (name: string) => passedOver.some(({ field }) => field === name)
  for (const [field, source] of Object.entries(
    keepKnownFields(matchColumns(columns, operation), operation),
  )) {
    if (isPassedOver(field)) continue
    const index = toColumnIndex(columns, source)
    mapping[field] = toColumnSource(columns, index)
    confidence[field] = columns[index] === field ? 'exact' : 'alike'
  }
  for (const [field, source] of Object.entries(guessed)) {
    mapping[field] = source
    confidence[field] = 'guess'
  }
  fillDefaults(mapping, operation)
  return { mapping, confidence }
}

/** How the fields were filled that a person left as suggested. */
export function toFilledBy(mapping: Mapping, { mapping: suggested, confidence }: SuggestedMapping): FilledBy {
  return Object.fromEntries(
    Object.entries(confidence).flatMap(([field, how]) =>
      JSON.stringify(mapping[field]) === JSON.stringify(suggested[field])
        ? [[field, how === 'guess' ? 'guess' : 'name']]
        : [],
    ),
  )
}

/**
 * The mapping as written in a plan. The engine fills by name whatever a plan leaves open, so fields that the
 * person cleared must be empty there.
 */
export function toPlanMapping(mapping: Mapping, columns: readonly string[], operation: Operation): Mapping {
  const said: Mapping = { ...mapping }
  for (const field of Object.keys(matchColumns(columns, operation))) {
    said[field] ??= { kind: 'template', template: '' }
  }
  return said
}

/** Fields that a column or value may fill, in the interface's order. The receiver fills `callback_url`. */
export function fieldsFor(operation: Operation): RequestField[] {
  const mode = isAsync(operation) ? 'async' : 'sync'
  return fieldsOf(operation).filter(
    (field) => field.name !== 'callback_url' && (field.mode === 'both' || field.mode === mode),
  )
}

/**
 * Whether a column has this name only because another column already had the base name: `user_metadata.age
 * (2)` is not a key of the source.
 */
export function isRenamed(column: string, columns: readonly string[]): boolean {
  const base = /^(.+) \(\d+\)$/.exec(column)?.[1]
  return base !== undefined && columns.includes(base)
}

/** The part of a mapping that an operation, or another mode of it, can still use. */
export function keepKnownFields(mapping: Mapping, operation: Operation): Mapping {
  const names = new Set(fieldsFor(operation).map((field) => field.name))
  return Object.fromEntries(
    Object.entries(mapping).filter(([name]) => {
      const parsed = parseFieldName(name, operation)
      return parsed !== null && names.has(parsed.name)
    }),
  )
}

/** A field source that names the column, or numbers it if its name is empty or not unique. */
export function toColumnSource(columns: readonly string[], index: number): FieldSource {
  const name = columns[index] ?? ''
  const isOwn = name !== '' && columns.indexOf(name) === columns.lastIndexOf(name)
  return { kind: 'column', column: isOwn ? name : index + 1 }
}

/** Whether a column has only a number. */
export function isNameless(columns: readonly string[], index: number): boolean {
  return columns[index] === toDefaultName(index)
}

/** The number of columns in a table, without those for its links. */
export function countOwnColumns(columns: readonly string[]): number {
  const names = new Set(columns)
  return columns.filter((name) => !isLinkColumn(name, names)).length
}

/** The name of a column without one. */
export function toDefaultName(index: number): string {
  return `Column ${index + 1}`
}

/** The column name at a stored number if it is not the stored name; null if it is, or none is stored. */
export function findOtherName(source: FieldSource, columns: readonly string[]): string | null {
  if (source.kind !== 'column' || source.name === undefined || typeof source.column !== 'number') return null
  const name = columns[source.column - 1]
  return name === undefined || trimName(name) === trimName(source.name) ? null : name
}

/** Index of the column that a source means, -1 if there is none. */
export function toColumnIndex(columns: readonly string[], source: FieldSource | undefined): number {
  if (source?.kind !== 'column') return -1
  if (typeof source.column === 'string') return findColumnOfName(columns, source.column)
  return source.column <= columns.length ? source.column - 1 : -1
}

/** text_data and url exclude each other, as do url and media. */
function isRivalMapped(field: string, mapping: Mapping): boolean {
  const rivals: Record<string, readonly string[]> = {
    text_data: ['url'],
    url: ['text_data', 'media'],
    media: ['url'],
  }
  return (rivals[field] ?? []).some((rival) => mapping[rival] !== undefined)
}

/** The column whose name is one of the field's words, else ends in one, like `Original Tweet`. */
function findByWord(columns: readonly string[], field: string, used: ReadonlySet<number>): number {
  // In an export, even a column of the field's own name needs a guess.
  const isExport = isJsonLinesExport(columns)
  const words = [...(isExport ? [toComparable(field)] : []), ...(WORDS_FOR[field] ?? [])]
  const suffixes = SUFFIXES[field] ?? []
  const names = columns.map((name) => splitName(isExport ? (findCellName(name) ?? name) : name))
  const find = (isNamed: (name: readonly string[]) => boolean) =>
    names.findIndex((name, index) => !used.has(index) && name.length > 0 && isNamed(name))
  if (field === 'user_id') {
    // Several people may share a name, so columns of ids come first.
    const index = find((name) => ['uid', ...words.map((word) => `${word}id`)].includes(name.join('')))
    if (index >= 0) return index
  }
  for (const word of words) {
    const index = find((name) => {
      const joined = name.join('')
      return joined === word || joined === `${word}s` || suffixes.some((suffix) => joined === word + suffix)
    })
    if (index >= 0) return index
  }
  if (field !== 'text_data' && field !== 'url') return -1
  for (const word of [...words, ...suffixes]) {
    const index = find((name) => name.at(-1) === word || name.at(-1) === `${word}s`)
    if (index >= 0) return index
  }
  return -1
}

/** The words in a column's name: the same two for `userComment`, `user_comment` and `User Comment`. */
export function splitName(name: string): string[] {
  return trimName(name)
    .normalize('NFKC')
    .replace(/(?<=\p{Ll})(?=\p{Lu})/gu, ' ')
    .toLowerCase()
    .split(/[^\p{Letter}\p{Number}]+/u)
    .filter((word) => word !== '')
}
