import { mayFillSameField } from '../../../shared/mapping/match-columns.ts'
import type { FoundProblem } from '../../../shared/messages/problem-messages.ts'
import { toFound } from '../../../shared/run/problem.ts'
import { areNames, findMostCommon } from './likely-header.ts'
import type { SourceBatch, SourceRow } from './source-reader.ts'

/** Rows examined together: the first and the last ones of a table, and those around an empty record. */
const WINDOW_ROWS = 50

/** Approximate bytes of the source above which fewer rows are held back. */
const HELD_BYTES = 8_000_000

/** Most rows between the header and the first one with data. */
const DESCRIPTIONS_MAX = 3

/** Most rows at the end that do not belong to the table. */
const FOOTERS_MAX = 10

/** Number of empty records among the rows above which they do not separate tables. */
const EMPTY_RECORDS_MAX = 20

/** Least number of values in a column of another table. */
const OTHER_VALUES_MIN = 3

/**
 * Yields the batches of a table, and marks rows that probably do not belong to it with what they look like:
 * descriptions of the columns below the header, footers at the end, and a second table below an empty record.
 * `header` as in a `SourceReader`.
 *
 * The last rows are held back until more follow, so that the end of the table is recognized: a batch, or for
 * small batches at least {@link WINDOW_ROWS}, up to {@link HELD_BYTES}.
 */
export async function* watchTableEdges(
  batches: ReturnType<() => Iterable<SourceBatch> | AsyncIterable<SourceBatch>>,
  header: readonly string[] | null,
): AsyncGenerator<SourceBatch, void, undefined> {
  let held: SourceBatch | null = null
  let isFirst = true
  let bytesDone = 0
  const tables = new SecondTables(header)
  const finish = (batch: SourceBatch, next: readonly SourceRow[]) => {
    if (isFirst && header !== null) markDescriptions(header, batch.rows)
    else if (isFirst) markNames(batch.rows[0])
    isFirst = false
    bytesDone = batch.bytesRead
    return tables.mark(batch, next)
  }
  for await (const batch of batches) {
    if (held === null) {
      held = batch
      continue
    }
    if (held.rows.length >= WINDOW_ROWS && batch.rows.length >= WINDOW_ROWS) {
      finish(held, batch.rows)
      yield held
      held = batch
      continue
    }
    const joined = joinBatches(held, batch)
    held = joined
    const isLarge = joined.bytesRead - bytesDone > HELD_BYTES
    if (joined.rows.length < 2 * WINDOW_ROWS && !isLarge) continue
    const [done, rest] = splitBatch(joined, Math.min(WINDOW_ROWS, Math.floor(joined.rows.length / 2)))
    finish(done, rest.rows)
    yield done
    held = rest
  }
  if (held === null) return
  const isBelowEmpty = finish(held, [])
  markFooters(held.rows, header?.length ?? 0, isBelowEmpty)
  yield held
}

function joinBatches(one: SourceBatch, next: SourceBatch): SourceBatch {
  return {
    rows: [...one.rows, ...next.rows],
    ...((one.places ?? next.places) !== undefined && {
      places: [...(one.places ?? []), ...(next.places ?? [])],
    }),
    bytesRead: next.bytesRead,
    isAscii: one.isAscii === true && next.isAscii === true,
  }
}

/** Splits a batch before its last `kept` rows. */
function splitBatch(batch: SourceBatch, kept: number): [done: SourceBatch, rest: SourceBatch] {
  const { rows, places } = batch
  const at = rows.length - kept
  const first = rows[at]?.row ?? Number.POSITIVE_INFINITY
  return [
    { ...batch, rows: rows.slice(0, at), ...(places && { places: places.filter(({ row }) => row < first) }) },
    { ...batch, rows: rows.slice(at), ...(places && { places: places.filter(({ row }) => row >= first) }) },
  ]
}

function addProblem(row: SourceRow, problem: Pick<FoundProblem, 'severity'> & Cause): void {
  row.problems.push({ row: row.row, ...problem, found: toFound(row.cells.join(' | ').toWellFormed()) })
}

type Cause =
  | Pick<Extract<FoundProblem, { code: 'description_row' }>, 'code' | 'args'>
  | Pick<Extract<FoundProblem, { code: 'footer_row' }>, 'code' | 'args'>

function hasError({ problems }: SourceRow): boolean {
  return problems.some(({ severity }) => severity === 'error')
}

function listFilled(cells: readonly string[]): string[] {
  return cells.filter((cell) => cell.trim() !== '')
}

/** The kind of a column's values; '' for words and texts. */
function toKind(cell: string): string {
  const text = cell.trim()
  if (text === '' || text.length > 200) return ''
  return KINDS.find(([, pattern]) => pattern.test(text))?.[0] ?? ''
}

