import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { JsonExpectation } from '../../../../shared/messages/json-expectations.ts'
import type { FoundProblem } from '../../../../shared/messages/problem-messages.ts'
import type { PlanSource } from '../../../../shared/plan/plan.ts'
import { toFound } from '../../../../shared/run/problem.ts'
import { chooseEncoding } from '../decoding/encoding.ts'
import { findEncodingWarnings } from '../decoding/encoding-doubt.ts'
import { createTextReader, READ_BYTES, readLines, replaceUndecodable } from '../decoding/text-reader.ts'
import { openSourceFile, type SourceFile } from '../source-file.ts'
import {
  type CellKind,
  findEmptyWarnings,
  findInnerMarkWarnings,
  PlaceNotes,
  type SourceBatch,
  type SourceReader,
  type SourceRow,
  toColumnNames,
} from '../source-reader.ts'
import { hasJsonElements, type JsonElement, readJsonElements } from './json-elements.ts'
import { NestedFields } from './nested-fields.ts'
import { isBatchRequest, toBatchRows } from './openai-batch.ts'
import { type JsonLine, type JsonMember, parseJsonLine } from './parse-json-line.ts'
import { RowsInKeys } from './rows-in-keys.ts'

/** Longest line or element read, UTF-16 code units; a longer one becomes a row that cannot be sent. */
const MAX_CHARACTERS = 8 * 1024 * 1024

const BLANK = /^[ \t\r]*$/

/** Bytes that a preview searches for keys. */
const PREVIEW_KEYS_BYTES = 16 * 1024 * 1024

/**
 * Opens a JSON Lines file, one JSON object a line, or a JSON array of objects; their keys are columns in
 * order of first appearance. The whole file is searched for keys, or only its beginning if `isPreview`.
 *
 * Rows: text unchanged, null as an empty cell, and everything else as its JSON in the file, so that no digit
 * of a number changes. A line or element that is not an object becomes a row with an error that says where.
 * Blank lines are not rows.
 *
 * Lines that are requests of OpenAI's batch API give one row per input, if the plan says so, or if its format
 * `isFormatGuessed` and the first line is one.
 *
 * Throws `BAD_SOURCE` for a file that is missing, unreadable, not text or without a row, and one with too
 * many distinct keys.
 */
export function openJsonLinesSource(
  source: PlanSource,
  {
    isPreview = false,
    readBytes = READ_BYTES,
    contentPath,
    isFormatGuessed = false,
  }: { isPreview?: boolean; readBytes?: number; contentPath?: string; isFormatGuessed?: boolean } = {},
): SourceReader {
  const file = openSourceFile(source.path, contentPath)
  try {
    return createReader(source, file, isPreview, readBytes, isFormatGuessed)
  } catch (error) {
    file.close()
    throw error
  }
}

