import { findColumnOfName } from '../../../../shared/mapping/match-columns.ts'
import { findPlaceholder, listColumnsOf, parseTemplate } from '../../../../shared/mapping/templates.ts'
import {
  fieldsOf,
  OPERATIONS,
  type Operation,
  REQUEST_FIELD,
} from '../../../../shared/operations/operations.ts'
import type { FieldSource, Mapping, Plan } from '../../../../shared/plan/plan.ts'
import { hasMediaFiles } from '../../mapping/field-writers.ts'
import { type Body, toValueText } from '../../mapping/json-text.ts'
import { toHash } from '../journal/seen-ids.ts'

/** Reads a row's key, of its part of the request and its cells, as text; null if it lacks a part. */
export type ReadKey = (row: { body: Readonly<Body>; cells: readonly string[] }) => string | null

/**
 * Reads a key of several names together: fields of the request, as sent, or columns of the source. Null if
 * the source lacks such a column. Terms are compared as the service does (docs/interface.md §4.5).
 */
export function createKeyReader(
  names: readonly string[],
  operation: Operation,
  columns: readonly string[],
): ReadKey | null {
  const parts: ReadKey[] = []
  for (const name of names) {
    const part = createPartReader(name, operation, columns)
    if (part === null) return null
    parts.push(part)
  }
  const [only] = parts
  if (only !== undefined && parts.length === 1) return only
  return (row) => {
    let lengths = ''
    let text = ''
    for (const part of parts) {
      const value = part(row)
      if (value === null) return null
      lengths += `${value.length},`
      text += value
    }
    return lengths + text
  }
}

function createPartReader(name: string, operation: Operation, columns: readonly string[]): ReadKey | null {
  const field = fieldsOf(operation).find((one) => one.name === name && one !== REQUEST_FIELD)
  if (field !== undefined) {
    const isTerm = name === 'term'
    return ({ body }) => {
      const value = body[name]
      if (value === undefined || value === null || value === '') return null
      const text = toValueText(value)
      return isTerm ? text.toLowerCase() : text
    }
  }
  const index = findColumnOfName(columns, name)
  return index === -1 ? null : ({ cells }) => cells[index] || null
}

export interface RowKeys {
  /** Lists of names; the first that a row fills identifies it. */
  keys: readonly (readonly string[])[]
  /** Whether rows may be skipped by it: an id from the source, or what a person named. */
  isCertain: boolean
}

/**
 * What identifies rows: ids from the source, else contents; null if rows of such a plan are not identified.
 * The plan's mapping is resolved.
 */
export function findRowKeys(plan: Plan, mapping: Mapping, columns: readonly string[]): RowKeys | null {
  const { operation, load } = plan
  const { ids = [], contents = [] } =
    load === undefined ? (OPERATIONS[operation.kind].recognizedBy ?? {}) : {}
  const given = ids.filter((names) => findGenerated(names, plan, mapping, columns) === null)
  if (given.length > 0) return { keys: given, isCertain: true }
  return contents.length === 0 ? null : { keys: contents, isCertain: false }
}

/**
 * Which of the names is generated for each run, so that a key with it says nothing about earlier runs; all
 * names if nothing in the key comes from the source. Null if the source provides the key.
 */
export function findGenerated(
  names: readonly string[],
  plan: Plan,
  mapping: Mapping,
  columns: readonly string[],
): string | null {
  const ofRun = names.find(
    (name) =>
      isServedHere(name, plan, columns) ||
      listFillersOf(name, plan, mapping).some(
        (filler) => filler.kind === 'template' && namesRun(filler.template, columns),
      ),
  )
  if (ofRun !== undefined) return ofRun
  return names.some((name) => isGivenBySource(name, plan, mapping, columns)) ? null : names.join('+')
}

/** Files served by this machine get a new address in each run, and are sent by it. */
function isServedHere(name: string, plan: Plan, columns: readonly string[]): boolean {
  const isAddress = fieldsOf(plan.operation).some((field) => field.name === name) && ADDRESSES.has(name)
  return isAddress && plan.source.media?.kind === 'host' && hasMediaFiles(plan, columns)
}

const ADDRESSES: ReadonlySet<string> = new Set(['url', 'media'])

function namesRun(template: string, columns: readonly string[]): boolean {
  return parseTemplate(template).some(
    (part) => part.kind === 'placeholder' && findPlaceholder(part.name, columns)?.kind === 'run',
  )
}

/** The sources that may fill a field of the request; none for a column. */
function listFillersOf(name: string, { operation, source }: Plan, mapping: Mapping): FieldSource[] {
  if (!fieldsOf(operation).some((field) => field.name === name)) return []
  const { media } = source
  const ofMedia: FieldSource[] =
    (name === 'url' || name === 'media') && media?.kind === 'template' ? [media] : []
  const own = mapping[name] ?? mapping[REQUEST_FIELD.name]
  return own === undefined ? ofMedia : [own, ...ofMedia]
}

