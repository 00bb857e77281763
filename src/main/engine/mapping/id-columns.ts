import { IdColumn } from '../../../shared/mapping/changed-ids.ts'
import { GROUPING_FIELDS, ID_TEXT_FIELDS } from '../../../shared/mapping/id-text.ts'
import type { FoundProblem } from '../../../shared/messages/problem-messages.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { toFound } from '../../../shared/run/problem.ts'
import type { Body } from './json-text.ts'

const NONE: ReadonlySet<string> = new Set()

/** Checks, as a whole, the columns that a plan takes ids from while its source is read. */
export class IdColumns {
  readonly #columns: readonly { field: string; column: IdColumn }[]

  /** The plan's mapping must be resolved. */
  constructor({ mapping }: Pick<Plan, 'mapping'>) {
    this.#columns = ID_TEXT_FIELDS.filter((field) => mapping[field]?.kind === 'column').map((field) => ({
      field,
      column: new IdColumn(GROUPING_FIELDS.some((one) => one === field)),
    }))
  }

  /** Checks the ids of one more row. `reported` are the fields whose ids already have a warning. */
  note(body: Readonly<Body>, row: number, isSent: boolean, reported = NONE): void {
    for (const { field, column } of this.#columns) {
      const id = body[field]
      if (typeof id === 'string') column.note(id, row, isSent && !reported.has(field))
    }
  }

  /** What the rows show together: the number of affected rows that can be sent, and the first of them. */
  findWarnings(): { rows: number; example: FoundProblem }[] {
    return this.#columns.flatMap(({ field, column }) =>
      column.list().map(({ as, rows, first: { row, id } }) => {
        const cause = { code: 'lost_id', args: { as } } as const
        return { rows, example: { row, severity: 'warning' as const, field, ...cause, found: toFound(id) } }
      }),
    )
  }
}

/**
 * Turns numbers that a reader found too long into problems of the id fields that send them. Of numbers that
 * no id field sends, only the first is reported.
 */
export function toIdProblems(problems: readonly FoundProblem[], body: Readonly<Body>): FoundProblem[] {
  if (problems.length === 0) return []
  let hasOther = false
  return problems.flatMap((problem): FoundProblem[] => {
    if (problem.code !== 'number_precision') return [problem]
    const { row, severity, found = '' } = problem
    const fields = ID_TEXT_FIELDS.filter((name) => {
      const id = body[name]
      return typeof id === 'string' && found !== '' && id.includes(found)
    })
    if (fields.length > 0)
      return fields.map((field) => ({ row, severity, found, field, code: 'id_precision' }))
    if (hasOther) return []
    hasOther = true
    return [problem]
  })
}

/** Drops the warning that an id looks rounded if a spreadsheet certainly rounded it, which is reported. */
export function withoutCertain(
  found: readonly FoundProblem[],
  certain: ReadonlySet<string>,
): readonly FoundProblem[] {
  if (certain.size === 0) return found
  return found.filter(
    (one) => one.code !== 'lost_id' || one.args.as !== 'rounded' || !certain.has(one.field ?? ''),
  )
}

/** Id fields that a spreadsheet certainly rounded, or shows with thousands separators. */
export function listCertain(problems: readonly FoundProblem[]): ReadonlySet<string> {
  if (problems.length === 0) return NONE
  const isCertain = (problem: FoundProblem) =>
    problem.code === 'id_precision' || (problem.code === 'lost_id' && problem.args.as === 'grouped')
  return new Set(problems.flatMap((one) => (isCertain(one) ? [one.field ?? ''] : [])))
}