const KINDS: readonly (readonly [string, RegExp])[] = [
  ['date', /^(?:\d{4}-\d\d?-\d\d?|\d{4}\/\d\d?\/\d\d?|\d\d?[./]\d\d?[./]\d{2,4})(?:[T ,].*)?$/],
  ['number', /^[-+]?[\d.,]*\d%?$/],
  ['url', /^https?:\/\/\S+$/i],
  ['mail', /^[^\s@]+@[^\s@]+\.[^\s@]+$/],
  ['id', /^(?=\S*\p{L})(?=\S*\d)[\w.:-]+$/u],
]

/** What programs write for a missing value, which belongs to no kind. */
const MISSING = /^(?:|-+|\?|n\/?a|nan|null|none|unknown|\(blank\)|#n\/a|\\n)$/i

/** The kind of nearly all values of each column, '' for none; `least` is the least number of values. */
function findKinds(rows: readonly SourceRow[], width: number, least: number): string[] {
  return Array.from({ length: width }, (_, index) => {
    const values = rows.map(({ cells }) => cells[index] ?? '').filter((cell) => !MISSING.test(cell.trim()))
    const [usual] = [...Map.groupBy(values, toKind)].sort(([, one], [, other]) => other.length - one.length)
    if (usual === undefined || values.length < least) return ''
    const [kind, alike] = usual
    return alike.length >= 0.85 * values.length ? kind : ''
  })
}

/** Marks the first row of a table without a header if it contains column names. */
function markNames(row: SourceRow | undefined): void {
  if (row === undefined || hasError(row)) return
  const filled = listFilled(row.cells)
  const known = filled.filter((cell) => mayFillSameField(cell, cell))
  if (known.length < Math.min(2, filled.length) || !areNames(filled)) return
  addProblem(row, { severity: 'warning', code: 'description_row', args: { as: 'names' } })
}

/** Marks the rows directly below the header that describe its columns. */
function markDescriptions(header: readonly string[], rows: readonly SourceRow[]): void {
  const first = rows.slice(0, DESCRIPTIONS_MAX)
  const importIds = first.findIndex(({ cells }) => isImportIds(cells))
  for (const [index, row] of first.entries()) {
    if (hasError(row)) continue
    if (index <= importIds) {
      const as = index === importIds ? 'import_ids' : 'questions'
      addProblem(row, { severity: 'error', code: 'description_row', args: { as } })
      continue
    }
    const filled = listFilled(row.cells)
    if (
      filled.length > 1 &&
      filled.length * 2 >= header.length &&
      filled.every((cell) => TYPE.test(cell.trim()))
    ) {
      // Two such words may be a name and a text.
      const isSure = filled.length > 2
      addProblem(
        row,
        isSure
          ? { severity: 'error', code: 'description_row', args: { as: 'types' } }
          : { severity: 'warning', code: 'description_row', args: { as: 'unlike' } },
      )
      continue
    }
    const below = rows.slice(index + 1, WINDOW_ROWS)
    if (!isUnlike(row, below, header.length) && !isHeaderInOtherWords(row.cells, header)) return
    addProblem(row, { severity: 'warning', code: 'description_row', args: { as: 'unlike' } })
  }
}

/** The third line of a Qualtrics export. */
function isImportIds(cells: readonly string[]): boolean {
  const filled = listFilled(cells)
  return filled.length > 0 && filled.every((cell) => /^\s*\{\s*"ImportId"\s*:/.test(cell))
}

const TYPE =
  /^(?:string|str|text|citext|n?varchar2?|n?char|character varying|clob|u?int(?:eger)?\d*|bigint|smallint|tinyint|long|number|numeric|decimal|float\d*|real|double(?: precision)?|bool(?:ean)?|date|time|datetime\d*|datetime:\S+|timestamp(?:tz|_\w+)?|timestamp with(?:out)? time zone|json|jsonb|uuid|guid|object|category|bytes|variant|array|record)(?:\s*\(\s*\d+(?:\s*,\s*\d+)?\s*\))?$/i

const IN_BRACKETS = /^[([<{].*[)\]>}]$/

/** Whether a row has words, names or units, in all columns where the rows below have values of a kind. */
function isUnlike({ cells }: SourceRow, below: readonly SourceRow[], width: number): boolean {
  if (below.length < 3) return false
  const filled = listFilled(cells)
  const isInBrackets = (row: readonly string[]) => {
    const texts = listFilled(row)
    return texts.length > 1 && texts.every((text) => IN_BRACKETS.test(text.trim()))
  }
  if (isInBrackets(cells)) return !below.some((row) => isInBrackets(row.cells))
  let others = 0
  let alike = 0
  for (const [index, kind] of findKinds(below, width, 3).entries()) {
    const cell = cells[index] ?? ''
    if (kind === '' || MISSING.test(cell.trim())) continue
    if (toKind(cell) === kind) alike += 1
    else if (toKind(cell) === '') others += 1
  }
  return alike === 0 && others > 1 && filled.length > 1
}

/**
 * Whether a row has other names for the columns: at least two that may fill the same field as the header's,
 * and only names.
 */
function isHeaderInOtherWords(cells: readonly string[], header: readonly string[]): boolean {
  const alike = cells.filter((cell, index) => mayFillSameField(cell, header[index] ?? ''))
  return alike.length > 1 && areNames(listFilled(cells))
}

const TOTAL =
  /^(?:(?:grand |sub-?|overall )?totals?|sum|(?:gesamt|end|zwischen)?summe|gesamt(?:ergebnis)?|total (?:general|général|geral)|totale|totaal|suma|итого|всего|razem|toplam|yhteensä|summa|合計|総計|小計|总计|合计|합계|총계)\s*[:：]?$/iu

/** Beginning of a line with figures about the columns above. */
const SUMMARY =
  /^(?:(?:grand |sub-?|overall )?totals?|sum|count|average|avg|mean|median|min(?:imum)?|max(?:imum)?|(?:gesamt|end|zwischen)?summe|gesamt(?:zahl)?|anzahl|durchschnitt|mittelwert|moyenne|promedio|合計|平均|件数|总计|平均值)(?![\p{L}\d])/iu

const COUNT =
  /^[-–—=*(\s]*(?:total (?:rows|records)\s*[:：]?\s*)?(\d[\d,. ]*) ?(?:rows?|records?|entries|results?|tuples|documents?|zeilen|datensätze|lignes|enregistrements|filas|registros|righe|строк\p{L}*)(?: \(?(?:affected|selected|returned|fetched|exported|written|in set|total)\b[^)]*\)?)?[-–—=*.)\s]*$/iu

const MADE =
  /^[-–—=*(#\s]*(?:(?:report |file |this report was |data )?(?:generated|exported|created|downloaded|printed|extracted|retrieved|produced)(?: (?:on|at|by|from|with|using))?\b|(?:erstellt|exportiert|generiert) (?:am|von|mit)\b|généré le\b|generado el\b|(?:last )?updated(?: on| at)?\b|as of\b|run date\b|timestamp\b).*(?:\d{4}|\d\d?:\d\d)/iu

const NOTE =
  /^(?:[*†‡§¹²³]|\(?(?:sources?|notes?|footnotes?|legend|disclaimer|copyright|quellen?|hinweise?|anmerkungen?|remarque|fuente|nota)\s*[:：]|©|(?:end|eof)\b(?: of (?:report|file|data|export|list))?\W*$)/iu

/** Marks rows at the end of a table that count it or name its source. */
function markFooters(rows: readonly SourceRow[], named: number, isBelowEmpty: ReadonlySet<number>): void {
  const tail = rows.slice(-FOOTERS_MAX)
  const above = rows.slice(0, -1).slice(-WINDOW_ROWS)
  const usual = findUsual(above)
  const width = Math.max(named, usual)
  let isBehindTable = false
  for (const row of tail) {
    const filled = listFilled(row.cells)
    const [first = ''] = filled
    if (usual > 1 && filled.length === 1 && isBelowEmpty.has(row.row)) isBehindTable = true
    const as = findFooter(filled, { width, isLast: row === tail.at(-1), isBehindTable })
    if (filled.length > 1) isBehindTable = false
    else if (as !== null && width > 1) isBehindTable = true
    if (as === null || hasError(row)) continue
    const count = as === 'count' ? Number(COUNT.exec(first)?.[1]?.replaceAll(/\D/g, '')) : Number.NaN
    // It counts the rows above it, and no row follows: such a number has no other meaning.
    const isLast = isFollowedByFooters(rows, row, width)
    const isSure = filled.length === 1 && count > 1 && count === row.row - 1 && isLast
    addProblem(row, {
      severity: isSure ? 'error' : 'warning',
      code: 'footer_row',
      args: { as: isSure ? 'count_above' : as },
    })
  }
}

/** Whether everything below a row at the end of a table could be below any table. */
function isFollowedByFooters(rows: readonly SourceRow[], row: SourceRow, width: number): boolean {
  const behind = rows.slice(rows.indexOf(row) + 1)
  return behind.every(({ cells }) => {
    const filled = listFilled(cells)
    const place = { width, isLast: true, isBehindTable: false }
    return filled.length === 1 && findFooter(filled, place) !== null
  })
}

function findFooter(
  filled: readonly string[],
  { width, isLast, isBehindTable }: { width: number; isLast: boolean; isBehindTable: boolean },
): 'total' | 'count' | 'note' | null {
  const [first = '', ...others] = filled.map((cell) => cell.trim())
  if (first === '' || first.length > 300) return null
  const areFigures =
    first.length <= 40 && SUMMARY.test(first) && others.every((cell) => toKind(cell) === 'number')
  if (width > 1 && (TOTAL.test(first) || (others.length > 0 && areFigures))) return 'total'
  if (others.length > 0) return null
  if ((isLast || isBehindTable || width > 1) && COUNT.test(first)) return 'count'
  if ((isLast || width > 1) && MADE.test(first)) return 'note'
  return width > 1 && (isBehindTable || NOTE.test(first)) ? 'note' : null
}

/** The usual number of filled cells in a row; of several numbers, the largest. */
function findUsual(rows: readonly SourceRow[]): number {
  return findMostCommon(rows.map(({ cells }) => listFilled(cells).length))
}

/** Finds the header of another table below an empty record, and marks the rows from there on. */
class SecondTables {
  readonly #names: readonly string[]
  #last: { row: number; sheetRow: number } | null = null
  #above: readonly SourceRow[] = []
  #emptyRecords = 0
  /** Place of its header; null until there is one. */
  #header: string | null = null

  constructor(header: readonly string[] | null) {
    this.#names = header ?? []
  }

  /** Marks rows of a batch, followed by `next`; returns the numbers of those below an empty record. */
  mark({ rows, places = [] }: SourceBatch, next: readonly SourceRow[]): ReadonlySet<number> {
    const below = new Set<number>()
    for (const { row, sheetRow, leftOut = 0 } of places) {
      if (this.#last !== null && row > 1 && sheetRow - this.#last.sheetRow - leftOut > row - this.#last.row)
        below.add(row)
      this.#last = { row, sheetRow }
    }
    this.#emptyRecords += below.size
    if (this.#header === null && below.size > 0 && this.#emptyRecords <= EMPTY_RECORDS_MAX)
      this.#look(rows, next, below)
    else if (this.#header !== null) for (const row of rows) this.#markRow(row)
    this.#above = rows.slice(-WINDOW_ROWS)
    return below
  }

  #markRow(row: SourceRow): void {
    const found = this.#header ?? ''
    row.problems.push({ row: row.row, severity: 'warning', code: 'second_table', found })
  }

  #look(rows: readonly SourceRow[], next: readonly SourceRow[], below: ReadonlySet<number>): void {
    let titles = Number.POSITIVE_INFINITY
    for (const [index, row] of rows.entries()) {
      if (this.#header !== null) {
        this.#markRow(row)
        continue
      }
      titles = below.has(row.row) ? 0 : titles + 1
      // Up to two titles may come between the empty record and the header.
      if (titles > 2 || !mayBeHeader(row)) continue
      // The rows of a table come directly below its header.
      if (below.has(row.row + 1)) continue
      const above = [...this.#above, ...rows.slice(0, Math.max(0, index - titles))].slice(-WINDOW_ROWS)
      const behind = [...rows.slice(index + 1), ...next].slice(0, FOOTERS_MAX)
      const isOther = isOtherTable(row, above, behind, this.#names.length)
      if (!isOther && !isHeaderInOtherWords(row.cells, this.#names)) continue
      this.#header = toFound(row.cells.join(' | '))
      this.#markRow(row)
    }
  }
}

function mayBeHeader(row: SourceRow): boolean {
  const filled = listFilled(row.cells)
  return (
    filled.length > 1 && !hasError(row) && areNames(filled) && filled.every((cell) => toKind(cell) === '')
  )
}

/**
 * Whether rows below have values of a kind that neither their header nor the rows above have: in a column
 * that is empty above, or has another kind in all its rows.
 */
function isOtherTable(
  { cells }: SourceRow,
  above: readonly SourceRow[],
  below: readonly SourceRow[],
  width: number,
): boolean {
  if (above.length === 0 || below.length === 0) return false
  // A column's name is not one of the values above, whatever the case of its letters.
  const isValue = (cell: string, index: number) =>
    cell !== '' && above.some((row) => row.cells[index]?.toLowerCase() === cell.toLowerCase())
  if (cells.some(isValue)) return false
  const kinds = findKinds(below, cells.length, Math.min(OTHER_VALUES_MIN, below.length))
  return kinds.some((kind, index) => {
    const name = cells[index] ?? ''
    if (kind === '' || name === '' || toKind(name) !== '') return false
    // A word or two may have digits: v1agra.
    if (kind === 'id' && below.length < OTHER_VALUES_MIN) return false
    const values = above.map((row) => row.cells[index] ?? '').filter((cell) => !MISSING.test(cell.trim()))
    if (values.length === 0) return index >= width || above.length >= OTHER_VALUES_MIN
    const [usual = ''] = values.map(toKind)
    return values.every((value) => toKind(value) === usual) && usual !== kind
  })
}
