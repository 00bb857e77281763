import { isEmpty } from '../../../shared/mapping/check-mapping.ts'
import { isLinkColumn } from '../../../shared/mapping/link-columns.ts'
import { findTextColumns, isFolderColumns, matchColumns } from '../../../shared/mapping/match-columns.ts'
import { listColumnsOf } from '../../../shared/mapping/templates.ts'
import type { SourceWarning } from '../../../shared/messages/problem-messages.ts'
import type { Mapping, Plan } from '../../../shared/plan/plan.ts'
import { toFound } from '../../../shared/run/problem.ts'

/** A column of content that no field takes. */
interface LeftOut {
  field: 'text_data' | 'url'
  index: number
  rows: number
  first: string
}

/**
 * The content that is lost because a column was matched or guessed as the one content of each request: columns that look
 * like the text, and one that is named `url` next to a guessed text. Nothing where a person stated what fills it.
 * `mapping` is the resolved one of the plan.
 */
export class LeftOutContent {
  readonly #columns: readonly string[]
  readonly #kept: { field: 'text_data' | 'url'; index: number } | null
  readonly #leftOut: LeftOut[]

  constructor(plan: Plan, mapping: Mapping, columns: readonly string[]) {
    this.#columns = columns
    this.#kept = findKept(plan, mapping, columns)
    this.#leftOut = this.#kept === null ? [] : this.#find(plan, mapping, this.#kept.field)
  }

  #find(plan: Plan, mapping: Mapping, kept: LeftOut['field']): LeftOut[] {
    const columns = this.#columns
    const used = new Set(Object.values(mapping).flatMap((source) => listColumnsOf(source, columns)))
    const names = new Set(columns)
    for (const [index, name] of columns.entries()) if (isLinkColumn(name, names)) used.add(index)
    const url = listColumnsOf(matchColumns(columns, plan.operation)['url'], columns)
    const urls =
      kept === 'text_data' && isEmpty(mapping['url']) ? url.filter((index) => !used.has(index)) : []
    const toLeftOut = (field: LeftOut['field'], index: number) => ({ field, index, rows: 0, first: '' })
    return [
      ...urls.map((index) => toLeftOut('url', index)),
      ...findTextColumns(columns, used).map((index) => toLeftOut('text_data', index)),
    ]
  }

  /** Looks at one more row. A cell without letters is no text, and the same text as the one that is sent is not lost. */
  note(cells: readonly string[]): void {
    const kept = this.#kept
    if (kept === null) return
    for (const found of this.#leftOut) {
      const cell = cells[found.index] ?? ''
      if (cell === '' || cell === cells[kept.index]) continue
      if (found.field === 'text_data' && !HAS_LETTER.test(cell)) continue
      found.rows += 1
      if (found.first === '') found.first = cell
    }
  }

  /** What is lost, a column each. */
  findWarnings(): SourceWarning[] {
    const kept = this.#kept
    if (kept === null) return []
    return this.#leftOut.flatMap(({ field, index, rows, first }): SourceWarning[] => {
      if (rows === 0) return []
      const args = { column: this.#nameOf(index), kept: this.#nameOf(kept.index), keptField: kept.field }
      const cause = { code: 'content_not_sent', args } as const
      return [{ severity: 'warning', field, ...cause, found: toFound(first), rows }]
    })
  }

  #nameOf(index: number): string {
    const name = this.#columns[index] ?? ''
    return name === '' ? String(index + 1) : name
  }
}

const HAS_LETTER = /\p{L}/u

/** The one column of content that nobody stated; null where there is none, or where rows may have either. */
function findKept(
  { operation, mapping: said, filledBy = {} }: Plan,
  mapping: Mapping,
  columns: readonly string[],
): { field: 'text_data' | 'url'; index: number } | null {
  if (operation.kind !== 'task' || isFolderColumns(columns) || !isEmpty(mapping['request'])) return null
  const isText = !isEmpty(mapping['text_data'])
  const field = isText ? 'text_data' : 'url'
  const how = filledBy[field] ?? (said[field] === undefined ? 'name' : null)
  // A column that has the name of the text is as good as stated.
  if (how === null || (isText && how === 'name')) return null
  const [index] = listColumnsOf(mapping[field], columns)
  return index === undefined ? null : { field, index }
}
