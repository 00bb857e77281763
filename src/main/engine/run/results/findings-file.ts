import { closeSync, existsSync, fstatSync, lstatSync, openSync, readSync, rmSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { releaseMemory } from '../../../../shared/release-memory.ts'
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

// The findings of a journal on disk: eight bytes that name the format, a checksum of the head, the head's
// length, the journal's fingerprint, the head, and each column as it is in memory. Incomplete findings, or
// those of another state of the journal, are ignored and read from the journal again.

/** Raise the last digit with each change of what findings are or how they are stored. */
const FORMAT = 'SLUICEFA'
const CHECKED_FROM = 12
const FINGERPRINT_FROM = 16
const HEAD_FROM = 64
const ALIGNED = 8

const KINDS = { u8: Uint8Array, u16: Uint16Array, f32: Float32Array, f64: Float64Array } as const

type Column = Uint8Array | Uint16Array | Float32Array | Float64Array

interface StoredColumn {
  kind: keyof typeof KINDS
  /** Bytes after the head, a multiple of {@link ALIGNED}. */
  from: number
  length: number
  /** A checksum of its bytes, up to the next column. */
  crc: number
}

interface Head {
  /** Other machines order the bytes of a number differently. */
  isLittleEndian: boolean
  last: number
  columns: Record<string, StoredColumn>
  kinds: readonly RowKind[]
  /** The sets of values of each kind, by number. */
  sets: string[][][]
  /** For each class, whether its scores are numbered. */
  classes: [name: string, isNumbered: boolean][]
  /** The texts by number, for each column whose cells are kept. */
  cells: [column: number, texts: string[]][]
}

/**
 * Stores the findings of a journal next to it, unless it has changed since reading began. If that fails, they
 * are read again next time.
 */
export function storeFindings(run: RunView, findings: JournalFindings): void {
  const file = toFindingsFile(run.workspace, run.record.runId)
  if (readFingerprint(run) !== findings.fingerprint) return
  // An interrupted intake starts again, and may reach the same point with other rows.
  if (run.record.state === 'intake') return
  try {
    // Removes drafts of killed processes. A process that is writing one now then cannot store it.
    for (const draft of listFindingsDrafts(run.workspace, run.record.runId)) rmSync(draft, { force: true })
    // The target of a link is not ours to write.
    if (lstatSync(file, { throwIfNoEntry: false })?.isSymbolicLink()) rmSync(file)
    replaceFileSync(file, pack(findings.columns, findings.fingerprint), { isPrivate: true })
    // Another process may have deleted the run meanwhile.
    if (!existsSync(run.file)) rmSync(file, { force: true })
  } catch {
    // A full disk, or a read-only folder.
  }
}

/** The stored findings of a journal; null if there are none for its present state. */
export function loadFindings(run: RunView, fingerprint: string): JournalFindings | null {
  return readFindings(run, fingerprint, (file) => JournalFindings.restore(file.readAll(), fingerprint))
}

/**
 * Passes the stored findings of a journal to `use`, which reads columns one by one. Null if there are none
 * for its present state, or what was read of them is damaged.
 */
export function readFindings<Value>(
  run: RunView,
  fingerprint: string,
  use: (findings: StoredFindings) => Value,
): Value | null {
  try {
    // Most unusable findings are only outdated.
    if (!areFindingsStored(run, fingerprint)) return null
    const descriptor = openSync(toFindingsFile(run.workspace, run.record.runId), 'r')
    try {
      return use(new StoredFindings(descriptor, fingerprint))
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    // A bug must not look like a damaged file.
    if (error instanceof UnreadableFindings || (error instanceof Error && 'syscall' in error)) return null
    throw error
  }
}

/** The stored findings are incomplete or damaged. */
class UnreadableFindings extends Error {}

/** Whether findings for this state of a journal are stored; reads only their beginning. */
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

/** Whether bytes begin like findings for a certain state of the journal. */
function isOf(fingerprint: string, bytes: Buffer): boolean {
  const end = FINGERPRINT_FROM + fingerprint.length
  return (
    bytes.toString('latin1', 0, FORMAT.length) === FORMAT &&
    bytes.toString('latin1', FINGERPRINT_FROM, end) === fingerprint
  )
}

const LITTLE_ENDIAN = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1

/** The bytes of a file in pieces: a copy of all columns would be as large again. */
function pack(found: FoundColumns, fingerprint: string): Uint8Array[] {
  const { last, scores, cells } = found
  const stored = [...scores].map(([name, own]) => ({ name, ...own.stored }))
  const named: [string, Column][] = [
    ...FIXED.map((name): [string, Column] => [name, found[name]]),
    ['kinds', found.kinds.of],
    ...FOUND_KINDS.map((kind): [string, Column] => [kind, found.values[kind].of]),
    ...stored.flatMap(({ name, numbers, scores: own }): [string, Column][] => [
      ...(numbers === null ? [] : [[toNumbersName(name), numbers] as [string, Column]]),
      [toScoresName(name), own],
    ]),
    ...[...cells].map(([column, { of }]): [string, Column] => [toCellsName(column), of]),
  ]
  const columns: Head['columns'] = {}
  const pieces: Uint8Array[] = []
  let from = 0
  for (const [name, column] of named) {
    const bytes = new Uint8Array(column.buffer, column.byteOffset, column.byteLength)
    const padding = new Uint8Array(toAligned(bytes.length) - bytes.length)
    const crc = crc32(padding, crc32(bytes))
    columns[name] = { kind: toKind(column), from, length: column.length, crc }
    pieces.push(bytes, padding)
    from += toAligned(bytes.length)
  }
  const head: Head = {
    isLittleEndian: LITTLE_ENDIAN,
    last,
    columns,
    kinds: found.kinds.kinds,
    sets: FOUND_KINDS.map((kind) => found.values[kind].sets),
    classes: stored.map(({ name, numbers }) => [name, numbers !== null]),
    cells: [...cells].map(([column, { texts }]) => [column, texts]),
  }
  const headBytes = Buffer.from(JSON.stringify(head))
  const start = Buffer.alloc(toAligned(HEAD_FROM + headBytes.length))
  start.write(FORMAT, 'latin1')
  start.writeUInt32LE(headBytes.length, CHECKED_FROM)
  start.write(fingerprint, FINGERPRINT_FROM, 'latin1')
  headBytes.copy(start, HEAD_FROM)
  start.writeUInt32LE(crc32(start.subarray(CHECKED_FROM)), FORMAT.length)
  return [start, ...pieces]
}

/** Columns stored under their own names. */
const FIXED = ['marks', 'attempts', 'latencies', 'callbackLatencies'] as const

const toNumbersName = (className: string) => `numbers ${className}`
const toScoresName = (className: string) => `scores ${className}`
const toCellsName = (column: number) => `cells ${column}`

/** Stored findings whose columns are read on request. Throws if anything is incomplete. */
export class StoredFindings {
  readonly #descriptor: number
  readonly #head: Head
  readonly #columnsFrom: number
  /** The bytes of the columns read so far. */
  readonly #read: Buffer<ArrayBuffer>[] = []

  /** Reads the head of an open file. */
  constructor(descriptor: number, fingerprint: string) {
    this.#descriptor = descriptor
    const start = readAt(descriptor, 0, HEAD_FROM)
    const length = start.readUInt32LE(CHECKED_FROM)
    this.#columnsFrom = toAligned(HEAD_FROM + length)
    if (this.#columnsFrom > fstatSync(descriptor).size)
      throw new UnreadableFindings('the findings end too early')
    const bytes = readAt(descriptor, 0, this.#columnsFrom)
    if (
      !isOf(fingerprint, bytes) ||
      crc32(bytes.subarray(CHECKED_FROM)) !== start.readUInt32LE(FORMAT.length)
    ) {
      throw new UnreadableFindings('the head of the findings is damaged')
    }
    this.#head = JSON.parse(bytes.toString('utf8', HEAD_FROM, HEAD_FROM + length)) as Head
    if (this.#head.isLittleEndian !== LITTLE_ENDIAN)
      throw new UnreadableFindings('the findings are of another machine')
  }

  /** The last row number of the journal. */
  get last(): number {
    return this.#head.last
  }

  get classes(): string[] {
    return this.#head.classes.map(([name]) => name)
  }

  /** See {@link FoundColumns}. */
  readMarks(): Uint8Array {
    return this.#readColumn('marks', Uint8Array)
  }

  readKinds(): RowKinds {
    return new RowKinds(this.#readColumn('kinds', Uint16Array), [...this.#head.kinds])
  }

  /** The scores of a class; null if it has none. */
  readScores(className: string): RowScores | null {
    const found = this.#head.classes.find(([name]) => name === className)
    if (found === undefined) return null
    const numbers = found[1] ? this.#readColumn(toNumbersName(className), Uint16Array) : null
    const scores = this.#readColumn(toScoresName(className), Float64Array)
    return new RowScores(this.last + 1, { numbers, scores })
  }

  /** The cells of a source column; null if they are not kept. */
  readCells(column: number): RowCells | null {
    const texts = this.#head.cells.find(([kept]) => kept === column)?.[1]
    return texts === undefined
      ? null
      : new RowCells(this.#readColumn(toCellsName(column), Uint16Array), texts)
  }

  /** All columns. Those of cells, 2 bytes a row, are only checked: whoever keeps the others needs none. */
  readAll(): FoundColumns {
    const { last, sets, classes, cells } = this.#head
    for (const [column] of cells) {
      this.readCells(column)
      this.release()
    }
    return {
      last,
      marks: this.readMarks(),
      attempts: this.#readColumn('attempts', Uint16Array),
      latencies: this.#readColumn('latencies', Float32Array),
      callbackLatencies: this.#readColumn('callbackLatencies', Float32Array),
      kinds: this.readKinds(),
      values: toFoundValues(
        (kind) => new RowValues(this.#readColumn(kind, Uint16Array), sets[FOUND_KINDS.indexOf(kind)] ?? []),
      ),
      scores: new Map(
        classes.flatMap(([name]): [string, RowScores][] => {
          const scores = this.readScores(name)
          return scores === null ? [] : [[name, scores]]
        }),
      ),
      cells: new Map(),
    }
  }

  /** Frees the columns read so far, which are then empty. */
  release(): void {
    releaseMemory(...this.#read.splice(0))
  }

  #readColumn<Kind extends Column>(
    name: string,
    type: new (buffer: ArrayBuffer, from: number, length: number) => Kind,
  ): Kind {
    const column = this.#head.columns[name]
    if (column === undefined || KINDS[column.kind] !== (type as unknown))
      throw new UnreadableFindings(`no column ${name}`)
    const { from, length, crc, kind } = column
    const bytes = readAt(
      this.#descriptor,
      this.#columnsFrom + from,
      toAligned(length * KINDS[kind].BYTES_PER_ELEMENT),
    )
    if (crc32(bytes) !== crc) throw new UnreadableFindings(`the column ${name} is damaged`)
    this.#read.push(bytes)
    return new type(bytes.buffer, bytes.byteOffset, length)
  }
}

function readAt(descriptor: number, from: number, length: number): Buffer<ArrayBuffer> {
  // A buffer of its own, so that columns of numbers are aligned.
  const bytes = Buffer.from(new ArrayBuffer(length))
  for (let read = 0; read < length; ) {
    const more = readSync(descriptor, bytes, read, length - read, from + read)
    if (more === 0) throw new UnreadableFindings('the findings end too early')
    read += more
  }
  return bytes
}

function toKind(column: Column): keyof typeof KINDS {
  if (column instanceof Uint8Array) return 'u8'
  if (column instanceof Uint16Array) return 'u16'
  return column instanceof Float32Array ? 'f32' : 'f64'
}

function toAligned(length: number): number {
  return Math.ceil(length / ALIGNED) * ALIGNED
}
