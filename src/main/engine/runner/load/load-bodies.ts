import type { DatabaseSync, StatementSync } from '../../journal/sqlite-types.ts'
import type { MapRow } from '../../mapping/row-mapper.ts'

/** Rows of one block; blocks that were read stay in memory as long as there is room. */
const BLOCK_ROWS = 1_000

/** Bodies that stay in memory, UTF-16 code units. */
const KEPT_CHARACTERS = 24 * 1024 * 1024

/** Stands for what differs from one submission to the next; no content holds it by chance. */
const POST_ID_MARK = '\u0001sluice-post-id\u0001'
const CALLBACK_MARK = '\u0001sluice-callback-url\u0001'

/** A row's body, ready but for what differs from one submission to the next. */
export interface LoadBody {
  row: number
  /** Position among the valid rows, from 0. */
  position: number
  /** UTF-8 bytes of text_data or url. */
  contentBytes: number
  /** Models it asks for; '' where the service decides. */
  model: string
  /** The body's JSON for a submission. */
  toJson(postId: string, callbackUrl: string): string
}

interface Block {
  bodies: LoadBody[]
  characters: number
}

/** The bodies of a run's valid rows, in the order of the source and again from the start, in bounded memory. */
export class LoadBodies {
  /** Valid rows. */
  readonly count: number
  readonly #rows: StatementSync
  readonly #first: StatementSync
  readonly #mapRow: MapRow
  readonly #hasCallback: boolean
  /** The row before each block, as far as blocks were read. */
  readonly #before: number[] = [0]
  readonly #blocks = new Map<number, Block>()
  #characters = 0

  constructor(db: DatabaseSync, options: { mapRow: MapRow; hasCallback: boolean }) {
    this.#mapRow = options.mapRow
    this.#hasCallback = options.hasCallback
    this.count = Number(db.prepare('SELECT count(*) AS n FROM row WHERE item IS NOT NULL').get()?.['n'])
    this.#rows = db.prepare(
      `SELECT id, cells FROM row WHERE id > ? AND item IS NOT NULL ORDER BY id LIMIT ${BLOCK_ROWS}`,
    )
    this.#first = db.prepare('SELECT id FROM row WHERE item IS NOT NULL ORDER BY id LIMIT 1 OFFSET ?')
  }

  /** The body of a request, by its number in the load. */
  at(sequence: number): LoadBody {
    const position = sequence % this.count
    const block = this.#block(Math.floor(position / BLOCK_ROWS))
    const body = block.bodies[position % BLOCK_ROWS]
    if (body === undefined) throw new Error(`the journal has no valid row at position ${position}`)
    return body
  }

  #block(index: number): Block {
    const known = this.#blocks.get(index)
    if (known !== undefined) return known
    const rows = this.#rows.all(this.#findBefore(index))
    const bodies = rows.map((row, i) =>
      this.#toBody(Number(row['id']), index * BLOCK_ROWS + i, JSON.parse(String(row['cells'])) as string[]),
    )
    this.#before[index + 1] = bodies.at(-1)?.row ?? 0
    const characters = rows.reduce((sum, row) => sum + String(row['cells']).length, 0)
    const block = { bodies, characters }
    this.#blocks.set(index, block)
    this.#characters += characters
    // The oldest goes first: with more rows than there is room for, each block is read once a round.
    for (const [oldest, { characters: freed }] of this.#blocks) {
      if (this.#characters <= KEPT_CHARACTERS || oldest === index) break
      this.#blocks.delete(oldest)
      this.#characters -= freed
    }
    return block
  }

  #findBefore(index: number): number {
    const before = this.#before[index]
    if (before !== undefined) return before
    return Number(this.#first.get(index * BLOCK_ROWS)?.['id'] ?? 1) - 1
  }

  #toBody(row: number, position: number, cells: readonly string[]): LoadBody {
    const mapped = this.#mapRow(row, cells).body
    const whole: Record<string, unknown> = { ...mapped, post_id: POST_ID_MARK }
    if (this.#hasCallback) whole['callback_url'] = CALLBACK_MARK
    const text = JSON.stringify(whole)
    const [head = '', rest = ''] = cutAt(text, POST_ID_MARK)
    const [middle = '', tail = null] = this.#hasCallback ? cutAt(rest, CALLBACK_MARK) : [rest]
    const { models, text_data: textData, url } = mapped
    return {
      row,
      position,
      contentBytes: Buffer.byteLength(String(textData ?? url ?? '')),
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
