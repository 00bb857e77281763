import { isEmpty } from '../../../shared/mapping/check-mapping.ts'
import { isLinkColumn } from '../../../shared/mapping/link-columns.ts'
import {
  findTextColumns,
  findUrlColumns,
  isFolderColumns,
  matchColumns,
  splitName,
  toComparable,
} from '../../../shared/mapping/match-columns.ts'
import { listColumnsOf } from '../../../shared/mapping/templates.ts'
import type { SourceWarning } from '../../../shared/messages/problem-messages.ts'
import type { FilledBy, Mapping, Plan } from '../../../shared/plan/plan.ts'
import { findCellName, findOwnColumns, isJsonLinesExport } from '../../../shared/run/export-columns.ts'
import { toFound } from '../../../shared/run/problem.ts'
import type { NestedText } from '../source/source-reader.ts'

/** A column of content that no field takes. */
interface LeftOut {
  field: 'text_data' | 'url'
  index: number
  rows: number
  /** How many of them hold nothing but an id or an address. */
  references: number
  first: string
}

/** A column whose name does not show that people write in it; its cells do. */
interface ProseColumn {
  index: number
  filled: number
  prose: number
  first: string
}

/** The column of content that is sent. */
interface Kept {
  field: 'text_data' | 'url'
  index: number
  /** Whether it is named like the text, as good as stated: then only columns of its name are in doubt. */
  isNamed: boolean
}

/** A field of objects with content that no field takes. */
type LeftOutField = NestedText & Pick<LeftOut, 'field'>

/**
 * The content lost because a column was matched or guessed to be the one content of each request: columns and
 * fields of objects that look like the text, addresses next to a guessed text, columns of the same name, and
 * those with far more prose than what is sent. Nothing if a person stated what fills it. `mapping` is the
 * resolved one of the plan.
 */
export class LeftOutContent {
  readonly #columns: readonly string[]
  readonly #kept: Kept | null
  readonly #leftOut: LeftOut[]
  /** Fields of JSON objects that have no column of their own, and what the reader found in them. */
  readonly #nested: readonly LeftOutField[]
  readonly #others: ProseColumn[] = []
  /** Rows whose sent content is prose. */
  #keptProse = 0

  constructor(
    plan: Plan,
    mapping: Mapping,
    columns: readonly string[],
    nestedTexts: readonly NestedText[] = [],
  ) {
    this.#columns = columns
    this.#kept = findKept(plan, mapping, columns)
    this.#leftOut = []
    this.#nested = []
    if (this.#kept === null) return
    const { isNamed, ...kept } = this.#kept
    const used = new Set(Object.values(mapping).flatMap((source) => listColumnsOf(source, columns)))
    const others = findNamesakes(columns, kept.index).filter((index) => !used.has(index))
    this.#leftOut = others.map((index) => ({ field: kept.field, index, rows: 0, references: 0, first: '' }))
    if (isNamed) return
    const found = this.#find(plan, mapping, kept.field, nestedTexts)
    this.#leftOut.push(...found.filter(({ index }) => !others.includes(index)))
    this.#nested = findNested(nestedTexts, mapping, columns)
    this.#others = this.#listOthers(used, nestedTexts)
  }

  /** The unused columns whose names say nothing. */
  #listOthers(used: ReadonlySet<number>, nestedTexts: readonly NestedText[]): ProseColumn[] {
    const columns = this.#columns
    const names = new Set(columns)
    const objects = new Set(nestedTexts.map(({ name }) => columns.indexOf(name.slice(0, name.indexOf('.')))))
    const own = new Set(findOwnColumns(columns))
    return columns.flatMap((name, index): ProseColumn[] => {
      const isKnown = used.has(index) || objects.has(index) || own.has(index) || isLinkColumn(name, names)
      const isListed = this.#leftOut.some((one) => one.index === index)
      if (isKnown || isListed || isOther(name, 'text_data')) return []
      return [{ index, filled: 0, prose: 0, first: '' }]
    })
  }

