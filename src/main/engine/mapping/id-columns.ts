import { IdColumn } from '../../../shared/mapping/changed-ids.ts'
import { ID_TEXT_FIELDS } from '../../../shared/mapping/id-text.ts'
import type { FoundProblem } from '../../../shared/messages/problem-messages.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { toFound } from '../../../shared/run/problem.ts'
import type { Body } from './json-text.ts'

/** The columns that a plan takes ids from, looked at as a whole while its source is read. */
export class IdColumns {
  readonly #columns: readonly (readonly [field: string, column: IdColumn])[]

  /** The mapping of the plan is resolved. */
  constructor({ mapping }: Pick<Plan, 'mapping'>) {
    this.#columns = ID_TEXT_FIELDS.filter((field) => mapping[field]?.kind === 'column').map(
      (field) => [field, new IdColumn()] as const,
    )
  }

  /** Takes in the ids of a row, and whether it can be sent. */
  note(body: Readonly<Body>, row: number, isSent: boolean): void {
    for (const [field, column] of this.#columns) {
      const id = body[field]
      if (typeof id === 'string') column.note(id, row, isSent)
    }
  }

  /** What the rows together show: how many of those that can be sent, and the first of them. */
  findWarnings(): { rows: number; example: FoundProblem }[] {
    return this.#columns.flatMap(([field, column]) =>
      column.list().map(({ as, rows, first: { row, id } }) => {
        const cause = { code: 'lost_id', args: { as } } as const
        return { rows, example: { row, severity: 'warning' as const, field, ...cause, found: toFound(id) } }
      }),
    )
  }
}

/** A problem that a reader found of a cell, as one of an id if the row sends the cell as one. */
export function toIdProblem(problem: FoundProblem, body: Readonly<Body>): FoundProblem {
  if (problem.code !== 'number_precision') return problem
  const { row, severity, found } = problem
  const field = ID_TEXT_FIELDS.find((name) => body[name] === found)
  if (field === undefined || found === undefined) return problem
  return { row, severity, found, field, code: 'id_precision' }
}
