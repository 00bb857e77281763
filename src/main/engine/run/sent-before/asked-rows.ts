import type { SentBefore } from '../../../../shared/run/sent-before.ts'
import { type Body, toValueText } from '../../mapping/json-text.ts'
import { toHalf } from '../../mapping/split-row.ts'
import { type ReadKey, toNotedHash } from './row-keys.ts'

/** Most rows looked up at once: each lookup reads all stored hashes. */
export const LOOKUP_ROWS = 65_536

/** Marks a row that no key identifies. */
const NO_KEY_AT = 255

/** Rows to look up, as columns instead of objects, since they cross to another thread. */
export interface AskedRows {
  /** Each row's key and its index among the keys; '' and {@link NO_KEY_AT} if no key identifies it. */
  texts: readonly string[]
  keys: Uint8Array
  /** Their cells as JSON, and their kinds; null if none has kinds. */
  cells: readonly string[]
  kinds: readonly (string | null)[] | null
  /** Each row's models as JSON, '' for the service's own; null if no row names any. */
  models: readonly string[] | null
  /** The contents that each row has, see {@link toContents}. */
  contents: Uint8Array
  /** The hash of each of {@link CONTENTS}, row by row, see {@link hashContent}. */
  contentHashes: Uint32Array
}

/** A row checked by intake; one without a body cannot be sent. */
interface CheckedRow {
  cells: readonly string[]
  kinds?: string | null
  body?: Readonly<Body>
}

/**
 * Builds the columns of rows; each is identified by the first key that it fills. `cells` are their cells as
 * JSON, and `compared` the contents from the source.
 */
export function toAskedRows(
  rows: readonly CheckedRow[],
  cells: readonly string[],
  keys: readonly ReadKey[],
  compared: readonly Content[],
): AskedRows {
  const texts: string[] = []
  const keysAt = new Uint8Array(rows.length).fill(NO_KEY_AT)
  const contents = new Uint8Array(rows.length)
  const contentHashes = new Uint32Array(rows.length * CONTENTS.length)
  const kinds: (string | null)[] = []
  const models: string[] = []
  let hasKinds = false
  let hasModels = false
  for (const [at, { body, cells: itsCells, kinds: itsKinds = null }] of rows.entries()) {
    let text = ''
    if (body !== undefined) {
      for (const [index, read] of keys.entries()) {
        const found = read({ body, cells: itsCells })
        if (found === null) continue
        text = found
        keysAt[at] = index
        break
      }
      contents[at] = toContents(body)
      for (const content of compared)
        contentHashes[at * CONTENTS.length + CONTENTS.indexOf(content)] = hashContent(body[content])
    }
    texts.push(text)
    kinds.push(itsKinds)
    models.push(toModelsText(body))
    hasKinds ||= itsKinds !== null
    hasModels ||= models[at] !== ''
  }
  return {
    texts,
    keys: keysAt,
    cells,
    kinds: hasKinds ? kinds : null,
    models: hasModels ? models : null,
    contents,
    contentHashes,
  }
}

/** Fields of a request that hold what is moderated, and the notes of a term. */
export const CONTENTS = ['text_data', 'url', 'notes'] as const

export type Content = (typeof CONTENTS)[number]

/** Distinguishes two contents; 0 for none. */
export function hashContent(value: unknown): number {
  return value === undefined ? 0 : toNotedHash(toValueText(value))
}

/** The models of a row as one text; '' for those that the service chooses. */
export function toModelsText({ models }: Readonly<Body> = {}): string {
  return models === undefined ? '' : JSON.stringify(models)
}

/** Bits for whether a body has a text and a URL. */
export function toContents({ text_data: text, url }: Readonly<Body>): number {
  return (text === undefined ? 0 : CONTENT_BITS.text_data) | (url === undefined ? 0 : CONTENT_BITS.url)
}

const CONTENT_BITS = { text_data: 1, url: 2 } as const

/**
 * Whether rows with the same key send the same, although one may be half of a record: both halves may share
 * their key. `contents` is what both have.
 */
export function areSameHalf(kinds: readonly (string | null)[], contents: number): boolean {
  return kinds.every((one) => {
    const half = toHalf(0, one)
    return half === null || (contents & CONTENT_BITS[half.content]) !== 0
  })
}

/** Whether any of them is half of a record. */
export function isAnyHalf(kinds: readonly (string | null)[]): boolean {
  return kinds.some((one) => toHalf(0, one) !== null)
}

/** Results for the rows looked up, in the same order; also columns. */
export interface FoundRows {
  origins: readonly SentBefore['origin'][]
  /** The index of each row's origin plus one; 0 for a row that was not sent before. */
  origin: Uint32Array
  /** Its number in its origin's run, and the one that a person uses. */
  row: Float64Array
  number: readonly string[]
  /** 1 for a row sent before with another text, URL or notes. */
  changed: Uint8Array
}

/** Builds the columns of the results, by place among `rows` rows. */
export function toFoundRows(found: ReadonlyMap<number, SentBefore>, rows: number): FoundRows {
  const origins = new Map<SentBefore['origin'], number>()
  const origin = new Uint32Array(rows)
  const row = new Float64Array(rows)
  const number = new Array<string>(rows).fill('')
  const changed = new Uint8Array(rows)
  for (const [at, sent] of found) {
    const place = origins.get(sent.origin) ?? origins.size + 1
    origins.set(sent.origin, place)
    origin[at] = place
    row[at] = sent.row
    number[at] = sent.number
    changed[at] = Number(sent.isChanged)
  }
  return { origins: [...origins.keys()], origin, row, number, changed }
}

/** The result for one of the rows; undefined if it was not sent before. */
export function findSent(found: FoundRows, at: number): SentBefore | undefined {
  const origin = found.origins[(found.origin[at] ?? 0) - 1]
  if (origin === undefined) return undefined
  const [row = 0, number = ''] = [found.row[at], found.number[at]]
  return { origin, row, number, isChanged: found.changed[at] === 1 }
}