  #find(plan: Plan, mapping: Mapping, kept: LeftOut['field'], nestedTexts: readonly NestedText[]): LeftOut[] {
    const columns = this.#columns
    const used = new Set(Object.values(mapping).flatMap((source) => listColumnsOf(source, columns)))
    const names = new Set(columns)
    // Fields of an object are content of their own.
    for (const { name } of nestedTexts) used.add(columns.indexOf(name.slice(0, name.indexOf('.'))))
    for (const index of findOwnColumns(columns)) used.add(index)
    for (const [index, name] of columns.entries()) if (isLinkColumn(name, names)) used.add(index)
    const matched = matchColumns(columns, plan.operation)
    const url = listColumnsOf(matched['url'], columns)
    // A column named like the field itself, such as one added since the guess.
    const text = listColumnsOf(matched['text_data'], columns).filter((index) => !used.has(index))
    const urls =
      kept === 'text_data' && isEmpty(mapping['url'])
        ? new Set(
            [...url, ...findUrlColumns(columns, used)].filter(
              (index) => !used.has(index) && !isOther(columns[index] ?? '', 'url'),
            ),
          )
        : []
    const toLeftOut = (field: LeftOut['field'], index: number) => ({
      field,
      index,
      rows: 0,
      references: 0,
      first: '',
    })
    return [
      ...[...urls].map((index) => toLeftOut('url', index)),
      ...[
        ...text,
        ...findTextColumns(columns, new Set([...used, ...urls, ...text])).filter(
          (index) => !isOther(columns[index] ?? '', 'text_data'),
        ),
      ].map((index) => toLeftOut('text_data', index)),
    ]
  }

  /** Checks one more sent row. Cells without letters are not text, nor is a copy of the sent text. */
  note(cells: readonly string[]): void {
    const kept = this.#kept
    if (kept === null) return
    this.#noteProse(cells, kept)
    for (const found of this.#leftOut) {
      const cell = cells[found.index] ?? ''
      if (cell === '' || cell === cells[kept.index]) continue
      if (!isContent(cell, found.field, this.#columns[found.index] ?? '')) continue
      found.rows += 1
      if (REFERENCE.test(cell)) found.references += 1
      if (found.first === '') found.first = cell
    }
  }

  #noteProse(cells: readonly string[], kept: Kept): void {
    if (this.#others.length === 0) return
    const own = cells[kept.index] ?? ''
    if (isProse(own)) this.#keptProse += 1
    for (const found of this.#others) {
      const cell = cells[found.index] ?? ''
      if (cell === '' || cell === own) continue
      found.filled += 1
      if (!isProse(cell)) continue
      found.prose += 1
      if (found.first === '') found.first = cell
    }
  }

  findWarnings(): SourceWarning[] {
    const kept = this.#kept
    if (kept === null) return []
    const ofColumns = this.#leftOut.flatMap(({ index, references, ...found }) =>
      this.#isText(index, found.rows, references) ? [{ ...found, name: this.#nameOf(index) }] : [],
    )
    const byValue = this.#others
      .filter(({ filled, prose }) => prose * 2 >= filled && prose > this.#keptProse * 2)
      .map(({ index, prose, first }) => ({
        field: 'text_data' as const,
        name: this.#nameOf(index),
        rows: prose,
        first,
      }))
    return [...ofColumns, ...byValue, ...this.#nested].flatMap(
      ({ field, name, rows, first }): SourceWarning[] => {
        if (rows === 0) return []
        const args = { column: name, kept: this.#nameOf(kept.index), keptField: kept.field }
        const cause = { code: 'content_not_sent', args } as const
        return [{ severity: 'warning', field, ...cause, found: toFound(first), rows }]
      },
    )
  }

  /**
   * Whether a column holds texts by its values, too: one called `post` often has ids or permalinks. A column
   * named like the sent one has its kind of content, and so have addresses.
   */
  #isText(index: number, rows: number, references: number): boolean {
    const kept = this.#kept?.index ?? -1
    const isNamesake = findNamesakes(this.#columns, kept).includes(index)
    return (
      references < rows ||
      isNamesake ||
      this.#leftOut.some((one) => one.index === index && one.field === 'url')
    )
  }

  #nameOf(index: number): string {
    const name = this.#columns[index] ?? ''
    return name === '' ? String(index + 1) : name
  }
}

const HAS_LETTER = /\p{L}/u
/** Scripts without spaces between words. */
const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u
/** How a JSON object or array that is not empty begins. */
const JSON_START = /^(?:\{\s*"|\[\s*[{["])/
const PROSE_WORDS = 4
const PROSE_SIGNS = 8
/** Only this much of a text is examined. */
const PROSE_CHARACTERS = 400
const ADDRESS = /^https?:\/\//i
/**
 * A cell that only refers to something: an address, a path, or one word with a digit. The lookahead for the
 * digit keeps the time linear.
 */
const REFERENCE = /^\s*(?:[a-z][a-z\d+.-]*:\/\/\S+|\/\S+|www\.\S+|(?=[\w.:@#/-]*[\d_])[\w.:@#/-]+)\s*$/i

/** Whether a cell reads like a person's writing: several words, not an address or a name. */
export function isProse(cell: string): boolean {
  const text = cell.slice(0, PROSE_CHARACTERS).trim()
  if (!HAS_LETTER.test(text) || ADDRESS.test(text) || JSON_START.test(text)) return false
  return (
    text.split(/\s+/u, PROSE_WORDS).length >= PROSE_WORDS ||
    (text.length >= PROSE_SIGNS && UNSPACED.test(text))
  )
}

/** Whether a cell is content: a text with a letter, or an address; a column `url` always holds addresses. */
function isContent(cell: string, field: LeftOut['field'], name: string): boolean {
  if (field === 'text_data') return HAS_LETTER.test(cell)
  return toComparable(name) === 'url' || ADDRESS.test(cell)
}

const PERSON = ['user', 'author', 'profile', 'account', 'owner', 'avatar', 'icon', 'logo']
/** Words for addresses of the post itself, which are not its content. */
const OWN_ADDRESS = ['permalink', 'source', 'page', 'canonical']
const ADDRESS_NAMES = ['url', 'link', 'uri', 'address', 'adresse', 'permalink']
/** Words for the post itself in front of an address: `Tweet URL`, `message_link`. */
const POSTS = ['post', 'tweet', 'comment', 'message', 'status', 'thread', 'reply', 'beitrag', 'kommentar']
const POSTED = ['video', 'media']
const ABOUT = ['description', 'beschreibung']

/** Whether the words of a name mean a person, not something posted by one: `avatar_url`, `user_photo`. */
function isOfPerson(words: readonly string[]): boolean {
  return words.some((word) => PERSON.includes(word)) && !words.some((word) => POSTED.includes(word))
}

/**
 * Whether a name that looks like content means something else: a person's picture or description, or the
 * post's own address.
 */
function isOther(name: string, field: LeftOut['field']): boolean {
  const words = splitName(name.slice(name.lastIndexOf('.') + 1))
  const last = words.at(-1) ?? ''
  if (field === 'text_data') return isOfPerson(words) && ABOUT.includes(last)
  const before = words.slice(0, -1)
  const isOwn =
    words.some((word) => OWN_ADDRESS.includes(word)) ||
    (before.length > 0 && before.every((word) => POSTS.includes(word)))
  return isOfPerson(words) || (ADDRESS_NAMES.includes(last) && isOwn)
}

/** Whether a field is in a person's object, as `user.photo`; `user_content` holds content. */
function isInPerson(name: string): boolean {
  const objects = name.split('.').slice(0, -1)
  return objects.some((key) => isOfPerson(splitName(key)) && findTextColumns([key], new Set()).length === 0)
}

/** The unused fields of objects whose names look like texts or addresses. */
function findNested(
  texts: readonly NestedText[],
  mapping: Mapping,
  columns: readonly string[],
): LeftOutField[] {
  const used = new Set(Object.values(mapping).flatMap((source) => listColumnsOf(source, columns)))
  const usedNames = new Set([...used].map((index) => columns[index] ?? ''))
  const isExport = isJsonLinesExport(columns)
  const left = texts.filter(
    ({ name }) =>
      (!isExport || findCellName(name) !== null) &&
      !usedNames.has(name) &&
      !usedNames.has(name.slice(0, name.indexOf('.'))) &&
      !isInPerson(name),
  )
  const names = left.map(({ name }) => name)
  const ofText = new Set(findTextColumns(names, new Set()))
  const ofUrl = isEmpty(mapping['url']) ? new Set(findUrlColumns(names, new Set())) : new Set<number>()
  return left.flatMap((found, index): LeftOutField[] => {
    const { name } = found
    if (ofUrl.has(index) && !isOther(name, 'url') && ADDRESS.test(found.first))
      return [{ ...found, field: 'url' }]
    if (
      ofText.has(index) &&
      !isOther(name, 'text_data') &&
      HAS_LETTER.test(found.first) &&
      !REFERENCE.test(found.first)
    )
      return [{ ...found, field: 'text_data' }]
    return []
  })
}

/** How a field was filled without a person stating it; null if a person did. */
export function findFilledBy({ mapping: said, filledBy = {} }: Plan, field: string): FilledBy[string] | null {
  return filledBy[field] ?? (said[field] === undefined ? 'name' : null)
}

/** The one column of content, if nobody stated it; null if there is none, or rows may have either. */
function findKept(plan: Plan, mapping: Mapping, columns: readonly string[]): Kept | null {
  const { operation } = plan
  if (operation.kind !== 'task' || isFolderColumns(columns) || !isEmpty(mapping['request'])) return null
  const isText = !isEmpty(mapping['text_data'])
  const field = isText ? 'text_data' : 'url'
  const how = findFilledBy(plan, field)
  if (how === null) return null
  const [index] = listColumnsOf(mapping[field], columns)
  return index === undefined ? null : { field, index, isNamed: isText && how === 'name' }
}

/** Other columns whose names differ from a column's only in case, separators or the number of a duplicate. */
function findNamesakes(columns: readonly string[], kept: number): number[] {
  const names = new Set(columns)
  const compare = (name: string) => {
    const base = /^(.+) \(\d+\)$/.exec(name)?.[1]
    return toComparable(base !== undefined && names.has(base) ? base : name)
  }
  const wanted = compare(columns[kept] ?? '')
  return columns.flatMap((name, index) => (index !== kept && compare(name) === wanted ? [index] : []))
}
