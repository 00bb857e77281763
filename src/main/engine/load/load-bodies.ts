import { parseCells } from '../journal/stored-cells.ts'
import { type Body, writeBody } from '../mapping/json-text.ts'
import type { MapRow } from '../mapping/row-mapper.ts'
import type { DatabaseSync, StatementSync } from '../workspace/sqlite.ts'

/** Most rows of a block, and most of their cells, UTF-16 code units, unless one row alone has more. */
const BLOCK_ROWS = 1_000
const BLOCK_CHARACTERS = 1024 * 1024

/** What stays in memory of blocks that were read, UTF-16 code units. */
const KEPT_CHARACTERS = 24 * 1024 * 1024

/** Stands for what differs from one submission to the next; no content holds it by chance. */
const POST_ID_MARK = '\u0001sluice-post-id\u0001'
const CALLBACK_MARK = '\u0001sluice-callback-url\u0001'

/** A row's body, ready, except what differs from one submission to the next. */
export interface LoadBody {
  row: number
  /** Position among the valid rows, from 0. */
  position: number
  /** UTF-8 bytes of text_data or url. */
  contentBytes: number
  /** '' where it has none. */
  userId: string
  /** Models it asks for; '' where the service decides. */
  model: string
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

/** The bodies of a run's valid rows, in the order of the source and again from the start, in bounded memory. */
export class LoadBodies {
  /** Valid rows. */
  readonly count: number
  readonly #rows: StatementSync
  readonly #mapRow: MapRow
  readonly #hasCallback: boolean
  /** Blocks as far as they were read, and where the one behind them begins. */
  readonly #starts: BlockStart[] = [{ position: 0, before: 0 }]
  readonly #blocks = new Map<number, Block>()
  #characters = 0
  /** The block that was asked for last, and most likely is again, with the position of its first body. */
  #last: { position: number; bodies: LoadBody[] } = { position: 0, bodies: [] }

  constructor(db: DatabaseSync, options: { mapRow: MapRow; hasCallback: boolean }) {
    this.#mapRow = options.mapRow
    this.#hasCallback = options.hasCallback
    this.count = Number(db.prepare('SELECT count(*) AS n FROM row WHERE item IS NOT NULL').get()?.['n'])
    this.#rows = db.prepare(
      `SELECT id, cells, kinds FROM row WHERE id > ? AND item IS NOT NULL ORDER BY id LIMIT ${BLOCK_ROWS}`,
    )
  }

  /** The body of a request, by its number in the load. */
  at(sequence: number): LoadBody {
    const position = sequence % this.count
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
    // The oldest goes first: with more rows than there is room for, each block is read once a round.
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
    // Behind everything else, where no content can stand in for them.
    delete whole['post_id']
    if (this.#hasCallback) delete whole['callback_url']
    whole['post_id'] = POST_ID_MARK
    if (this.#hasCallback) whole['callback_url'] = CALLBACK_MARK
    const text = writeBody(whole)
    const [head = '', rest = ''] = cutAt(text, POST_ID_MARK)
    const [middle = '', tail = null] = this.#hasCallback ? cutAt(rest, CALLBACK_MARK) : [rest]
    const { models, text_data: textData, url, user_id: userId } = mapped
    return {
      row,
      position,
      contentBytes: Buffer.byteLength(String(textData ?? url ?? '')),
      userId: typeof userId === 'string' ? userId : '',
      model: Array.isArray(models) ? models.join(', ') : '',
      toJson: (postId, callbackUrl) =>
        tail === null ? head + postId + middle : head + postId + middle + callbackUrl + tail,
    }
  }
}

/** Both sides of a mark as it stands in JSON. The last one counts: ours stand behind the row's own fields. */
function cutAt(text: string, mark: string): [string, string] {
  const written = JSON.stringify(mark).slice(1, -1)
  const at = text.lastIndexOf(written)
  return [text.slice(0, at), text.slice(at + written.length)]
}
