import {
  type DoubtfulColumn,
  FEWEST_CELLS,
  findDoubtfulColumns,
} from '../../../shared/mapping/doubt-columns.ts'
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
  /** Files with enough rows. */
  #judged = 0
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
      if (first === undefined || column === null || found.length === this.#judged) return []
      const args = { column, unlike: toNames(found.map(({ file }) => file)), looksLike: first.looksLike }
      return [{ severity: 'warning', code: 'moved_columns', field, args }]
    })
  }

  #judge(): void {
    const rows = this.#firstRows
    this.#firstRows = []
    if (rows.length < FEWEST_CELLS) return
    this.#judged += 1
    for (const one of findDoubtfulColumns(this.#mapping, this.#reader.columns, rows))
      this.#found.push({ ...one, file: this.#file })
  }
}