function createReader(
  source: PlanSource,
  file: SourceFile,
  isPreview: boolean,
  readBytes: number,
  isFormatGuessed: boolean,
): SourceReader {
  const chosen = chooseEncoding(file, source.encoding)
  const { encoding, encodingBy, bomBytes, readings } = chosen
  const openText = () => createTextReader(file, bomBytes, encoding)
  const keys = createColumnSet(file.path)
  let blankLines = 0
  let innerMarks = 0
  const nested = new NestedFields()
  const inKeys = new RowsInKeys()
  /** The nested fields that are columns; all of them until a plan says which ones it uses. */
  let kept: readonly string[] = []
  /** Number of columns before them. */
  let width = 0
  const isStatedBatch = source.format === 'openai-batch'
  let isBatch = isStatedBatch
  /** Lines with several inputs. */
  let splitLines = 0

  const hasElements = hasJsonElements(openText().readText, readBytes)

  /** Lines that are not blank, or elements, up to the first after `maxBytes`, where the text is then cut. */
  function* readRows(
    maxBytes: number,
  ): Generator<{ elements: JsonElement[]; bytesRead: number }, void, undefined> {
    const text = openText()
    const readText = (size: number) => (text.bytesRead() > maxBytes ? null : text.readText(size))
    if (hasElements) {
      for (const elements of readJsonElements(readText, MAX_CHARACTERS, readBytes)) {
        yield { elements, bytesRead: text.bytesRead() }
      }
      innerMarks = text.innerMarks()
      return
    }
    for (const lines of readLines(readText, MAX_CHARACTERS, readBytes)) {
      const filled = lines.filter((line) => !BLANK.test(line.text))
      blankLines += lines.length - filled.length
      const elements = filled.map((line) => ({ ...line, column: 0 }))
      yield { elements, bytesRead: text.bytesRead() }
    }
    innerMarks = text.innerMarks()
  }

  function* batches(): Generator<SourceBatch, void, undefined> {
    let row = 0
    blankLines = 0
    splitLines = 0
    const places = new PlaceNotes()
    for (const { elements, bytesRead } of readRows(Infinity)) {
      const toSourceRow = ({ members, ...read }: JsonRow, { number }: JsonElement) => {
        row += 1
        // A line may hold several elements, and an element several lines.
        places.note(row, hasElements || isBatch ? row : number, number)
        return addNested(read, members)
      }
      const rows = isBatch
        ? elements.flatMap((element) => {
            const ofElement = toBatch(row + 1, element)
            if (ofElement.length > 1) splitLines += 1
            return ofElement.map((read) => toSourceRow(read, element))
          })
        : elements.map((element) => toSourceRow(toRow(row + 1, element), element))
      if (rows.length > 0) yield { rows, places: places.take(), bytesRead }
    }
  }

  findKeys()
  return {
    format: isBatch ? 'openai-batch' : 'jsonl',
    get columns() {
      return toColumnNames([...keys.names(), ...kept])
    },
    get nestedColumns() {
      return kept
    },
    keepNested(names) {
      kept = kept.filter((name) => names.includes(name))
    },
    workbook: null,
    get nestedTexts() {
      return nested.texts()
    },
    get rowsInKeys() {
      return inKeys.list()
    },
    get header() {
      return [...keys.names(), ...kept]
    },
    sizeBytes: file.sizeBytes,
    encoding,
    encodingBy,
    encodingReadings: readings,
    delimiter: '',
    delimiterBy: 'ending',
    batches,
    get emptyRecords() {
      return blankLines
    },
    findWarnings: () => [
      ...findEncodingWarnings(chosen),
      ...findEmptyWarnings(blankLines),
      ...findInnerMarkWarnings(innerMarks),
    ],
    describe: () => ({
      ...(isBatch && !isStatedBatch && { format_by: 'guess' }),
      ...(splitLines > 0 && { split_lines: splitLines }),
    }),
    close: file.close,
  }

  function toRow(row: number, element: JsonElement): JsonRow {
    const read = readObject(row, element, encoding)
    if (!read.isObject) return toUnread(row, read)
    const found = toJsonRow(row, read.members, read.problems, keys)
    if (repeatsKeys(read.members)) {
      const text = toFound(found.cells.join(' | '))
      found.problems.push({ row, severity: 'error', code: 'repeated_header', found: text })
    }
    return found
  }

  /** The rows of a request, in order from `row` on. */
  function toBatch(row: number, element: JsonElement): JsonRow[] {
    const read = readObject(row, element, encoding)
    if (!read.isObject) return [toUnread(row, read)]
    return toBatchRows(read.members).map(({ members, doubled = [], fault }, index) => {
      const at = row + index
      const problems = read.problems.map((problem) => ({ ...problem, row: at }))
      problems.push(...doubled.map((key) => toDoubledKey(at, key)))
      if (fault !== undefined) problems.push({ row: at, severity: 'error', code: 'batch_request', ...fault })
      return toJsonRow(at, members, problems, keys)
    })
  }

  /** Appends the cells of nested fields to those of the row's own keys. */
  function addNested(read: SourceRow, members: readonly JsonMember[]): SourceRow {
    if (kept.length === 0 || members.length === 0) return read
    const { row, kinds = '' } = read
    const found = kept.map((name) => nested.read(name, members))
    const missing = Math.max(0, width - read.cells.length)
    const cells = [...read.cells, ...Array<string>(missing).fill('')]
    const added = found.map(({ cell }) => cell.toWellFormed())
    const doubled = kept.filter((_, index) => found[index]?.isDoubled)
    return {
      ...read,
      cells: [...cells, ...added],
      kinds: kinds.padEnd(width, '-') + found.map(({ kind }) => kind).join(''),
      problems: [...read.problems, ...doubled.map((name) => toDoubledKey(row, name))],
    }
  }

  /** Later rows may have keys that a mapping based on the first ones would leave out. */
  function findKeys(): void {
    let isBlank = true
    let fault: Fault | null = null
    for (const { elements } of readRows(isPreview ? PREVIEW_KEYS_BYTES : Infinity)) {
      for (const element of elements) {
        if (isBlank && isFormatGuessed) isBatch = isBatchRequest(readObject(1, element, encoding).members)
        isBlank = false
        if (keys.names().length === 0) fault ??= findFault(element)
        // A request's inputs are rows already.
        if (!isBatch) inKeys.note(element)
        for (const { members } of isBatch ? toBatch(1, element) : [toRow(1, element)]) nested.note(members)
      }
    }
    if (isBlank) throw new SluiceError({ id: 'json_is_blank', source: file.path })
    if (keys.names().length === 0 && fault !== null) {
      const { expected: lacks, ...place } = fault
      throw new SluiceError({ id: 'json_broken', source: file.path, lacks, ...place })
    }
    kept = nested.names(keys.names())
    width = keys.names().length
  }
}

