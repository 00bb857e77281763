import { isEmpty } from '../../../shared/mapping/check-mapping.ts'
import { findLeftOutFields, findUnlistedFields, toComparable } from '../../../shared/mapping/match-columns.ts'
import type { ProblemCause, SourceWarning } from '../../../shared/messages/problem-messages.ts'
import type { Mapping, Plan } from '../../../shared/plan/plan.ts'
import { TASK_FIELDS } from '../../../shared/service/tasks.ts'
import type { Body } from './json-text.ts'

/** A field that the interface does not list for the plan's mode or API, and the rows that have a value. */
interface UnlistedField {
  field: string
  cause: ProblemCause
  /** Columns that only have its name and are not sent; null if the field is mapped. */
  columns: readonly number[] | null
  rows: number
}

/**
 * Counts the rows with values for fields of the other mode or of v1 only: a mapped field is sent anyway, a
 * column that is only named like a field of the other mode is left out. `mapping` is the resolved one.
 */
export class UnlistedFields {
  readonly #fields: readonly UnlistedField[]

  constructor({ operation }: Pick<Plan, 'operation'>, mapping: Mapping, columns: readonly string[]) {
    const isMapped = ({ name }: { name: string }) => !isEmpty(mapping[name])
    const ofV1 =
      operation.kind === 'task' && operation.api === 'v2' ? TASK_FIELDS.filter(({ v2 }) => !v2) : []
    const toMode = (mode: string, isSent: boolean) =>
      ({ code: 'not_for_mode', args: { mode, isSent } }) as const
    this.#fields = [
      ...ofV1.filter(isMapped).map(({ name }) => {
        const cause = { code: 'not_for_api', args: { api: 'v2' } } as const
        return { field: name, cause, columns: null, rows: 0 }
      }),
      ...findUnlistedFields(operation)
        .filter(isMapped)
        .map(({ name, mode }) => ({ field: name, cause: toMode(mode, true), columns: null, rows: 0 })),
      ...findLeftOutFields(columns, operation)
        .filter(({ name }) => mapping[name] === undefined)
        .map(({ name, mode }) => {
          const named = columns.flatMap((column, index) =>
            toComparable(column) === toComparable(name) ? [index] : [],
          )
          return { field: name, cause: toMode(mode, false), columns: named, rows: 0 }
        }),
    ]
  }

  /** Checks one more sent row. */
  note(cells: readonly string[], body: Readonly<Body>): void {
    for (const found of this.#fields) {
      const { field, columns } = found
      const hasValue =
        columns === null ? body[field] !== undefined : columns.some((index) => (cells[index] ?? '') !== '')
      if (hasValue) found.rows += 1
    }
  }

  findWarnings(): SourceWarning[] {
    return this.#fields.flatMap(({ field, cause, rows }): SourceWarning[] =>
      rows === 0 ? [] : [{ severity: 'warning', field, ...cause, rows }],
    )
  }
}
