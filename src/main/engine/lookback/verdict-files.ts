import { z } from 'zod'
import {
  findVerdictMistake,
  isDecided,
  type NewVerdict,
  parseVerdict,
  type RowVerdict,
  type Verdict,
  type VerdictImport,
} from '../../../shared/lookback/verdict.ts'
import { findColumn } from '../../../shared/mapping/match-columns.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { sayExpected } from '../../../shared/messages/problem-messages.ts'
import type { PlanSource } from '../../../shared/plan/plan.ts'
import { formatRow, type SourcePlace, toRowNumber } from '../../../shared/plan/source-place.ts'
import type { ExportColumn } from '../../../shared/run/export-columns.ts'
import { FILE_COLUMN, isJsonLinesExport, STRATUM_COLUMNS } from '../../../shared/run/export-columns.ts'
import type { ExportRow } from '../../../shared/run/results.ts'
import type { ExportResult } from '../../../shared/run/written-rows.ts'
import { parseJson } from '../../../shared/service/parse-json.ts'
import type { RunFamily } from '../journal/run-family.ts'
import { listSameNamed } from '../mapping/plan-warnings.ts'
import { refuseSource } from '../results/export-run.ts'
import { toMembers, toTable } from '../run/export/csv-report.ts'
import { readPagesOfRows, readRowsByNumber } from '../run/export/export-rows.ts'
import { writeReport } from '../run/export/write-report.ts'
import { hasSeveralFiles } from '../run/journal/intake-writer.ts'
import { importRowVerdicts, readVerdicts } from '../run/journal/verdict-store.ts'
import { findNewest } from '../run/results/family-rows.ts'
import { readPlace } from '../run/results/row-places.ts'
import { openSource } from '../source/open-source.ts'
import { createBatchPlaces, type SourceReader } from '../source/source-reader.ts'
import { findNamedRows, findRowNaming, type NamedRow, type NamingRow } from './named-rows.ts'
import { findColumnOrThrow, sayOtherSheets, toMissingColumn } from './row-labels.ts'

/** The columns of a file of verdicts, as exports and samples have them too. */
const COLUMNS = {
  row: 'sluice_row',
  record: 'sluice_record',
  verdict: 'sluice_verdict',
  rule: 'sluice_rule',
  note: 'sluice_note',
} as const

/** Columns that are read of a file of verdicts. */
const READ_COLUMNS = ['sluice_post_id', ...Object.values(COLUMNS), ...Object.values(STRATUM_COLUMNS)]

/** The member with the verdicts of a row in a JSON Lines export. */
const JSON_VERDICTS = 'verdicts'

/** Separates several verdicts, or their rules, in a cell of an export. */
const SEPARATOR = '; '

/** Rows with other verdicts that an import names. */
const DIFFERING_NAMED = 100

/**
 * Stores the verdicts of a file, all or none, in the place of those on their rows; rows without one are
 * skipped. Without `replaces`, stores nothing if some rows have other verdicts. Throws `BAD_SOURCE` for the
 * first wrong row, and what storing throws.
 */