function isGivenBySource(name: string, plan: Plan, mapping: Mapping, columns: readonly string[]): boolean {
  const { operation, source } = plan
  if (!fieldsOf(operation).some((field) => field.name === name)) return true
  return (
    mapping[REQUEST_FIELD.name] !== undefined ||
    listColumnsOf(mapping[name], columns).length > 0 ||
    (name === 'url' && source.media?.kind === 'template')
  )
}

/** Rows of one list: 512 KB. */
const LIST_ROWS = 131_072

/** Marks a row without a key; never a real hash. */
const NO_KEY = 0

/** The stored part of a key: 32 bits that only say where to look, since the rows themselves are compared. */
export function toNotedHash(key: string): number {
  return fromHash(toHash(key))
}

function fromHash(hash: number): number {
  return hash || 1
}

/** Collects the hashes of one key, and passes on lists with one hash for each row from their base on. */
export class HashLists {
  readonly #onList: (base: number, hashes: Uint32Array) => void
  #hashes = new Uint32Array(1_024)
  #size = 0
  #base = 0

  constructor(onList: (base: number, hashes: Uint32Array) => void) {
    this.#onList = onList
  }

  /** Adds a row, with the hash of its key if known ({@link toHash}); rows come in order. */
  add(key: string, row: number, hash = toHash(key)): void {
    if (this.#size > 0 && row - this.#base >= LIST_ROWS) this.flush()
    if (this.#size === 0) this.#base = row
    const at = row - this.#base
    if (at >= this.#hashes.length) {
      const grown = new Uint32Array(LIST_ROWS)
      grown.set(this.#hashes)
      this.#hashes = grown
    }
    this.#hashes[at] = fromHash(hash)
    this.#size = at + 1
  }

  /** Passes on the remaining rows. */
  flush(): void {
    if (this.#size === 0) return
    this.#onList(this.#base, this.#hashes.slice(0, this.#size))
    this.#hashes.fill(NO_KEY)
    this.#size = 0
  }
}

/** A list's bytes, as a journal stores them. */
export function toBytes(hashes: Uint32Array): Uint8Array {
  return new Uint8Array(hashes.buffer, hashes.byteOffset, hashes.byteLength)
}

/** A list from its stored bytes, copied unless they are aligned. */
export function fromBytes(bytes: Uint8Array): Uint32Array {
  const { buffer, byteOffset, byteLength } = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice()
  return new Uint32Array(buffer, byteOffset, Math.floor(byteLength / 4))
}

/** Bits that rule out hashes certainly not in a table: 256 KB, which stays in the processor's cache. */
const FILTER_SHIFT = 32 - 21

/** Hashes to search for, each with its places. */
export class WantedHashes {
  readonly #filter = new Uint32Array(2 ** (32 - FILTER_SHIFT - 5))
  readonly #mask: number
  /** The first place of a slot plus one, and of the next with the same slot; 0 for none. */
  readonly #first: Int32Array
  readonly #next: Int32Array
  readonly #hashes: Int32Array
  /** Positions in a list of hashes that pass the filter. */
  #passed = new Int32Array(LIST_ROWS)

  /** For places below a number. */
  constructor(places: number) {
    const slots = 2 ** Math.ceil(Math.log2(Math.max(2, places * 2)))
    this.#mask = slots - 1
    this.#first = new Int32Array(slots)
    this.#next = new Int32Array(places)
    this.#hashes = new Int32Array(places)
  }

  add(hash: number, place: number): void {
    const bit = hash >>> FILTER_SHIFT
    this.#filter[bit >>> 5] = (this.#filter[bit >>> 5] ?? 0) | (1 << (bit & 31))
    this.#hashes[place] = hash
    this.#next[place] = this.#first[hash & this.#mask] ?? 0
    this.#first[hash & this.#mask] = place + 1
  }

  /** The first place with this hash for which `isIt` holds; -1 for none. */
  find(hash: number, isIt: (place: number) => boolean): number {
    for (let one = this.#first[hash & this.#mask] ?? 0; one !== 0; one = this.#next[one - 1] ?? 0) {
      if (this.#hashes[one - 1] === (hash | 0) && isIt(one - 1)) return one - 1
    }
    return -1
  }

  /** Calls back with each place whose hash is in a list, and its position there. */
  eachIn(list: Uint32Array, found: (place: number, at: number) => void): void {
    // Signed integers and a branchless step: nearly all hashes end here.
    const hashes = new Int32Array(list.buffer, list.byteOffset, list.length)
    if (this.#passed.length < list.length) this.#passed = new Int32Array(list.length)
    const [filter, passed] = [this.#filter, this.#passed]
    let count = 0
    for (let at = 0; at < hashes.length; at += 1) {
      const bit = (hashes[at] as number) >>> FILTER_SHIFT
      passed[count] = at
      count += ((filter[bit >>> 5] as number) >>> (bit & 31)) & 1
    }
    for (let each = 0; each < count; each += 1) {
      const at = passed[each] as number
      const hash = hashes[at] as number
      for (let one = this.#first[hash & this.#mask] ?? 0; one !== 0; one = this.#next[one - 1] ?? 0) {
        if (this.#hashes[one - 1] === hash) found(one - 1, at)
      }
    }
  }
}
