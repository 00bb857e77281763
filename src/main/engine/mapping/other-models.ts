import type { FoundProblem } from '../../../shared/messages/problem-messages.ts'
import type { Mapping, Plan } from '../../../shared/plan/plan.ts'
import { toFound } from '../../../shared/run/problem.ts'
import { findFilledBy } from './left-out-content.ts'

/**
 * Rows whose column of models, which nobody stated, names other models than the plan does for all rows.
 * `mapping` is the resolved one of the plan.
 */
export class OtherModels {
  /** The plan's models; empty if no row can name others. */
  readonly #models: string
  #rows = 0
  #example: FoundProblem | null = null

  constructor(plan: Plan, mapping: Mapping) {
    const isMatched = mapping['models']?.kind === 'column' && findFilledBy(plan, 'models') !== null
    this.#models = isMatched && plan.operation.kind === 'task' ? plan.operation.models.join(', ') : ''
  }

  /** Checks one more sent row. */
  note(row: number, body: Readonly<Record<string, unknown>>): void {
    if (this.#models === '' || !Array.isArray(body['models'])) return
    const own = body['models'].join(', ')
    if (own === this.#models) return
    this.#rows += 1
    const cause = { code: 'other_models', args: { models: this.#models } } as const
    this.#example ??= { row, severity: 'warning', field: 'models', ...cause, found: toFound(own) }
  }

  /** The number of such rows, and the first of them. */
  findWarnings(): { rows: number; example: FoundProblem }[] {
    return this.#example === null ? [] : [{ rows: this.#rows, example: this.#example }]
  }
}
