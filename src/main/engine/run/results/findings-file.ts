import { closeSync, existsSync, lstatSync, openSync, readFileSync, readSync, rmSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import type { RunView } from '../../journal/run-family.ts'
import { refuseIrregular } from '../../workspace/regular-file.ts'
import { replaceFileSync } from '../../workspace/replace-file.ts'
import { listFindingsDrafts, toFindingsFile } from '../../workspace/workspace-files.ts'
import {
  FOUND_KINDS,
  type FoundColumns,
  JournalFindings,
  readFingerprint,
  toFoundValues,
} from './journal-findings.ts'
import { RowCells } from './row-cells.ts'
import { type RowKind, RowKinds } from './row-kinds.ts'
import { RowScores, RowValues } from './row-values.ts'

// The findings of a journal on disk: eight bytes that name the format, a checksum of all that follows, the length of a
// JSON head, the fingerprint of the journal, the head, and each column as the machine has it in memory. What is not whole,
// or is of another state of the journal, is not believed: findings are then read from the journal again.

/** Another number for each change of what findings are or how they are stored. */
const FORMAT = 'SLUICEF7'
const CHECKED_FROM = 12
const FINGERPRINT_FROM = 16
const HEAD_FROM = 64
const ALIGNED = 8

const KINDS = { u8: Uint8Array, u16: Uint16Array, f32: Float32Array, f64: Float64Array } as const

type Column = Uint8Array | Uint16Array | Float32Array | Float64Array

interface StoredColumn {
  kind: keyof typeof KINDS
  from: number
  length: number
}

interface Head {
  /** Other machines have the bytes of a number in another order. */
  isLittleEndian: boolean
  last: number
  columns: StoredColumn[]
  kinds: readonly RowKind[]
  /** The sets of values of each kind by number. */
  sets: string[][][]
  /** For each class, whether its scores are numbered. */
  classes: [name: string, isNumbered: boolean][]
  /** For each column whose cells are kept, the texts by number. */
  cells: [column: number, texts: string[]][]
}

/**
 * Stores the findings of a journal next to it, unless the journal has changed since they were begun. Where they cannot
 * be stored, they are read again next time.
 */
export function storeFindings(run: RunView, findings: JournalFindings): void {
  const file = toFindingsFile(run.workspace, run.record.runId)
  if (readFingerprint(run) !== findings.fingerprint) return
  try {
    // Of many processes that were killed, only one draft is left. A process that is just writing one cannot store it.
    for (const draft of listFindingsDrafts(run.workspace, run.record.runId)) rmSync(draft, { force: true })
    // What a link leads to is not ours to write.
    if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(file)
    replaceFileSync(file, pack(findings.columns, findings.fingerprint), { isPrivate: true })
    // The run may have been deleted meanwhile, by another process.
    if (!existsSync(run.file)) rmSync(file, { force: true })
  } catch {
    // A full disk, or a folder that cannot be written to.
  }
}

/** The findings of a journal as they were stored; null where there are none, or they are not those of its state. */
export function loadFindings(run: RunView, fingerprint: string): JournalFindings | null {
  try {
    // Most of what is not believed is only old, and need not be read whole.
    if (!areFindingsStored(run, fingerprint)) return null
    const bytes = readFileSync(toFindingsFile(run.workspace, run.record.runId))
    const columns = isOf(fingerprint, bytes) ? unpack(bytes) : null
    return columns === null ? null : JournalFindings.restore(columns, fingerprint)
  } catch {
    return null
  }
}

/** Whether findings of this state of a journal are stored; only their beginning is read. */
export function areFindingsStored(run: RunView, fingerprint: string): boolean {
  try {
    return isOf(fingerprint, readStart(toFindingsFile(run.workspace, run.record.runId)))
  } catch {
    return false
  }
}

function readStart(file: string): Buffer {
  refuseIrregular(file)
  const descriptor = openSync(file, 'r')
  try {
    const start = Buffer.alloc(HEAD_FROM)
    readSync(descriptor, start)
    return start
  } finally {
    closeSync(descriptor)
  }
}

/** Whether bytes begin as findings do, and as those of a certain state of the journal. */
function isOf(fingerprint: string, bytes: Buffer): boolean {
  const end = FINGERPRINT_FROM + fingerprint.length
  return (
    bytes.toString('latin1', 0, FORMAT.length) === FORMAT &&
    bytes.toString('latin1', FINGERPRINT_FROM, end) === fingerprint
  )
}

const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1

function pack(found: FoundColumns, fingerprint: string): Uint8Array {
  const { last, scores } = found
  const values = FOUND_KINDS.map((kind) => found.values[kind])
  const stored = [...scores].map(([name, own]) => ({ name, ...own.stored }))
  const columns: Column[] = [
    ...[found.marks, found.attempts, found.latencies, found.callbackLatencies, found.kinds.of],
    ...values.map(({ of }) => of),
    ...stored.flatMap(({ numbers, scores: own }) => (numbers === null ? [own] : [numbers, own])),
    ...[...found.cells.values()].map(({ of }) => of),
  ]
  const places: StoredColumn[] = []
  let length = 0
  for (const column of columns) {
    places.push({ kind: toKind(column), from: length, length: column.length })
    length += toAligned(column.byteLength)
  }
  const head: Head = {
    ...{ isLittleEndian: LITTLE_ENDIAN, last, columns: places },
    kinds: found.kinds.kinds,
    sets: values.map(({ sets }) => sets),
    classes: stored.map(({ name, numbers }) => [name, numbers !== null]),
    cells: [...found.cells].map(([column, { texts }]) => [column, texts]),
  }
  const headBytes = Buffer.from(JSON.stringify(head))
  const columnsFrom = toAligned(HEAD_FROM + headBytes.length)
  const bytes = Buffer.alloc(columnsFrom + length)
  bytes.write(FORMAT, 'latin1')
  bytes.writeUInt32LE(headBytes.length, CHECKED_FROM)
  bytes.write(fingerprint, FINGERPRINT_FROM, 'latin1')
  headBytes.copy(bytes, HEAD_FROM)
  for (const [index, { buffer, byteOffset, byteLength }] of columns.entries()) {
    bytes.set(new Uint8Array(buffer, byteOffset, byteLength), columnsFrom + (places[index]?.from ?? 0))
  }
  bytes.writeUInt32LE(crc32(bytes.subarray(CHECKED_FROM)), FORMAT.length)
  return bytes
}

/** Null where the bytes are not whole. Throws where they were never findings. */
function unpack(bytes: Buffer<ArrayBuffer>): FoundColumns | null {
  if (crc32(bytes.subarray(CHECKED_FROM)) !== bytes.readUInt32LE(FORMAT.length)) return null
  const headLength = bytes.readUInt32LE(CHECKED_FROM)
  const head = JSON.parse(bytes.toString('utf8', HEAD_FROM, HEAD_FROM + headLength)) as Head
  if (head.isLittleEndian !== LITTLE_ENDIAN) return null
  // Columns begin at a multiple of eight bytes of the file, which a small file need not do in memory.
  const { buffer, byteOffset } = bytes.byteOffset % ALIGNED === 0 ? bytes : new Uint8Array(bytes)
  const columnsFrom = byteOffset + toAligned(HEAD_FROM + headLength)
  const columns = head.columns.map(
    ({ kind, from, length }) => new KINDS[kind](buffer, columnsFrom + from, length),
  )
  const take = <Kind extends Column>(kind: new (length: number) => Kind): Kind => {
    const column = columns.shift()
    if (column instanceof kind) return column
    throw new Error('the findings have a column of another kind')
  }
  const fixed = {
    marks: take(Uint8Array),
    attempts: take(Uint16Array),
    latencies: take(Float32Array),
    callbackLatencies: take(Float32Array),
    kinds: new RowKinds(take(Uint16Array), [...head.kinds]),
  }
  // Those of another version may have other kinds.
  if (head.sets.length !== FOUND_KINDS.length) return null
  const stored = head.sets.map((sets) => new RowValues(take(Uint16Array), sets))
  const values = toFoundValues((kind) => stored[FOUND_KINDS.indexOf(kind)] ?? new RowValues(head.last + 1))
  const length = head.last + 1
  const scores = new Map(
    head.classes.map(([name, isNumbered]) => {
      const numbers = isNumbered ? take(Uint16Array) : null
      return [name, new RowScores(length, { numbers, scores: take(Float64Array) })]
    }),
  )
  const cells = new Map(head.cells.map(([column, texts]) => [column, new RowCells(take(Uint16Array), texts)]))
  return { last: head.last, ...fixed, values, scores, cells }
}

function toKind(column: Column): keyof typeof KINDS {
  if (column instanceof Uint8Array) return 'u8'
  if (column instanceof Uint16Array) return 'u16'
  return column instanceof Float32Array ? 'f32' : 'f64'
}

function toAligned(length: number): number {
  return Math.ceil(length / ALIGNED) * ALIGNED
}