/** Characters shown of a line before and after an error. */
const EXCERPT_CHARACTERS = 20

/** A row with the members behind its cells. */
interface JsonRow extends SourceRow {
  members: readonly JsonMember[]
}

/** Whether an object's values are the names of its keys: the header of a table that was appended. */
function repeatsKeys(members: readonly JsonMember[]): boolean {
  const [first] = members
  // Most rows differ in the first value.
  if (first === undefined || first.cell.trim() !== first.key.trim()) return false
  const filled = members.filter(({ cell }) => cell.trim() !== '')
  const isAll = filled.every(({ key, cell }) => cell.trim() === key.trim())
  return isAll && filled.length > 1 && filled.length * 2 > members.length
}

/** A row without cells: what was read is not an object. */
function toUnread(row: number, { problems }: { problems: FoundProblem[] }): JsonRow {
  return { row, cells: [], problems, members: [] }
}

/** Reads the members of one line or element, and its problems; no members if it is not an object. */
function readObject(
  row: number,
  element: JsonElement,
  encoding: string,
): { members: readonly JsonMember[]; problems: FoundProblem[]; isObject: boolean } {
  if (element.isTooLong) return { members: [], problems: [toLongLineProblem(row, element)], isObject: false }
  const problems: FoundProblem[] = []
  const text = [element.text]
  if (!element.text.isWellFormed()) {
    const problem = replaceUndecodable(row, text, encoding)
    if (problem !== null) problems.push(problem)
  }
  const [whole = ''] = text
  const parsed = parseJsonLine(whole)
  if (parsed.kind === 'object') return { members: parsed.members, problems, isObject: true }
  const { expected, found, ...details } = toFault(element, whole, parsed)
  problems.push({ row, severity: 'error', code: 'not_json', args: { expected }, details, found })
  return { members: [], problems, isObject: false }
}

/** Makes a row of members: a cell for each key up to its last one, '' for those it lacks. */
function toJsonRow(
  row: number,
  members: readonly JsonMember[],
  problems: FoundProblem[],
  columns: ColumnSet,
): JsonRow {
  const { cells, kinds } = toCells(row, members, columns, problems)
  if (cells.some((cell) => !cell.isWellFormed())) {
    const problem = replaceUndecodable(row, cells, null)
    if (problem !== null) problems.push(problem)
  }
  return { row, cells, kinds, problems, members }
}

