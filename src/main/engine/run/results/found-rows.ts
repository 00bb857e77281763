import { releaseMemory } from '../../../../shared/release-memory.ts'
import type { RowSort } from '../../../../shared/run/results.ts'
import {
  type Facet,
  listChosen,
  listSources,
  type RowFilter,
  type ScoreFilter,
} from '../../../../shared/run/row-filters.ts'
import { sayScoreBand } from '../../../../shared/run/score-bands.ts'
import type { JudgedRows } from '../journal/verdict-store.ts'
import { FOUND_KINDS, type FoundKind } from './journal-findings.ts'
import type { RowFindings } from './row-findings.ts'
import { isOfKind } from './row-kinds.ts'
import { hasVerdict, type RowIndex } from './row-search.ts'
import { NO_BAND } from './row-values.ts'

/** Most values listed of a kind: those with most rows. */
const FACETS_MAX = 200

/** The requested rows: those that match a filter, in source order unless sorted. */
interface Wanted {
  filter: RowFilter
  sort?: RowSort
}

export interface Searched {
  index: RowIndex
  findings: RowFindings
  /** The verdicts on rows, if the filter asks for one. */
  judged: JudgedRows
}

/** Whether only {@link RowFindings} know the requested rows, or their order. */
export function needsFindings({ filter, sort }: Wanted): boolean {
  const isFound = listSources(filter).some((source) => source === 'values' || source === 'scores')
  return isFound || (sort !== undefined && sort.by.kind !== 'row')
}

/** The last pick from an index, kept for the next page. */
const lastPicked = new WeakMap<RowIndex, { findings: RowFindings; key: string; ids: Uint32Array }>()

/** All matching rows, in order. Rows not read yet are left out. */
export function pickFound(searched: Searched, wanted: Wanted): Uint32Array {
  const { index, findings } = searched
  const key = JSON.stringify([wanted.filter, wanted.sort])
  const last = lastPicked.get(index)
  if (last?.findings === findings && last.key === key) return last.ids
  const ids = pick(searched, wanted)
  // Verdicts may be given meanwhile.
  const isKept = index.isComplete && findings.isComplete && wanted.filter.verdict === undefined
  if (isKept) lastPicked.set(index, { findings, key, ids })
  return ids
}

function pick(searched: Searched, wanted: Wanted): Uint32Array {
  const { filter, sort } = wanted
  const { ids } = searched.index.rows
  const last = needsFindings(wanted) ? searched.findings.lastRead : Number.POSITIVE_INFINITY
  const failed = findFailed(searched, toTests(searched, filter), filter)
  const picked = new Uint32Array(ids.length)
  let length = 0
  for (let at = 0; at < ids.length; at += 1) {
    const id = ids[at] ?? 0
    if (failed[at] !== PASSED || id > last) continue
    picked[length] = id
    length += 1
  }
  releaseMemory(failed)
  const found = picked.subarray(0, length)
  return sort === undefined ? found : sortRows(found, searched.findings, sort)
}

/** How many rows of each of the index's kinds match a filter's findings and verdicts. */
export function countKindRows(searched: Searched, filter: RowFilter): Uint32Array {
  const { index, findings } = searched
  const { ids, kindOf } = index.rows
  const failed = findFailed(searched, toTests(searched, filter), {})
  const rows = new Uint32Array(index.kinds.length)
  for (let at = 0; at < ids.length; at += 1) {
    if (failed[at] !== PASSED || (ids[at] ?? 0) > findings.lastRead) continue
    const kind = kindOf[at] ?? 0
    rows[kind] = (rows[kind] ?? 0) + 1
  }
  releaseMemory(failed)
  return rows
}

/**
 * Counts the values and score bands of the rows under a filter; each count ignores what the filter says of
 * its own kind or, for a band, of its own class. Only for complete findings.
 */
