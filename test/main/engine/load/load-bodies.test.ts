import { describe, expect, it } from 'vitest'
import { LoadBodies, type LoadBodiesOptions } from '../../../../src/main/engine/load/load-bodies.ts'
import { createRowMapper } from '../../../../src/main/engine/mapping/row-mapper.ts'
import { planSchema } from '../../../../src/shared/plan/plan.ts'
import { openReadyJournal, toIntakeRow } from '../journal/test-journal.ts'

const COLUMNS = ['text_data', 'user_id', 'callback_url']

const mapRow = createRowMapper(
  planSchema.parse({
    connection: { baseUrl: 'http://127.0.0.1:1' },
    source: { path: '/source.csv' },
    operation: { kind: 'task' },
    mapping: {
      post_id: { kind: 'template', template: '{{run}}-{{row}}' },
      text_data: { kind: 'column', column: 'text_data' },
      user_id: { kind: 'column', column: 'user_id' },
      callback_url: { kind: 'column', column: 'callback_url' },
    },
  }),
  COLUMNS,
  'run-1',
)

/** Bodies from a journal whose rows have these texts; null is an invalid row. */
function createBodies(texts: readonly (string | null)[], hasCallback = false) {
  const problem = {
    row: 1,
    field: 'text_data',
    code: 'required',
    severity: 'error',
    args: { lack: 'value' },
  } as const
  const journal = openReadyJournal(
    texts.map((text, index) =>
      toIntakeRow(index + 1, {
        cells: [text ?? '', `user${index}`, 'https://elsewhere.test/'],
        problems: text === null ? [{ ...problem, row: index + 1 }] : [],
      }),
    ),
  )
  let read = 0
  const bodies = new LoadBodies(journal.db, {
    toRowKeys: () => [],
    hasCallback,
    mapRow: (row, cells) => {
      read += 1
      return mapRow(row, cells)
    },
  })
  return { bodies, countRead: () => read }
}

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `text ${i + 1}`)

const parse = (json: string) => JSON.parse(json) as Record<string, unknown>

