import type { Load } from '../../../shared/load/load.ts'
import { parseWeight } from '../../../shared/load/load-rows.ts'
import type { ThresholdTag } from '../../../shared/load/threshold-tags.ts'
import { findColumnOfName } from '../../../shared/mapping/match-columns.ts'
import { parseCells } from '../journal/stored-cells.ts'
import { type Body, writeBody } from '../mapping/json-text.ts'
import type { MapRow } from '../mapping/row-mapper.ts'
import { type DatabaseSync, readNumber, type StatementSync } from '../workspace/sqlite.ts'
import { createRowOrder, type RowOrder } from './row-order.ts'

/** Most rows of a block, and most UTF-16 code units of their cells; a larger row is a block of its own. */
const BLOCK_ROWS = 1_000
const BLOCK_CHARACTERS = 1024 * 1024

/** UTF-16 code units of blocks that stay in memory once read. */
const KEPT_CHARACTERS = 24 * 1024 * 1024

/** Placeholders for what differs between submissions; no content contains them by chance. */
const POST_ID_MARK = '\u0001sluice-post-id\u0001'
const CALLBACK_MARK = '\u0001sluice-callback-url\u0001'

/** A row's body, ready to send except for what differs between submissions. */
export interface LoadBody {
  row: number
  /** Position among the valid rows, from 0. */
  position: number
  /** UTF-8 bytes of text_data or url. */
  contentBytes: number
  /** Models it asks for; '' if the service decides. */
  model: string
  /** What the judge of its answers must know, behind its post_id. */
  keys: readonly string[]
  /** Bit mask of the row tags named in thresholds that the row has. */
  tags: number
  /** The body's JSON for a submission. */
  toJson(postId: string, callbackUrl: string): string
}

interface Block {
  bodies: LoadBody[]
  characters: number
}

/** Where a block begins: the position of its first row, and the number of the row before. */
interface BlockStart {
  position: number
  before: number
}

export interface LoadBodiesOptions {
  mapRow: MapRow
  /** The row keys of a body; the first is its post_id's. */
  toRowKeys: (bodies: readonly Body[]) => readonly string[]
  hasCallback: boolean
  /** Names of the cells. */
  columns?: readonly string[]
  /** Tags of rows, as `listThresholdRowTags` lists them (default: none). */
  rowTags?: readonly ThresholdTag[]
  /** Which row a request sends (default: in the order of the source, and again from the start). */
  order?: Pick<Load, 'order' | 'seed' | 'weight'>
}

/** The bodies of a run's valid rows, in bounded memory. */
export class LoadBodies {
  /** Valid rows. */
  readonly count: number
  readonly #rows: StatementSync
  readonly #toPosition: RowOrder
  /** Cell index and value of each row tag. */
  readonly #rowTags: readonly { cell: number; value: string }[]
  /** Rows read one by one, in any order; null if the order is that of the source. */
  readonly #single: SingleRows | null
  readonly #mapRow: MapRow
  readonly #toRowKeys: LoadBodiesOptions['toRowKeys']
  readonly #hasCallback: boolean
  /** Where the blocks read so far begin, and the one after them. */
  readonly #starts: BlockStart[] = [{ position: 0, before: 0 }]
  readonly #blocks = new Map<number, Block>()
  #characters = 0
  /** The block requested last, and most likely next, with the position of its first body. */
  #last: { position: number; bodies: LoadBody[] } = { position: 0, bodies: [] }