export function countFound(searched: Searched, filter: RowFilter): Facet[] {
  const { index, findings } = searched
  const { ids } = index.rows
  const tests = toTests(searched, filter)
  const failed = findFailed(searched, tests, filter)
  const counts = [
    ...FOUND_KINDS.map((kind) => toValueCount(kind, findings)),
    ...findings.classes.map((className) => toBandCount(className, findings)),
  ]
  const passes = failed.every((state) => state === PASSED)
  const facets = counts.flatMap(({ subject, of, rows, toFacets }) => {
    if (passes) {
      for (let at = 0; at < ids.length; at += 1) {
        const number = of[ids[at] ?? 0] ?? 0
        rows[number] = (rows[number] ?? 0) + 1
      }
      return toFacets()
    }
    // A count includes the rows that pass every test but its own.
    const own = PASSED + 1 + tests.findIndex((test) => test.subject === subject)
    for (let at = 0; at < ids.length; at += 1) {
      const state = failed[at]
      if (state !== PASSED && state !== own) continue
      const number = of[ids[at] ?? 0] ?? 0
      rows[number] = (rows[number] ?? 0) + 1
    }
    return toFacets()
  })
  releaseMemory(failed)
  return facets
}

/**
 * Results of {@link findFailed} for a row: passed; else the number of the only failed test, counted from
 * here; or out.
 */
const PASSED = 0
const OUT = 0xffff

/** For each row of the index, the test that it fails, if it is of the filter's kinds. */
function findFailed(
  { index }: Searched,
  tests: readonly Test[],
  filter: RowFilter,
): Uint16Array<ArrayBuffer> {
  const { ids, kindOf } = index.rows
  const stateOf = Uint16Array.from(index.kinds, (kind) => (isOfKind(kind, filter) ? PASSED : OUT))
  const failed = new Uint16Array(ids.length)
  for (let at = 0; at < ids.length; at += 1) failed[at] = stateOf[kindOf[at] ?? 0] ?? OUT
  for (const [number, test] of tests.entries()) {
    const { passes } = test
    for (let at = 0; at < ids.length; at += 1) {
      if (failed[at] === OUT || passes(ids[at] ?? 0)) continue
      failed[at] = failed[at] === PASSED ? PASSED + 1 + number : OUT
    }
  }
  return failed
}

/** One subject that narrows rows: a verdict, a kind of value, or the scores of a class. */
interface Test {
  subject: string
  passes: (row: number) => boolean
}

function toTests({ findings, judged }: Searched, filter: RowFilter): Test[] {
  const { verdict } = filter
  const byVerdict: Test = {
    subject: 'verdict',
    passes: (row) => hasVerdict(row, verdict, judged),
  }
  const chosen = Map.groupBy(listChosen(filter), ({ kind }) => kind)
  const byValue = FOUND_KINDS.flatMap((kind): Test[] => {
    const wanted = chosen.get(kind)?.map(({ value }) => value)
    if (wanted === undefined) return []
    const { of, sets } = findings.valuesOf(kind)
    const isWanted = Uint8Array.from(sets, (set) => (set.some((value) => wanted.includes(value)) ? 1 : 0))
    return [{ subject: kind, passes: (row) => isWanted[of[row] ?? 0] === 1 }]
  })
  const byClass = [...Map.groupBy(filter.scores ?? [], ({ className }) => className)]
  return [
    ...(verdict === undefined ? [] : [byVerdict]),
    ...byValue,
    ...byClass.map(([className, bands]) => toScoreTest(findings, className, bands)),
  ]
}

function toScoreTest(findings: RowFindings, className: string, bands: readonly ScoreFilter[]): Test {
  const scores = findings.scoresOf(className)
  // Scores are compared with 24 bits, and limits are rounded alike.
  const from = Float32Array.from(bands, (band) => band.from)
  const below = Float32Array.from(bands, (band) => band.below ?? Number.POSITIVE_INFINITY)
  const passes = (row: number) => {
    const score = Math.fround(scores?.at(row) ?? Number.NaN)
    for (let band = 0; band < from.length; band += 1) {
      if (score >= (from[band] ?? 0) && score < (below[band] ?? 0)) return true
    }
    return false
  }
  return { subject: toSubject(className), passes }
}

function toSubject(className: string): string {
  return `score ${className}`
}

/** Rows counted by their number in a column. */
interface FoundCount {
  subject: string
  of: Uint8Array | Uint16Array
  rows: Uint32Array
  toFacets: () => Facet[]
}