export async function importVerdicts(
  family: RunFamily,
  source: PlanSource,
  replaces: boolean,
): Promise<VerdictImport> {
  const given: { row: NamingRow; verdicts: Omit<NewVerdict, 'row'>[] }[] = []
  const reader = await openSource(source)
  try {
    const { columns } = reader
    const naming = findRowNaming(columns)
    if (naming === null) throw toMissingColumn(columns, 'row', '--from', source.path)
    refuseDoubled([naming.column, ...READ_COLUMNS], reader, source)
    // A file of verdicts has a line for each verdict, in JSON lines, too.
    const isExport = isJsonLinesExport(columns) && !columns.includes(COLUMNS.verdict)
    const jsonAt = isExport ? columns.indexOf(JSON_VERDICTS) : -1
    const verdictAt =
      jsonAt === -1 ? findColumnOrThrow(columns, COLUMNS.verdict, '--from', source.path) : jsonAt
    const readOptional = (name: string) => {
      const at = findColumn(columns, name)
      return (cells: readonly string[]) => (at === null ? '' : (cells[at] ?? '').trim()) || null
    }
    const readRule = readOptional(COLUMNS.rule)
    const readNote = readOptional(COLUMNS.note)
    const readStratum = readOptional(STRATUM_COLUMNS.name)
    const readStratumRows = readOptional(STRATUM_COLUMNS.rows)
    const findPlace = createBatchPlaces()
    for await (const batch of reader.batches()) {
      const toPlace = findPlace(batch)
      for (const { row: number, cells, problems } of batch.rows) {
        const place = toPlace(number)
        const refuse = (reason: string) => toWrong(source, place, reason)
        // Its cells may be in the wrong columns.
        const problem = problems.find(({ severity }) => severity === 'error')
        if (problem !== undefined) throw refuse(sayExpected(problem, 'window'))
        const text = (cells[verdictAt] ?? '').trim()
        if (text === '') continue
        const stratumRows = Number(readStratumRows(cells) ?? Number.NaN)
        const isSampled = Number.isSafeInteger(stratumRows) && stratumRows > 0
        const said =
          jsonAt === -1
            ? parseVerdicts(text, { rule: readRule(cells), note: readNote(cells) }, refuse)
            : parseJsonVerdicts(text, refuse)
        const verdicts = said.map((verdict) => ({
          ...verdict,
          stratum: isSampled ? (readStratum(cells) ?? '') : null,
          stratum_rows: isSampled ? stratumRows : null,
        }))
        given.push({ row: { place, cells }, verdicts })
      }
    }
    const named = findNamedRows(
      family,
      source.path,
      naming,
      given.map(({ row }) => row),
    )
    const stored = given.flatMap(({ row: { place }, verdicts }, index) => {
      const record = named[index]
      if (typeof record !== 'number') throw toWrong(source, place, record?.reason ?? '')
      return verdicts.map((verdict) => ({ row: record, ...verdict }))
    })
    const isUndecided = createUndecidedCheck(family, stored)
    for (const [index, { row }] of given.entries()) {
      if (isUndecided(named[index])) {
        throw toWrong(
          source,
          row.place,
          'its row of the run has no result, so no triggered rules to agree with',
        )
      }
    }
    const differing = importRowVerdicts(family, stored, replaces)
    return {
      verdicts: differing.length > 0 && !replaces ? 0 : stored.length,
      differingRows: differing.length,
      differing: differing
        .slice(0, DIFFERING_NAMED)
        .map(({ row, ...verdicts }) => ({ place: readPlace(family, row), ...verdicts })),
      notes: sayOtherSheets(reader, 'verdicts'),
    }
  } finally {
    reader.close()
  }
}

/** Throws `BAD_SOURCE` if a column that is read has the name of another: either may be meant. */
function refuseDoubled(
  read: readonly string[],
  { columns, header }: SourceReader,
  { path }: PlanSource,
): void {
  for (const name of read) {
    const used = columns.indexOf(name)
    const numbers = used === -1 ? [] : listSameNamed(used, name, header ?? [])
    if (numbers.length < 2) continue
    const at = numbers.join(' and ')
    throw new SluiceError({ id: 'verdict_columns_doubled', file: path, column: name, columns: at })
  }
}

/** Creates a function that says whether a record has the verdict `agree`, but no result to agree with. */
function createUndecidedCheck(
  family: RunFamily,
  verdicts: readonly NewVerdict[],
): (record: NamedRow | undefined) => boolean {
  const undecided = new Set(verdicts.filter(({ verdict }) => verdict === 'agree').map(({ row }) => row))
  if (undecided.size === 0) return () => false
  const parts = { withRequests: false, withAnswers: false }
  for (const page of readRowsByNumber(family, [...undecided], parts)) {
    for (const row of page) if (isDecided(row)) undecided.delete(row.row)
  }
  return (record) => typeof record === 'number' && undecided.has(record)
}

function toWrong({ path }: PlanSource, place: SourcePlace, reason: string): SluiceError {
  return new SluiceError({ id: 'verdict_file_wrong', file: path, row: formatRow(place), reason })
}

