import { isText } from '../../../../shared/mapping/doubt-columns.ts'
import { nameRowsInKey, type RowsInKey } from '../../../../shared/mapping/rows-in-key.ts'
import type { JsonElement } from './json-elements.ts'
import { WHOLE_OBJECTS } from './nested-fields.ts'

/** Most rows examined, and most characters of them together: the beginning shows what a file is like. */
const ROWS_MAX = 100
const CHARACTERS_MAX = 8 * 1024 * 1024
const DEPTH_MAX = 4
/** Most arrays kept. */
const FOUND_MAX = 10

const ARRAY_OF_OBJECTS = /\[\s*\{/
const TOKEN = /["[\]{}]/g
const COLON = /\s*:/y

/** An object or array that is open at the present place in the text. */
interface Open {
  isArray: boolean
  /** Keys from the row inwards; null inside arrays. */
  path: readonly string[] | null
  /** Objects directly in an array. */
  objects: number
  hasTexts: boolean
}

/** The arrays of objects in the first rows of a file; cut or broken JSON is read as far as it goes. */
export class RowsInKeys {
  readonly #found = new Map<string, RowsInKey & { of: number; rows: number }>()
  #rows = 0
  #characters = 0
  /** Whether all rows were examined; else the numbers are unknown. */
  #isWhole = true

  note({ text, isInArray = false }: Pick<JsonElement, 'text' | 'isInArray'>): void {
    if (this.#rows >= ROWS_MAX || this.#characters >= CHARACTERS_MAX) {
      this.#isWhole = false
      return
    }
    this.#rows += 1
    this.#characters += text.length
    if (ARRAY_OF_OBJECTS.test(text)) this.#read(text, isInArray)
  }

  list(): RowsInKey[] {
    const found = [...this.#found.values()].map(({ of: _, ...one }) => one)
    return this.#isWhole ? found : found.map((one) => ({ ...one, objects: null, rows: null }))
  }

  #read(text: string, inArray: boolean): void {
    const open: Open[] = []
    let key: string | null = null
    TOKEN.lastIndex = 0
    for (let token = TOKEN.exec(text); token !== null; token = TOKEN.exec(text)) {
      const [character] = token
      const inner = open.at(-1)
      if (character === '"') {
        const end = findEndOfString(text, token.index)
        TOKEN.lastIndex = end
        COLON.lastIndex = end
        const isKey = inner?.isArray === false && COLON.test(text)
        if (isKey) key = inner.path === null ? null : readKey(text.slice(token.index, end))
        else noteText(open, text.slice(token.index + 1, end - 1))
      } else if (character === '{' || character === '[') {
        if (inner?.isArray && character === '{') inner.objects += 1
        const isSearched = inner === undefined || (inner.path !== null && !inner.isArray && key !== null)
        const path = inner === undefined ? [] : [...(inner.path ?? []), key ?? '']
        const isArray = character === '['
        const isKept = isSearched && path.length <= DEPTH_MAX && !WHOLE_OBJECTS.has(path[0] ?? '')
        open.push({ isArray, path: isKept ? path : null, objects: 0, hasTexts: false })
      } else {
        const closed = open.pop()
        if (closed !== undefined) this.#add(closed, inArray, true)
      }
    }
    for (const left of open) this.#add(left, inArray, false)
  }

  #add({ isArray, path, objects, hasTexts }: Open, inArray: boolean, isWhole: boolean): void {
    if (!isArray || path === null || path.length === 0 || objects === 0) return
    const counted = { objects: isWhole ? objects : null, rows: 1 }
    const found = { path: [...path], inArray, ...counted, hasTexts, of: this.#rows }
    const name = nameRowsInKey(found)
    const before = this.#found.get(name)
    if (before === undefined && this.#found.size >= FOUND_MAX) return
    const sum = before === undefined ? 0 : before.objects
    found.objects = sum === null || found.objects === null ? null : sum + found.objects
    found.hasTexts ||= before?.hasTexts === true
    // A key that one row has twice counts once.
    if (before !== undefined) found.rows = before.rows + (before.of === this.#rows ? 0 : 1)
    this.#found.set(name, found)
  }
}

function noteText(open: readonly Open[], text: string): void {
  const array = open.find(({ isArray, path }) => isArray && path !== null)
  if (array !== undefined && !array.hasTexts && isText(text)) array.hasTexts = true
}

/** The index after the closing quote of the string that begins at `at`, or the end of the text. */
function findEndOfString(text: string, at: number): number {
  for (let end = at + 1; end < text.length; end += 1) {
    if (text[end] === '\\') end += 1
    else if (text[end] === '"') return end + 1
  }
  return text.length
}

function readKey(quoted: string): string | null {
  try {
    return String(JSON.parse(quoted)).toWellFormed()
  } catch {
    return null
  }
}