function toValueCount(kind: FoundKind, findings: RowFindings): FoundCount {
  const { of, sets } = findings.valuesOf(kind)
  const rows = new Uint32Array(sets.length)
  const toFacets = () => {
    const rowsOf = new Map<string, number>()
    for (const [number, set] of sets.entries()) {
      for (const value of set) rowsOf.set(value, (rowsOf.get(value) ?? 0) + (rows[number] ?? 0))
    }
    return [...rowsOf]
      .filter(([, count]) => count > 0)
      .map(([value, count]) => ({ kind, value, label: value, rows: count }))
      .sort((a, b) => b.rows - a.rows || (a.value < b.value ? -1 : 1))
      .slice(0, FACETS_MAX)
  }
  return { subject: kind, of, rows, toFacets }
}

function toBandCount(className: string, findings: RowFindings): FoundCount {
  const { bands, bandOf, numbers } = findings.bandsOf(className)
  const rows = new Uint32Array(numbers === null ? NO_BAND + 1 : bandOf.length)
  const toFacets = () => {
    const inBand = numbers === null ? rows : new Uint32Array(NO_BAND + 1)
    if (numbers !== null) {
      for (const [number, band] of bandOf.entries()) inBand[band] = (inBand[band] ?? 0) + (rows[number] ?? 0)
    }
    return bands.map((band, number) => ({
      kind: 'score' as const,
      value: JSON.stringify({ className, ...band } satisfies ScoreFilter),
      label: `${className} ${sayScoreBand(band)}`,
      rows: inBand[number] ?? 0,
    }))
  }
  return { subject: toSubject(className), of: numbers ?? bandOf, rows, toFacets }
}

function sortRows(ids: Uint32Array<ArrayBuffer>, findings: RowFindings, { by, order }: RowSort): Uint32Array {
  if (by.kind === 'row') return order === 'ascending' ? ids : ids.toReversed()
  const isDescending = order === 'descending'
  if (by.kind !== 'score') return sortByKeys(ids, toKeys(ids, findings[VALUES[by.kind]], isDescending))
  const scores = findings.scoresOf(by.className)?.toFloats() ?? new Float32Array()
  const keys = toKeys(ids, scores, isDescending)
  releaseMemory(scores)
  return sortByKeys(ids, keys)
}

const VALUES = {
  latency: 'latencies',
  'callback-latency': 'callbackLatencies',
  attempts: 'attempts',
} as const

const NO_VALUE = 0xffff_ffff

/** Integers in the order of the values: the bits of non-negative numbers sort like the numbers. */
function toKeys(ids: Uint32Array, values: Float32Array, isDescending: boolean): Uint32Array<ArrayBuffer> {
  const bits = new Uint32Array(values.buffer, values.byteOffset, values.length)
  return ids.map((id) => {
    const value = values[id] ?? Number.NaN
    if (Number.isNaN(value)) return NO_VALUE
    const key = value <= 0 ? 0 : (bits[id] ?? 0)
    return isDescending ? NO_VALUE - 1 - key : key
  })
}

const DIGIT_BITS = 11
const DIGITS = 1 << DIGIT_BITS

/** Radix sort by 32-bit keys, lowest digit first; it is stable. Overwrites both arrays. */
function sortByKeys(ids: Uint32Array<ArrayBuffer>, keys: Uint32Array<ArrayBuffer>): Uint32Array {
  interface Keyed {
    ids: Uint32Array<ArrayBuffer>
    keys: Uint32Array<ArrayBuffer>
  }
  let from: Keyed = { ids, keys }
  let to: Keyed = { ids: new Uint32Array(ids.length), keys: new Uint32Array(ids.length) }
  for (let shift = 0; shift < 32; shift += DIGIT_BITS) {
    const places = new Uint32Array(DIGITS + 1)
    const toDigit = (key: number) => (key >>> shift) & (DIGITS - 1)
    for (let at = 0; at < from.keys.length; at += 1) {
      const next = toDigit(from.keys[at] ?? 0) + 1
      places[next] = (places[next] ?? 0) + 1
    }
    for (let digit = 1; digit <= DIGITS; digit += 1) {
      places[digit] = (places[digit] ?? 0) + (places[digit - 1] ?? 0)
    }
    for (let at = 0; at < from.keys.length; at += 1) {
      const key = from.keys[at] ?? 0
      const place = places[toDigit(key)] ?? 0
      places[toDigit(key)] = place + 1
      to.ids[place] = from.ids[at] ?? 0
      to.keys[place] = key
    }
    ;[from, to] = [to, from]
  }
  releaseMemory(from.keys, to.ids, to.keys)
  return from.ids
}
