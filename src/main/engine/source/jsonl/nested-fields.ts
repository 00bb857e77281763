import type { CellKind, NestedText } from '../source-reader.ts'
import { type JsonMember, parseJsonLine } from './parse-json-line.ts'

/** Most fields of objects offered as columns, and the depth to which they are searched. */
const FIELDS_MAX = 200
const DEPTH_MAX = 4

/** Sent as whole objects: their fields belong to them. */
export const WHOLE_OBJECTS: ReadonlySet<string> = new Set([
  'user_metadata',
  'content_metadata',
  'metadata',
  'request',
])

/** A field of an object in a column, as a column of its own: `user.id`. */
interface NestedField {
  /** Keys from the row inwards. */
  path: readonly string[]
  /** Number of rows in which it is a text, and the first of these texts. */
  texts: number
  firstText: string
}

/** The contents of a row's nested field. */
interface NestedCell {
  cell: string
  kind: CellKind
  /** Whether a key in its path occurs more than once; the last one is used. */
  isDoubled: boolean
}

/** The fields of objects in a file, in order of first appearance. */
export class NestedFields {
  readonly #found = new Map<string, NestedField>()

  /** Adds the fields of a row's objects. */
  note(members: readonly JsonMember[]): void {
    for (const member of members) if (!WHOLE_OBJECTS.has(member.key)) this.#note(member, [])
  }

  /** The names of all fields that are not keys of a row themselves. */
  names(keys: readonly string[]): string[] {
    const own = new Set(keys)
    return [...this.#found.keys()].filter((name) => !own.has(name))
  }

  texts(): NestedText[] {
    return [...this.#found].flatMap(([name, { texts, firstText }]) =>
      texts === 0 ? [] : [{ name, rows: texts, first: firstText.toWellFormed() }],
    )
  }

  /** The cell of a field; `-` if the row lacks it. */
  read(name: string, members: readonly JsonMember[]): NestedCell {
    let open = members
    let isDoubled = false
    const { path = [] } = this.#found.get(name) ?? {}
    for (const [depth, key] of path.entries()) {
      const same = open.filter((member) => member.key.toWellFormed() === key)
      const last = same.at(-1)
      if (last === undefined) break
      if (depth > 0 && same.length > 1) isDoubled = true
      if (depth === path.length - 1) return { cell: last.cell, kind: last.kind, isDoubled }
      open = listMembers(last)
    }
    return { cell: '', kind: '-', isDoubled }
  }

  #note(member: JsonMember, outer: readonly string[]): void {
    const path = [...outer, member.key.toWellFormed()]
    if (isObject(member)) {
      if (path.length < DEPTH_MAX && this.#found.size < FIELDS_MAX) {
        for (const inner of listMembers(member)) this.#note(inner, path)
      }
    } else if (path.length > 1 && !(member.kind === 'j' && member.cell.startsWith('['))) {
      const name = path.join('.')
      let field = this.#found.get(name)
      if (field === undefined && this.#found.size < FIELDS_MAX) {
        field = { path, texts: 0, firstText: '' }
        this.#found.set(name, field)
      }
      if (field !== undefined && member.kind === 's' && member.cell !== '') {
        if (field.texts === 0) field.firstText = member.cell
        field.texts += 1
      }
    }
  }
}

function isObject({ kind, cell }: JsonMember): boolean {
  return kind === 'j' && cell.startsWith('{')
}

function listMembers(member: JsonMember): readonly JsonMember[] {
  if (!isObject(member)) return []
  const parsed = parseJsonLine(member.cell)
  return parsed.kind === 'object' ? parsed.members : []
}