  constructor(db: DatabaseSync, options: LoadBodiesOptions) {
    const { columns = [], rowTags = [], order = { order: 'source', seed: 1 } } = options
    this.#mapRow = options.mapRow
    this.#toRowKeys = options.toRowKeys
    this.#rowTags = rowTags.map(({ name, value }) => ({ cell: findColumnOfName(columns, name), value }))
    this.#hasCallback = options.hasCallback
    this.count = readNumber(db, 'SELECT count(*) FROM row WHERE item IS NOT NULL')
    this.#rows = db.prepare(
      `SELECT id, cells, kinds FROM row WHERE id > ? AND item IS NOT NULL ORDER BY id LIMIT ${BLOCK_ROWS}`,
    )
    const isInOrder = order.order === 'source'
    const weightCell = isInOrder || order.weight === undefined ? -1 : findColumnOfName(columns, order.weight)
    this.#toPosition = createRowOrder(
      order,
      this.count,
      weightCell === -1 ? null : readWeights(db, weightCell),
    )
    this.#single = isInOrder ? null : new SingleRows(db, this.count)
  }

  /** The body of a request, by its number in the load. */
  at(sequence: number): LoadBody {
    return this.ofRow(this.#toPosition(sequence))
  }

  /** The body of a row, by its position among the valid rows. */
  ofRow(position: number): LoadBody {
    if (this.#single !== null) return this.#single.at(position, (...row) => this.#toBody(...row))
    const last = this.#last.bodies[position - this.#last.position]
    if (last !== undefined) return last
    while (this.#lastStart.position <= position && this.#lastStart.position < this.count) {
      this.#read(this.#starts.length - 1)
    }
    const index = this.#starts.findLastIndex((start) => start.position <= position)
    const block = this.#blocks.get(index) ?? this.#read(index)
    this.#last = { position: this.#starts[index]?.position ?? 0, bodies: block.bodies }
    const body = block.bodies[position - this.#last.position]
    if (body === undefined) throw new Error(`the journal has no valid row at position ${position}`)
    return body
  }

  get #lastStart(): BlockStart {
    return this.#starts.at(-1) ?? { position: 0, before: 0 }
  }

  #read(index: number): Block {
    const start = this.#starts[index] ?? { position: 0, before: 0 }
    const block: Block = { bodies: [], characters: 0 }
    for (const { id, cells, kinds } of this.#rows.iterate(start.before)) {
      const text = String(cells)
      if (block.bodies.length > 0 && block.characters + text.length > BLOCK_CHARACTERS) break
      block.characters += text.length
      const position = start.position + block.bodies.length
      const own = kinds === null ? null : String(kinds)
      block.bodies.push(this.#toBody(Number(id), position, parseCells(text), own))
    }
    this.#starts[index + 1] ??= {
      position: start.position + block.bodies.length,
      before: block.bodies.at(-1)?.row ?? 0,
    }
    this.#blocks.set(index, block)
    this.#characters += block.characters
    // Evict the oldest: with more rows than fit, each block is read once a round.
    for (const [oldest, { characters: freed }] of this.#blocks) {
      if (this.#characters <= KEPT_CHARACTERS || oldest === index) break
      this.#blocks.delete(oldest)
      this.#characters -= freed
    }
    return block
  }

  #toBody(row: number, position: number, cells: readonly string[], kinds: string | null): LoadBody {
    const mapped = this.#mapRow(row, cells, kinds).body
    const whole: Body = { ...mapped }
    // Put the placeholders last, behind any content that might equal them.
    delete whole['post_id']
    if (this.#hasCallback) delete whole['callback_url']
    whole['post_id'] = POST_ID_MARK
    if (this.#hasCallback) whole['callback_url'] = CALLBACK_MARK
    const text = writeBody(whole)
    const [head = '', rest = ''] = cutAt(text, POST_ID_MARK)
    const [middle = '', tail = null] = this.#hasCallback ? cutAt(rest, CALLBACK_MARK) : [rest]
    const { models, text_data: textData, url } = mapped
    return {
      row,
      position,
      contentBytes: Buffer.byteLength(String(textData ?? url ?? '')),
      model: Array.isArray(models) ? models.join(', ') : '',
      // The load test's own address takes the place of the row's.
      keys: this.#toRowKeys([{ ...mapped, callback_url: undefined }]).slice(1),
      tags: this.#rowTags.reduce(
        (bits, { cell, value }, index) => (cells[cell] === value ? bits + 2 ** index : bits),
        0,
      ),
      toJson: (postId, callbackUrl) =>
        tail === null ? head + postId + middle : head + postId + middle + callbackUrl + tail,
    }
  }
}

type ToBody = (row: number, position: number, cells: readonly string[], kinds: string | null) => LoadBody

/** Rows in any order, read one by one and kept in memory as long as there is room. */
class SingleRows {
  readonly #ids: Float64Array
  readonly #row: StatementSync
  readonly #kept = new Map<number, { body: LoadBody; characters: number }>()
  #characters = 0

  constructor(db: DatabaseSync, count: number) {
    this.#ids = new Float64Array(count)
    let position = 0
    for (const { id } of db.prepare('SELECT id FROM row WHERE item IS NOT NULL ORDER BY id').iterate()) {
      this.#ids[position] = Number(id)
      position += 1
    }
    this.#row = db.prepare('SELECT cells, kinds FROM row WHERE id = ?')
  }

  at(position: number, toBody: ToBody): LoadBody {
    const known = this.#kept.get(position)
    if (known !== undefined) return known.body
    const id = this.#ids[position] ?? 0
    const found = this.#row.get(id)
    if (found === undefined) throw new Error(`the journal has no valid row at position ${position}`)
    const text = String(found['cells'])
    const kinds = found['kinds'] === null ? null : String(found['kinds'])
    const body = toBody(id, position, parseCells(text), kinds)
    this.#kept.set(position, { body, characters: text.length })
    this.#characters += text.length
    for (const [oldest, { characters }] of this.#kept) {
      if (this.#characters <= KEPT_CHARACTERS || oldest === position) break
      this.#kept.delete(oldest)
      this.#characters -= characters
    }
    return body
  }
}

/** The weights of the valid rows, already checked by intake. */
function readWeights(db: DatabaseSync, cell: number): Float64Array {
  const weights: number[] = []
  for (const { cells } of db.prepare('SELECT cells FROM row WHERE item IS NOT NULL ORDER BY id').iterate()) {
    weights.push(parseWeight(parseCells(String(cells))[cell] ?? '') ?? 0)
  }
  return Float64Array.from(weights)
}

/** The text around a mark as written in JSON. The last one counts: ours come after the row's own fields. */
function cutAt(text: string, mark: string): [string, string] {
  const written = JSON.stringify(mark).slice(1, -1)
  const at = text.lastIndexOf(written)
  return [text.slice(0, at), text.slice(at + written.length)]
}
