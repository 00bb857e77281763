import { trimName } from '../../../shared/mapping/id-text.ts'
import { toComparable } from '../../../shared/mapping/match-columns.ts'
import { listColumnsOf } from '../../../shared/mapping/templates.ts'
import type { SourceWarning } from '../../../shared/messages/problem-messages.ts'
import { fieldsOf } from '../../../shared/operations/operations.ts'
import type { Mapping, Plan } from '../../../shared/plan/plan.ts'
import { toFound } from '../../../shared/run/problem.ts'
import { findFilledBy } from './left-out-content.ts'

/** An unsent column, and the similarly named one that fills a field. */
interface Alike {
  field: string
  index: number
  kept: number
  rows: number
  first: string
}

/**
 * Unsent columns whose names differ only in case and separators from a field, or from the column that fills
 * it: keys of JSON that one program writes in two ways. Skips mappings that a person stated, and content,
 * which has its own warning. `mapping` is the resolved one of the plan.
 */
export class AlikeColumns {
  readonly #columns: readonly string[]
  readonly #alike: Alike[]

  constructor(plan: Plan, mapping: Mapping, columns: readonly string[]) {
    this.#columns = columns
    const used = new Set(Object.values(mapping).flatMap((source) => listColumnsOf(source, columns)))
    const names = columns.map(toComparable)
    this.#alike = fieldsOf(plan.operation).flatMap(({ name: field, required }) => {
      const source = mapping[field]
      if (required === 'content' || source?.kind !== 'column' || findFilledBy(plan, field) === null) return []
      const [kept = -1] = listColumnsOf(source, columns)
      const wanted = [toComparable(field), names[kept]]
      const others = columns.flatMap((name, index) =>
        !used.has(index) && wanted.includes(names[index]) && trimName(name) !== trimName(columns[kept] ?? '')
          ? [index]
          : [],
      )
      return others.map((index) => ({ field, index, kept, rows: 0, first: '' }))
    })
  }

  /** Checks one more sent row; a copy of what is sent is not lost. */
  note(cells: readonly string[]): void {
    for (const alike of this.#alike) {
      const cell = cells[alike.index] ?? ''
      if (cell === '' || cell === cells[alike.kept]) continue
      alike.rows += 1
      if (alike.first === '') alike.first = cell
    }
  }

  /** Warnings about unsent columns, one each. */
  findWarnings(): SourceWarning[] {
    return this.#alike.flatMap(({ field, index, kept, rows, first }): SourceWarning[] => {
      if (rows === 0) return []
      const args = { column: this.#columns[index] ?? '', kept: this.#columns[kept] ?? '', field }
      return [{ severity: 'warning', field, code: 'alike_column', args, found: toFound(first), rows }]
    })
  }
}