/** What the cells of a row say: one verdict and perhaps its rule, or several with a rule each. */
function parseVerdicts(
  text: string,
  { rule: ruleText, note }: Pick<Verdict, 'rule' | 'note'>,
  refuse: (reason: string) => SluiceError,
): RowVerdict[] {
  const words = text.split(SEPARATOR)
  // The name of a single rule may contain the separator.
  const rules = words.length === 1 ? [ruleText] : splitTexts(ruleText ?? '')
  if (rules.length !== words.length) {
    throw refuse(`${words.length} verdicts need as many rules, and ${COLUMNS.rule} has ${rules.length}`)
  }
  const listed = words.length === 1 ? [] : splitTexts(note ?? '')
  const notes = listed.length === words.length ? listed.map((one) => one || null) : words.map(() => note)
  return words.map((word, index) =>
    toVerdict({ word, rule: rules[index] ?? null, note: notes[index] ?? null }, refuse),
  )
}

function toVerdict(
  { word, rule, note }: { word: string; rule: string | null; note: string | null },
  refuse: (reason: string) => SluiceError,
): RowVerdict {
  const verdict = parseVerdict(word)
  if (verdict === null) throw refuse(`\`${word}\` is not agree, should, should-not or unsure`)
  const mistake = findVerdictMistake({ verdict, rule })
  if (mistake !== null) throw refuse(mistake)
  return { verdict, rule, note }
}

const jsonVerdictsSchema = z.array(
  z.object({ verdict: z.string(), rule: z.string().nullable(), note: z.string().nullable() }),
)

/** The verdicts of a row of a JSON Lines export. */
function parseJsonVerdicts(text: string, refuse: (reason: string) => SluiceError): RowVerdict[] {
  const { data } = jsonVerdictsSchema.safeParse(parseJson(text))
  if (data === undefined) throw refuse(`\`${JSON_VERDICTS}\` is not a list of verdicts`)
  return data.map(({ verdict: word, rule, note }) => toVerdict({ word, rule, note }, refuse))
}

/** The rules or notes of several verdicts, as an export joins them: as JSON if one contains the separator. */
function splitTexts(text: string): string[] {
  const list = text.startsWith('[') ? parseJson(text) : undefined
  if (Array.isArray(list) && list.every((one) => typeof one === 'string')) return list
  return text === '' ? [] : text.split(SEPARATOR)
}

/** Writes the verdicts to a file, each with the cells of its row. Throws what an export throws. */
export function exportVerdicts(family: RunFamily, file: string): Promise<ExportResult> {
  refuseSource(family, file)
  const { columns, header } = family.record
  const verdictOf = new WeakMap<ExportRow, Verdict>()
  const byRow = Map.groupBy(readVerdicts(family), ({ row }) => row)
  function* listPages(): Generator<ExportRow[]> {
    const rows = findNewest(family, [...byRow.keys()])
    for (const page of readPagesOfRows(family, [rows], { withRequests: false, withAnswers: false })) {
      yield page.flatMap((row) =>
        (byRow.get(row.row) ?? []).map((verdict) => {
          const copy = { ...row }
          verdictOf.set(copy, verdict)
          return copy
        }),
      )
    }
  }
  const toColumn = (
    name: string,
    read: (verdict: Verdict) => string | number | null,
    type?: ExportColumn['type'],
  ): ExportColumn => ({
    name,
    ...(type !== undefined && { type }),
    read: (row) => {
      const verdict = verdictOf.get(row)
      return verdict === undefined ? '' : (read(verdict) ?? '')
    },
  })
  const added: ExportColumn[] = [
    { name: COLUMNS.row, read: ({ place }) => String(toRowNumber(place)) },
    ...(hasSeveralFiles(family.db) ? [FILE_COLUMN] : []),
    toColumn(COLUMNS.record, ({ row }) => row, 'integer'),
    toColumn(COLUMNS.verdict, ({ verdict }) => verdict),
    toColumn(COLUMNS.rule, ({ rule }) => rule),
    toColumn(COLUMNS.note, ({ note }) => note),
    toColumn('sluice_given_at', ({ given_at: givenAt }) => givenAt, 'timestamp'),
    toColumn(STRATUM_COLUMNS.name, ({ stratum }) => stratum),
    toColumn(STRATUM_COLUMNS.rows, ({ stratum_rows: rows }) => rows, 'integer'),
  ]
  return writeReport({
    file,
    columns,
    header,
    members: toMembers(added),
    pages: listPages(),
    table: toTable(columns, added),
  })
}
