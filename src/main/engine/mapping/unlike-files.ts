import { type DoubtfulColumn, judgeColumns } from '../../../shared/mapping/doubt-columns.ts'
import type { PlanWarning } from '../../../shared/messages/problem-messages.ts'
import type { Mapping } from '../../../shared/plan/plan.ts'
import type { RowPlace } from '../../../shared/plan/source-place.ts'
import { type SourceReader, type SourceRow, toNames } from '../source/source-reader.ts'
import { findNamelessColumn } from './plan-warnings.ts'

/** Rows of each file that are looked at. */
const FIRST_ROWS = 100

/**
 * Finds fields filled by the number of a column that looks like another field's in some files of a source
 * only: the columns of these files may have another order.
 */
export class UnlikeFiles {
  readonly #mapping: Mapping
  readonly #reader: Pick<SourceReader, 'columns' | 'header'>
  #file = ''
  #firstRows: SourceRow[] = []
  /** Fields whose column looks like theirs in some file. */
  readonly #fine = new Set<string>()
  readonly #found: (DoubtfulColumn & { file: string })[] = []

  constructor(mapping: Mapping, reader: Pick<SourceReader, 'columns' | 'header'>) {
    this.#mapping = mapping
    this.#reader = reader
  }

  note(rows: readonly SourceRow[], places: readonly RowPlace[] = []): void {
    const file = places[0]?.file ?? this.#file
    if (file !== this.#file) this.#judge()
    this.#file = file
    if (file !== '') this.#firstRows.push(...rows.slice(0, FIRST_ROWS - this.#firstRows.length))
  }

  findWarnings(): PlanWarning[] {
    this.#judge()
    return [...Map.groupBy(this.#found, ({ field }) => field)].flatMap(([field, found]): PlanWarning[] => {
      const { columns, header } = this.#reader
      const [first] = found
      const column = findNamelessColumn(this.#mapping[field], columns, header)
      if (first === undefined || column === null || !this.#fine.has(field)) return []
      const args = { column, unlike: toNames(found.map(({ file }) => file)), looksLike: first.looksLike }
      return [{ severity: 'warning', code: 'moved_columns', field, args }]
    })
  }

  #judge(): void {
    const rows = this.#firstRows
    this.#firstRows = []
    for (const { looksLike, ...one } of judgeColumns(this.#mapping, this.#reader.columns, rows)) {
      if (looksLike === null) this.#fine.add(one.field)
      else this.#found.push({ ...one, looksLike, file: this.#file })
    }
  }
}