/** Where a line or element stops being an object. */
interface Fault {
  line: number
  character: number
  expected: JsonExpectation
  found: string
}

function toFault(
  element: JsonElement,
  text: string,
  { at, expected }: Extract<JsonLine, { kind: 'fault' }>,
): Fault {
  const isBetween = element.isInArray === true && expected === 'end'
  return {
    ...toPosition(element, text, at),
    expected: element.lacks ?? (isBetween ? 'comma_or_bracket' : expected),
    found: toExcerpt(text, at),
  }
}

/** The fault of an element that is no object with a key; of an overlong one, only the beginning is here. */
function findFault(element: JsonElement): Fault | null {
  const { text, isTooLong } = element
  const parsed = parseJsonLine(text)
  if (parsed.kind === 'object')
    return toFault(element, text, { kind: 'fault', at: text.indexOf('}'), expected: 'key' })
  return isTooLong && parsed.expected !== 'end' ? null : toFault(element, text, parsed)
}

/** The line in the file, and the character on it (from 1), of a place in an element. */
function toPosition({ number, column }: JsonElement, text: string, at: number) {
  const before = text.slice(0, at)
  const breaks = before.split('\n').length - 1
  const character = at - before.lastIndexOf('\n') + (breaks === 0 ? column : 0)
  return { line: number + breaks, character }
}

function toCells(
  row: number,
  members: readonly JsonMember[],
  columns: ColumnSet,
  problems: FoundProblem[],
): { cells: string[]; kinds: string } {
  const cells: string[] = []
  const kinds: CellKind[] = []
  const filled = new Set<number>()
  for (const { key, cell, kind } of members) {
    const index = columns.indexOf(key.toWellFormed())
    while (cells.length < index) {
      cells.push('')
      kinds.push('-')
    }
    cells[index] = cell
    kinds[index] = kind
    if (filled.has(index)) problems.push(toDoubledKey(row, key.toWellFormed()))
    filled.add(index)
  }
  return { cells, kinds: kinds.join('') }
}

function toDoubledKey(row: number, key: string): FoundProblem {
  return { row, severity: 'warning', code: 'duplicate_key', found: toFound(key) }
}

function toLongLineProblem(row: number, { number, text, characters }: JsonElement): FoundProblem {
  return {
    row,
    severity: 'error',
    code: 'oversized_row',
    args: { of: 'line' },
    details: { number, characters },
    found: toFound(text.toWellFormed()),
  }
}

/** The text around a place in a line; at the line's end, the text before it. */
function toExcerpt(text: string, at: number): string {
  const from = Math.max(0, Math.min(at, text.length) - EXCERPT_CHARACTERS)
  const excerpt = text.slice(from, at + EXCERPT_CHARACTERS)
  return toFound(`${from > 0 ? '…' : ''}${excerpt}`.toWellFormed())
}

/** Most different keys that a file may have; each is a column. */
const MAX_KEYS = 1000

/** A set of columns for one file, empty at first. */
function createColumnSet(path: string) {
  const indexes = new Map<string, number>()
  return {
    /** The column of a key, from 0. Throws `BAD_SOURCE` for one key too many. */
    indexOf(key: string): number {
      const known = indexes.get(key)
      if (known !== undefined) return known
      if (indexes.size === MAX_KEYS) {
        throw new SluiceError({
          id: 'too_many_json_keys',
          source: path,
          max: MAX_KEYS,
          example: key.slice(0, 80),
        })
      }
      indexes.set(key, indexes.size)
      return indexes.size - 1
    },
    names: (): string[] => [...indexes.keys()],
  }
}

/** The keys met so far, in order of first appearance. */
interface ColumnSet extends ReturnType<typeof createColumnSet> {}
