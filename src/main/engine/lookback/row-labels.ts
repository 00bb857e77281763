import type { LabelQuestion, LabelsFile } from '../../../shared/lookback/evaluation.ts'
import { EMPTY_LABEL, isMissing } from '../../../shared/lookback/label-values.ts'
import { type Positive, toComparableValue } from '../../../shared/lookback/labels.ts'
import { readRuleColumns } from '../../../shared/lookback/rule-columns.ts'
import type { Verdict } from '../../../shared/lookback/verdict.ts'
import { findNearestName, listColumns } from '../../../shared/mapping/check-mapping.ts'
import { findColumn } from '../../../shared/mapping/match-columns.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { type FoundProblem, sayExpected } from '../../../shared/messages/problem-messages.ts'
import { formatRow, type SourcePlace } from '../../../shared/plan/source-place.ts'
import { STRATUM_COLUMNS } from '../../../shared/run/export-columns.ts'
import type { RunFamily } from '../journal/run-family.ts'
import { listSameNamed } from '../mapping/plan-warnings.ts'
import { createPostIdMapper, createRowMapper } from '../mapping/row-mapper.ts'
import { toHalf } from '../mapping/split-row.ts'
import { readVerdicts } from '../run/journal/verdict-store.ts'
import { readFacetCounts, readFamilyCounts } from '../run/results/family-counts.ts'
import { openSource } from '../source/open-source.ts'
import { createBatchPlaces, type SourceReader } from '../source/source-reader.ts'
import type { AnsweredStep } from './answered-rows.ts'
import { findNamedRows, findRowNaming, type NamingRow, type RowNaming } from './named-rows.ts'

/** A row's label as it stands, a person's verdicts on it, or why there is neither. */
export type RowLabel =
  | { kind: 'text'; text: string }
  | { kind: 'verdicts'; verdicts: readonly Verdict[] }
  | { kind: 'none'; unread?: readonly UnreadCells[] }
  | { kind: 'unsure' | 'conflict' }

/** Cells that cannot be read as labels, and how many rows have no label because of them. */
interface UnreadCells {
  /** Null for the only column. */
  column: string | null
  values: Set<string>
  rows: number
}

/** A label and the number of its row's stratum; 0 if rows were not sampled. */
export interface PlacedLabel {
  label: RowLabel
  stratum: number
}

export interface LabelReader {
  /** The columns of the run that labels are read from. */
  columns: readonly number[]
  /** Creates a function that gives the label of the row at a place. Rows labelled alike mostly share one. */
  open: (step: AnsweredStep) => (place: number) => PlacedLabel
  strata: Strata
  /**
   * Notes for a person, a sentence each, about cells that cannot be read as labels and about labels of a file
   * whose row the run does not have. Call it after all rows were read.
   */
  listNotes: () => string[]
}

type AskedLabel = NonNullable<LabelQuestion['label']>

type OpenLabels = Pick<LabelReader, 'columns' | 'open'> & { listNotes?: () => string[] }

/** Most labels kept for reuse. */
const KNOWN_MAX = 10_000

/** Columns that give a row's number in exports, samples and files of verdicts. */
const ROW_COLUMNS = ['sluice_row', 'row', 'sluice_record']

export const NO_LABEL: PlacedLabel = { label: { kind: 'none' }, stratum: 0 }

/** Whether a row has no label, or one that is empty and therefore says that nothing is wrong. */
export function isEmptyLabel(label: RowLabel): boolean {
  return label.kind === 'none' || (label.kind === 'text' && label.text === EMPTY_LABEL)
}

/** Counts a row without a label, for {@link LabelReader.listNotes}. */
export function countUnread(label: RowLabel): void {
  if (label.kind === 'none') for (const cells of label.unread ?? []) cells.rows += 1
}

/** The strata of labelled rows, numbered as they appear. */
class Strata {
  readonly names: string[] = []
  readonly populations: (number | null)[] = []
  readonly #numbers = new Map<string, number>()

  /** The number of a stratum with this many rows; `rows` is null if rows stand for themselves. */
  number(name: string, rows: number | null): number {
    const key = `${rows} ${name}`
    const known = this.#numbers.get(key)
    if (known !== undefined) return known
    this.#numbers.set(key, this.names.length)
    this.names.push(name)
    this.populations.push(rows)
    return this.names.length - 1
  }
}

/** Where labels are; a value that `positives` explain is a label. */
type AskedLabels = Pick<LabelQuestion, 'label' | 'labels' | 'useVerdicts'> & Partial<LabelQuestion>