describe('bodies of a load', () => {
  it('are those of the valid rows in their order, repeatedly', () => {
    const { bodies } = createBodies(['one', null, 'three', 'four', null])
    expect(bodies.count).toBe(3)
    const order = [0, 1, 2, 3, 4, 5, 3_000_000].map((sequence) => bodies.at(sequence).row)
    expect(order).toEqual([1, 3, 4, 1, 3, 4, 1])
    expect(bodies.at(4)).toMatchObject({ row: 3, position: 1 })
  })

  it('have a new post_id in each submission, and everything else as in the row', () => {
    const { bodies } = createBodies(['one'])
    const [first, second] = [bodies.at(0).toJson('run-1-1', ''), bodies.at(1).toJson('run-1-2', '')]
    expect(parse(first)).toEqual({
      post_id: 'run-1-1',
      text_data: 'one',
      user_id: 'user0',
      callback_url: 'https://elsewhere.test/',
    })
    expect(parse(second)).toEqual({ ...parse(first), post_id: 'run-1-2' })
  })

  it("have the receiver's address in place of the row's own if callbacks are measured", () => {
    const { bodies } = createBodies(['one'], true)
    const url = 'http://127.0.0.1:4000/callback/run-1/7/mac'
    expect(parse(bodies.at(6).toJson('run-1-7', url))).toEqual({
      post_id: 'run-1-7',
      text_data: 'one',
      user_id: 'user0',
      callback_url: url,
    })
  })

  it('are not confused by content that looks like inserted values', () => {
    const hostile = [
      '\u0001sluice-post-id\u0001',
      '\u0001sluice-callback-url\u0001 "} \\ \u2028 \ud800',
      '$& $1 {{post_id}}',
    ]
    const { bodies } = createBodies(hostile, true)
    for (const [index, text] of hostile.entries()) {
      expect(parse(bodies.at(index).toJson('p', 'http://c'))).toMatchObject({
        text_data: text,
        post_id: 'p',
        callback_url: 'http://c',
      })
    }
  })

  it('report the size of their content in UTF-8', () => {
    const { bodies } = createBodies(['abc', 'äöü', '😀'])
    expect([0, 1, 2].map((at) => bodies.at(at).contentBytes)).toEqual([3, 6, 4])
  })

  it('are read once if there is room for them', () => {
    const { bodies, countRead } = createBodies(numbered(2_500))
    for (let sequence = 0; sequence < 7_500; sequence += 1) {
      const body = bodies.at(sequence)
      expect(body.row).toBe((sequence % 2_500) + 1)
    }
    expect(countRead()).toBe(2_500)
  })

  it('come in any order, such as those of one of several threads', () => {
    const { bodies } = createBodies(numbered(2_500))
    for (const sequence of [2_499, 0, 1_000, 999, 2_001, 5_000, 1]) {
      const body = bodies.at(sequence)
      expect(body.row).toBe((sequence % 2_500) + 1)
      expect(parse(body.toJson('p', '')).text_data).toBe(`text ${(sequence % 2_500) + 1}`)
    }
  })

  it('are read in small pieces if rows are large, and released again', () => {
    // 40 rows of a million characters; the cache holds about 24 of them.
    const large = Array.from({ length: 40 }, (_, i) => String.fromCharCode(97 + (i % 26)).repeat(1_000_000))
    const { bodies, countRead } = createBodies(large)
    bodies.at(0)
    expect(countRead()).toBeLessThanOrEqual(2)
    for (let sequence = 0; sequence < 80; sequence += 1) {
      expect(bodies.at(sequence).row).toBe((sequence % 40) + 1)
    }
    // Each round reads each row once and none twice.
    expect(countRead()).toBe(80)
  })
})

describe('the rows that requests send', () => {
  const ROWS = [
    ['zero', 'a', '0'],
    ['one', 'b', '1'],
    ['three', 'a', '3'],
  ]
  const createOrdered = (order: NonNullable<LoadBodiesOptions['order']>) =>
    new LoadBodies(openReadyJournal(ROWS.map((cells, index) => toIntakeRow(index + 1, { cells }))).db, {
      toRowKeys: () => [],
      mapRow: (row, cells) => mapRow(row, cells),
      hasCallback: false,
      order,
      columns: ['text_data', 'user_id', ' weight'],
      rowTags: [
        { name: 'user_id', value: 'b' },
        { name: 'user_id', value: 'a' },
      ],
    })

  it('are drawn by the column of weights, and have the tags of their cells', () => {
    const bodies = createOrdered({ order: 'random', seed: 5, weight: 'weight' })
    const counts = new Map<number, number>()
    for (let sequence = 0; sequence < 4_000; sequence += 1) {
      const { row } = bodies.at(sequence)
      counts.set(row, (counts.get(row) ?? 0) + 1)
    }
    expect(counts.get(1)).toBeUndefined()
    expect(Math.abs((counts.get(3) ?? 0) / (counts.get(2) ?? 1) - 3)).toBeLessThan(0.5)
    expect([0, 1, 2].map((position) => bodies.ofRow(position).tags)).toEqual([2, 1, 2])
  })

  it('are the same for the same seed, and each once per round if shuffled', () => {
    const take = (seed: number) => {
      const bodies = createOrdered({ order: 'shuffled', seed })
      return Array.from({ length: 9 }, (_, sequence) => bodies.at(sequence).row)
    }
    expect(take(4)).toEqual(take(4))
    expect(new Set(take(4).slice(3, 6))).toEqual(new Set([1, 2, 3]))
    expect(JSON.parse(createOrdered({ order: 'shuffled', seed: 4 }).ofRow(0).toJson('p', ''))).toMatchObject({
      text_data: 'zero',
    })
  })
})
