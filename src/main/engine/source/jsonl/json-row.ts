import { SluiceError } from '../../../../shared/messages/errors.ts'
import { type Problem, toFound } from '../../../../shared/run/problem.ts'
import { replaceUndecodable } from '../decoding/text-decoder.ts'
import type { TextLine } from '../decoding/text-reader.ts'
import type { CellKind, SourceRow } from '../source-reader.ts'
import { type JsonMember, parseJsonLine } from './parse-json-line.ts'

/** Shown of a line before and behind the place that is wrong. */
const EXCERPT_CHARACTERS = 20

const toThousands = new Intl.NumberFormat('en-US').format

/**
 * Turns one line into a row: a cell for each key up to the last one that it has, '' for those that it lacks, and what
 * is wrong with the line.
 */
export function toJsonRow(row: number, line: TextLine, encoding: string, columns: ColumnSet): SourceRow {
  if (line.isTooLong) return { row, cells: [], problems: [toLongLineProblem(row, line)] }
  const problems: Problem[] = []
  const text = [line.text]
  if (!line.text.isWellFormed()) {
    const problem = replaceUndecodable(row, text, encoding)
    if (problem !== null) problems.push(problem)
  }
  const [whole = ''] = text
  const parsed = parseJsonLine(whole)
  if (parsed.kind === 'fault') {
    const { at, expected } = parsed
    problems.push({
      row,
      severity: 'error',
      code: 'not_json',
      message: `must be one JSON object; line ${line.number}, character ${at + 1}: expected ${expected}`,
      found: toExcerpt(whole, at),
    })
    return { row, cells: [], problems }
  }
  const { cells, kinds } = toCells(row, parsed.members, columns, problems)
  if (cells.some((cell) => !cell.isWellFormed())) {
    const problem = replaceUndecodable(row, cells, 'Unicode: an escape stands for half a character')
    if (problem !== null) problems.push(problem)
  }
  return { row, cells, kinds, problems }
}

function toCells(
  row: number,
  members: readonly JsonMember[],
  columns: ColumnSet,
  problems: Problem[],
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
    if (filled.has(index)) {
      problems.push({
        row,
        severity: 'warning',
        code: 'duplicate_key',
        message: 'must have each key once; the last value is used',
        found: toFound(key.toWellFormed()),
      })
    }
    filled.add(index)
  }
  return { cells, kinds: kinds.join('') }
}

function toLongLineProblem(row: number, { number, text, characters }: TextLine): Problem {
  return {
    row,
    severity: 'error',
    code: 'oversized_row',
    message: `must have at most 8,388,608 characters (8 MiB); line ${number} has ${toThousands(characters)}`,
    found: toFound(text.toWellFormed()),
  }
}

/** What stands around a place of a line; at its end, what stands before. */
function toExcerpt(text: string, at: number): string {
  const from = Math.max(0, Math.min(at, text.length) - EXCERPT_CHARACTERS)
  const excerpt = text.slice(from, at + EXCERPT_CHARACTERS)
  return toFound(`${from > 0 ? '…' : ''}${excerpt}`.toWellFormed())
}

/** Most different keys that a file may have; each is a column. */
const MAX_KEYS = 1000

/** The keys met so far, in the order in which they first appeared. */
export interface ColumnSet {
  /** The column of a key, from 0. Throws `BAD_SOURCE` for a key too many. */
  indexOf(key: string): number
  names(): string[]
}

/** A set of columns for one file, empty at first. */
export function createColumnSet(path: string): ColumnSet {
  const indexes = new Map<string, number>()
  return {
    indexOf(key) {
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
    names: () => [...indexes.keys()],
  }
}