/** Finds the label of each row, in a column of the run, a file of labels, or the verdicts of a person. */
export async function createLabelReader(
  family: RunFamily,
  { label, labels, useVerdicts, positives = [], emptyIsNegative = false }: AskedLabels,
): Promise<LabelReader> {
  const strata = new Strata()
  const texts = new LabelTexts(positives, emptyIsNegative)
  let reader: OpenLabels = { columns: [], open: () => () => NO_LABEL }
  if (label !== null) {
    reader =
      labels === undefined
        ? createColumnReader(family, label, texts, strata)
        : await createFileReader(family, label, labels, { texts, strata })
  }
  const { columns, open, notes } = useVerdicts
    ? underVerdicts(family, reader, strata, label === null)
    : { ...reader, notes: [] }
  const listNotes = () => [...texts.listNotes(), ...(reader.listNotes?.() ?? []), ...notes]
  return { columns, open, strata, listNotes }
}

/** Most distinct cells that a note names. */
const NOTED_MAX = 5

/** Builds the text of a label from the cells of its columns, and notes cells that are not labels. */
class LabelTexts {
  readonly #explained: ReadonlySet<string>
  /** The text of a row whose cells are empty. */
  readonly #empty: string
  readonly #unread = new Map<string | null, UnreadCells>()

  /** A value that `positives` explain is a label, whatever it looks like. */
  constructor(positives: readonly Positive[], emptyIsNegative: boolean) {
    this.#empty = emptyIsNegative ? EMPTY_LABEL : ''
    this.#explained = new Set(positives.map(({ value }) => toComparableValue(value)))
  }

  /** The text is '' for a row without a label; `unread` are the cells why, if it has any. */
  read(label: AskedLabel, cells: readonly string[]): { text: string; unread: readonly UnreadCells[] } {
    if (typeof label !== 'string') {
      const { text, unread } = readRuleColumns(label, cells)
      const noted = new Set(unread.map(({ column, value }) => this.#note(column, value)))
      return { text: text === '' && noted.size === 0 ? this.#empty : text, unread: [...noted] }
    }
    const [text = ''] = cells
    if (text.trim() === '') return { text: this.#empty, unread: [] }
    if (!isMissing(text) || this.#explained.has(toComparableValue(text))) return { text, unread: [] }
    return { text: '', unread: [this.#note(null, text)] }
  }

  #note(column: string | null, value: string): UnreadCells {
    const cells = this.#unread.get(column) ?? { column, values: new Set(), rows: 0 }
    cells.values.add(value.trim())
    this.#unread.set(column, cells)
    return cells
  }

  listNotes(): string[] {
    return [...this.#unread.values()].flatMap(({ column, values, rows }) => {
      if (rows === 0) return []
      const shown = [...values].slice(0, NOTED_MAX).map((value) => `\`${value}\``)
      const named = `${shown.join(', ')}${values.size > NOTED_MAX ? ' and others' : ''}`
      const where = column === null ? '' : ` in \`${column}\``
      const why = column === null ? '' : `: ${rows === 1 ? 'it is' : 'they are'} neither yes nor no`
      const as = rows === 1 ? 'counts as a row without a label' : 'count as rows without a label'
      return [`${formatCounted(rows, 'row')} with ${named}${where} ${as}${why}.`]
    })
  }
}

/** The columns of a label, by name or number. */
function listNames(label: AskedLabel): string[] {
  return typeof label === 'string' ? [label] : label.map(({ column }) => column)
}

function findLabelColumns(columns: readonly string[], label: AskedLabel, file: string): number[] {
  return listNames(label).map((name) => findColumnOrThrow(columns, name, '--label', file))
}

/** Says which of several columns with one name is read; a number names only one. */
export function sayDoubled(
  names: readonly string[],
  { columns, header }: { columns: readonly string[]; header: readonly string[] | null },
): string[] {
  return names.flatMap((name) => {
    const used = columns.indexOf(name)
    const numbers = used === -1 ? [] : listSameNamed(used, name, header ?? [])
    if (numbers.length < 2) return []
    return [
      `\`${name}\` is the name of columns ${numbers.join(' and ')}; column ${numbers[0]} is used. To use another, name it by its number.`,
    ]
  })
}

function createColumnReader(
  family: RunFamily,
  label: AskedLabel,
  texts: LabelTexts,
  strata: Strata,
): OpenLabels {
  const { columns, plan } = family.record
  const at = findLabelColumns(columns, label, plan.source.path)
  const stratumColumns = listStratumColumns(columns)
  const toStratum = createStratumReader(columns, strata)
  const reader = readCombinations([...at, ...stratumColumns], (cells) => {
    const { text, unread } = texts.read(label, cells.slice(0, at.length))
    if (text === '') return unread.length === 0 ? NO_LABEL : { label: { kind: 'none', unread }, stratum: 0 }
    const toCell = (column: number) => cells[at.length + stratumColumns.indexOf(column)] ?? ''
    return { label: { kind: 'text', text }, stratum: toStratum(toCell) }
  })
  return { ...reader, listNotes: () => [...sayDoubled(listNames(label), family.record), ...saySplit(family)] }
}

/** Says that both rows of a split record have its label. */
function saySplit({ db }: RunFamily): string[] {
  const split = readFacetCounts(db).get('corrected')?.get('split') ?? 0
  if (split === 0) return []
  const were = split === 1 ? 'was' : 'were'
  return [
    `${formatCounted(split, 'record')} ${were} sent as two rows, text and URL. Both count with the label of their record, so what only one of them shows is missed on the other. To label each, use a file with row numbers such as \`2a\` and \`2b\`.`,
  ]
}

/** Reads labels made up of the cells of some columns, each once for all rows with the same cells. */
function readCombinations(
  columns: readonly number[],
  toLabel: (cells: readonly string[]) => PlacedLabel,
): OpenLabels {
  const known = new Map<string, PlacedLabel>()
  return {
    columns,
    open(step) {
      const cells = columns.map((column) => step.cells(column))
      const [first = []] = cells
      return (place) => {
        // Lengths tell apart what would otherwise read alike.
        const key =
          cells.length === 1
            ? (first[place] ?? '')
            : cells.map((own) => `${own[place]?.length} ${own[place]}`).join(' ')
        let label = known.get(key)
        if (label === undefined) {
          label = toLabel(cells.map((own) => own[place] ?? ''))
          if (known.size >= KNOWN_MAX) known.clear()
          known.set(key, label)
        }
        return label
      }
    },
  }
}

/** Reads the whole file before the run: the label of each key; many rows share one. */
async function createFileReader(
  family: RunFamily,
  label: AskedLabel,
  { source, key, runKey = key }: LabelsFile,
  { texts, strata }: { texts: LabelTexts; strata: Strata },
): Promise<OpenLabels> {
  const isNumbered = ROW_COLUMNS.includes(runKey) && findColumn(family.record.columns, runKey) === null
  const keys = isNumbered ? ROW_NUMBERS : createRunKeyReader(family, runKey)
  const placed = new Map<string, PlacedLabel>()
  const keyed: { row: NamingRow; found: PlacedLabel }[] = []
  const broken: { place: SourcePlace; problem: FoundProblem }[] = []
  const reader = await openSource(source)
  try {
    const { columns } = reader
    const labelAt = findLabelColumns(columns, label, source.path)
    const keyAt = findColumnOrThrow(columns, key, '--key', source.path)
    const toStratum = createStratumReader(columns, strata)
    const findPlace = createBatchPlaces()
    for await (const batch of reader.batches()) {
      const toPlace = findPlace(batch)
      for (const { row, cells, problems } of batch.rows) {
        const place = toPlace(row)
        const problem = problems.find(({ severity }) => severity === 'error')
        if (problem !== undefined) {
          broken.push({ place, problem })
          continue
        }
        const { text, unread } = texts.read(
          label,
          labelAt.map((at) => cells[at] ?? ''),
        )
        // Of a file, its own rows are counted: it may name rows that the run does not have.
        countUnread({ kind: 'none', unread })
        if (text === '') continue
        const stratum = toStratum((column) => cells[column] ?? '')
        const found = placed.get(`${stratum}\n${text}`) ?? { label: { kind: 'text', text }, stratum }
        placed.set(`${stratum}\n${text}`, found)
        keyed.push({ row: { place, cells }, found })
      }
    }
    const rows = keyed.map(({ row }) => row)
    const named = isNumbered
      ? findRecordsOf(family, source.path, toNaming(columns, { key, keyAt, runKey }), rows)
      : rows.map(({ cells }) => (cells[keyAt] ?? '').trim())
    const byKey = new Map<string, PlacedLabel>()
    // The row of the run with each key; 0 for several.
    const rowOf = new Map<string, number>()
    const places = rows.map(({ place }) => place)
    for (const [index, { found }] of keyed.entries()) {
      const rowKey = named[index] ?? ''
      // Rows without a key have nothing in common.
      if (rowKey === '') continue
      const before = byKey.get(rowKey)
      const isSame = before === undefined || before === found
      byKey.set(rowKey, isSame ? found : { label: { kind: 'conflict' }, stratum: 0 })
    }
    const ofFile = [
      ...sayDoubled([...listNames(label), key], reader),
      ...sayBroken(broken),
      ...sayOtherSheets(reader, 'labels'),
    ]
    return {
      columns: keys.columns,
      open(step) {
        const toKey = keys.open(step)
        return (place) => {
          const rowKey = toKey(place)
          const found = byKey.get(rowKey)
          if (found === undefined) return NO_LABEL
          const row = step.rowAt(place)
          const before = rowOf.get(rowKey) ?? row
          rowOf.set(rowKey, before === row ? row : 0)
          return found
        }
      },
      listNotes() {
        const list = (matched: string, isNoted: (row: number | undefined) => boolean, then = '') => {
          const [first, ...others] = places.filter((_, at) => isNoted(rowOf.get(named[at] ?? '')))
          if (first === undefined) return []
          const noted = `${formatCount(others.length + 1)} of ${formatCounted(places.length, 'label')} in the file`
          const verb = others.length === 0 ? 'matches' : 'match'
          return [
            `${noted} ${verb} ${matched} of the run by \`${runKey}\`, such as that in row ${formatRow(first)}${then}.`,
          ]
        }
        return [
          ...ofFile,
          ...list('no row', (row) => row === undefined),
          ...list('several rows', (row) => row === 0, '. Each of these rows counts'),
        ]
      },
    }
  } finally {
    reader.close()
  }
}

/** Says that rows of a file cannot be read, so that their cells may be in the wrong columns. */
function sayBroken(broken: readonly { place: SourcePlace; problem: FoundProblem }[]): string[] {
  const [first] = broken
  if (first === undefined) return []
  const rows = formatCounted(broken.length, 'row')
  return [
    `${rows} of the file of labels ${broken.length === 1 ? 'is' : 'are'} left out, such as row ${formatRow(first.place)}: ${sayExpected(first.problem, 'window')}.`,
  ]
}

/** Says that other sheets of a file have the columns of the one that is read. */
export function sayOtherSheets({ findWarnings }: SourceReader, of: 'labels' | 'verdicts'): string[] {
  return (findWarnings?.() ?? []).flatMap((warning) => {
    if (warning.code !== 'other_sheets') return []
    const { sheet, others } = warning.args
    return [
      `Of the file of ${of}, only the sheet "${sheet}" is read. These have the same columns: ${others}.`,
    ]
  })
}

/** How a file names rows in a column: as our files do if it has one of our names, else as `runKey` says. */
function toNaming(
  columns: readonly string[],
  { key, keyAt, runKey }: { key: string; keyAt: number; runKey: string },
): RowNaming {
  const own = ROW_COLUMNS.includes(key) ? findRowNaming(columns) : null
  if (own !== null && key === runKey) return own
  const kind = runKey === 'sluice_record' ? 'record' : 'row'
  return { kind, column: key, at: keyAt, rowAt: null, postIdAt: null }
}

/** The records of named rows, as text; '' for rows that the run lacks. Throws if one contradicts itself. */
function findRecordsOf(
  family: RunFamily,
  file: string,
  naming: RowNaming,
  rows: readonly NamingRow[],
): string[] {
  return findNamedRows(family, file, naming, rows).map((found, index) => {
    if (typeof found === 'number') return String(found)
    if (found.kind === 'missing') return ''
    const place = rows[index]?.place ?? { row: index + 1, line: null }
    throw new SluiceError({ id: 'label_file_wrong', file, row: formatRow(place), reason: found.reason })
  })
}

/** The columns and keys by which rows of a run are found. */
interface RunKeys {
  columns: readonly number[]
  open: (step: AnsweredStep) => (place: number) => string
}

const ROW_NUMBERS: RunKeys = { columns: [], open: (step) => (place) => String(step.rowAt(place)) }

function createRunKeyReader(family: RunFamily, column: string): RunKeys {
  const { columns, plan, runToken } = family.record
  const at = findColumn(columns, column)
  if (at === null && (column === 'post_id' || column === 'sluice_post_id')) {
    const toPostId = createPostIdMapper(plan, columns, runToken)
    const mapRow = createRowMapper(plan, columns, runToken)
    return {
      columns: [],
      open: (step) => (place) => {
        const { cells, kinds } = step.wholeAt(place)
        const row = step.rowAt(place)
        // As in exports: the record's own id would not tell its two rows apart.
        const ofHalf = toHalf(row, kinds) === null ? null : mapRow(row, cells, kinds).body['post_id']
        return String(ofHalf ?? toPostId(row, cells, kinds) ?? '')
      },
    }
  }
  const key = at ?? findColumnOrThrow(columns, column, '--key', plan.source.path)
  return {
    columns: [key],
    open(step) {
      const cells = step.cells(key)
      return (place) => (cells[place] ?? '').trim()
    },
  }
}

/** The columns with strata; none unless both exist. */
function listStratumColumns(columns: readonly string[]): number[] {
  const found = [STRATUM_COLUMNS.name, STRATUM_COLUMNS.rows].map((name) => columns.indexOf(name))
  return found.includes(-1) ? [] : found
}

/** Creates a function that reads the stratum of a row, given access to its cells by column. */
function createStratumReader(
  columns: readonly string[],
  strata: Strata,
): (readCell: (column: number) => string) => number {
  const [nameAt, rowsAt] = listStratumColumns(columns)
  if (nameAt === undefined || rowsAt === undefined) return () => strata.number('', null)
  return (readCell) => {
    const rows = Number(readCell(rowsAt))
    return strata.number(readCell(nameAt), Number.isSafeInteger(rows) && rows > 0 ? rows : null)
  }
}

/**
 * A verdict takes precedence over its row's label: somebody has looked at the row. It gets the row's stratum
 * unless verdicts `areAlone` and on one sample of the run: next to labels or another sample, rows would count
 * twice.
 */
function underVerdicts(
  family: RunFamily,
  { columns, open }: OpenLabels,
  strata: Strata,
  areAlone: boolean,
): OpenLabels & { notes: string[] } {
  const verdicts = readVerdicts(family)
  const sampled = areAlone ? countSampled(verdicts) : 0
  const answered = readFamilyCounts(family).get('state')?.get('succeeded') ?? 0
  const areSampled = sampled > 0 && sampled <= answered
  const findVerdict = createVerdictFinder(verdicts, areSampled ? strata : new Strata())
  const stratumColumns = areSampled ? [] : listStratumColumns(family.record.columns)
  const toStratum = createStratumReader(family.record.columns, strata)
  return {
    columns: [...columns, ...stratumColumns],
    notes:
      sampled > answered
        ? [
            `Verdicts on several samples are not weighted: their groups have ${formatCounted(sampled, 'row')}, and the run has only ${formatCounted(answered, 'answered row')}.`,
          ]
        : [],
    open(step) {
      const readLabel = open(step)
      const cells = new Map(stratumColumns.map((column) => [column, step.cells(column)]))
      return (place) => {
        const labelled = readLabel(place)
        const verdict = findVerdict(step.rowAt(place))
        if (verdict === undefined) return labelled
        if (areSampled || verdict.label.kind !== 'verdicts') return verdict
        const stratum =
          labelled.label.kind === 'text'
            ? labelled.stratum
            : toStratum((column) => cells.get(column)?.[place] ?? '')
        return { ...verdict, stratum }
      }
    },
  }
}

/**
 * The rows that all strata of verdicts have together; more than the run has if they are of several samples.
 */
function countSampled(verdicts: readonly Verdict[]): number {
  const strata = new Strata()
  for (const { stratum, stratum_rows } of verdicts) strata.number(stratum ?? '', stratum_rows)
  return strata.populations.reduce<number>((sum, rows) => sum + (rows ?? 0), 0)
}

/** Creates a function that gives the verdicts on a row, by its number. */
export function createVerdictFinder(
  all: readonly Verdict[],
  strata = new Strata(),
): (row: number) => PlacedLabel | undefined {
  const byRow = Map.groupBy(all, ({ row }) => row)
  return (row) => {
    const verdicts = byRow.get(row)
    const [first] = verdicts ?? []
    if (verdicts === undefined || first === undefined) return undefined
    if (verdicts.some(({ verdict }) => verdict === 'unsure')) return { label: { kind: 'unsure' }, stratum: 0 }
    const stratum = strata.number(first.stratum ?? '', first.stratum_rows)
    return { label: { kind: 'verdicts', verdicts }, stratum }
  }
}

/** The index of a column. Throws `BAD_USAGE`, naming the existing columns. */
export function findColumnOrThrow(
  columns: readonly string[],
  column: string,
  option: string,
  file: string,
): number {
  const at = findColumn(columns, column)
  if (at !== null) return at
  throw toMissingColumn(columns, column, option, file)
}

/** The error for a column that a file lacks. */
export function toMissingColumn(
  columns: readonly string[],
  column: string,
  option: string,
  file: string,
): SluiceError {
  return new SluiceError({
    id: 'lookback_column_missing',
    option,
    column,
    file,
    columns: listColumns(columns),
    nearest: findNearestName(column, columns),
  })
}
