import { expect, test } from 'vitest'
import { createRowMapper, resolveMapping } from '../../../../src/main/engine/mapping/row-mapper.ts'
import { createRowValidator } from '../../../../src/main/engine/mapping/validate-row.ts'
import { formatProblem } from '../../../../src/shared/messages/problem-messages.ts'
import { indexAddRequestSchema } from '../../../../src/shared/operations/index-add.ts'
import { indexRemoveRequestSchema } from '../../../../src/shared/operations/index-remove.ts'
import type { PlanInput } from '../../../../src/shared/plan/plan.ts'
import { buildPlan, readBody } from './build-plan.ts'

type IndexKind = 'index-add' | 'index-remove'

/** The body of one row and all of its problems. */
function mapOne(
  kind: IndexKind,
  columns: string[],
  cells: string[],
  parts: Partial<PlanInput> & { mode?: 'sync' | 'async' } = {},
) {
  const { mode = 'sync', ...rest } = parts
  const plan = buildPlan({ operation: { kind, mode, indexId: 'logos' }, ...rest })
  const resolved = { ...plan, mapping: resolveMapping(plan, columns) }
  const mapped = createRowMapper(resolved, columns, 'r1')(4, cells)
  const found = [...mapped.problems, ...createRowValidator(resolved)(4, mapped.body)]
  return { body: readBody(mapped.body), uniqueKey: mapped.uniqueKey, found: found.map(formatProblem) }
}

test('an item to add has its address, its metadata from a column and from keys, and its variant', () => {
  const columns = ['url', 'metadata', 'metadata.colour', 'metadata.size', 'content_variant', 'note']
  const cells = ['https://a.example/1.png', '{"owner":"x","material":"red"}', 'blue', '', 'logo', 'unused']
  const { body, uniqueKey, found } = mapOne('index-add', columns, cells)
  expect(body).toEqual({
    url: 'https://a.example/1.png',
    metadata: { owner: 'x', material: 'red', colour: 'blue' },
    content_variant: 'logo',
  })
  expect(indexAddRequestSchema.safeParse(body).success).toBe(true)
  expect(uniqueKey).toEqual({ field: 'url', value: cells[0], effect: 'adds' })
  expect(found).toEqual([])
})

test('an item to add needs one of url and media, and may have both', () => {
  const columns = ['url', 'media']
  const both = ['https://a.example/1.png', 'https://b.example/1.png']
  expect(mapOne('index-add', columns, both).found).toEqual([])
  expect(mapOne('index-add', columns, ['', both[1] ?? ''])).toMatchObject({
    body: { media: both[1] },
    found: [],
  })
  expect(mapOne('index-add', columns, ['', '']).found).toEqual([
    'row 4: must have url or media, found `neither`',
  ])
  expect(mapOne('index-add', columns, ['ftp://a.example/1.png', 'nonsense']).found).toEqual([
    'row 4, url: must be an http or https URL, found `ftp://a.example/1.png`',
    'row 4, media: must be an http or https URL, found `nonsense`',
  ])
})

test('a plan that fills neither url nor media is refused as a whole', () => {
  expect(() => mapOne('index-add', ['address', 'colour'], ['a', 'b'])).toThrow(
    'url or media is required, but neither is mapped; the columns are 1 `address`, 2 `colour`',
  )
})

test('metadata must be a JSON object', () => {
  expect(mapOne('index-add', ['url', 'metadata'], ['https://a.example/1.png', '[1]']).found).toEqual([
    'row 4, metadata: must be a JSON object, found `[1]`',
  ])
})

test('an item to remove is identified by its id only', () => {
  const { body, found } = mapOne(
    'index-remove',
    ['custom_index_item_id', 'url'],
    ['item-1', 'https://a.example'],
  )
  expect(body).toEqual({ custom_index_item_id: 'item-1' })
  expect(indexRemoveRequestSchema.safeParse(body).success).toBe(true)
  expect(found).toEqual([])
  expect(mapOne('index-remove', ['custom_index_item_id'], ['']).found).toEqual([
    'row 4, custom_index_item_id: is required but empty',
  ])
})

test('the export of an async add is a source for a sync removal, unchanged', () => {
  const columns = ['url', 'metadata', 'callback_url', 'sluice_row', 'sluice_custom_index_item_id']
  const cells = ['https://a.example/1.png', '{"a":1}', 'https://me.example/cb', '4', 'item-9']
  const { body, found } = mapOne('index-remove', columns, cells)
  expect(body).toEqual({ custom_index_item_id: 'item-9' })
  expect(found).toEqual([])
})

test("a column with the exact name takes precedence over an export's", () => {
  const columns = ['sluice_custom_index_item_id', 'custom_index_item_id']
  expect(mapOne('index-remove', columns, ['old', 'new']).body).toEqual({ custom_index_item_id: 'new' })
})

test('callback_url is taken from its column in async, where it must be an address', () => {
  const columns = ['url', 'callback_url']
  const cells = ['https://a.example/1.png', 'https://me.example/cb']
  expect(mapOne('index-add', columns, cells, { mode: 'async' })).toMatchObject({
    body: { callback_url: 'https://me.example/cb' },
    found: [],
  })
  expect(mapOne('index-add', columns, ['https://a.example/1.png', 'me'], { mode: 'async' }).found).toEqual([
    'row 4, callback_url: must be an http or https URL, found `me`',
  ])
})

test('fields of other operations are not fields here, and the error lists those that are', () => {
  const mapping = { metdata: { kind: 'template' as const, template: '{}' } }
  expect(() => mapOne('index-add', ['url'], ['https://a.example/1.png'], { mapping })).toThrow(
    'index-add has no field `metdata`; its fields are url, media, metadata, content_variant, callback_url, request and metadata.KEY',
  )
  const post = { post_id: { kind: 'template' as const, template: 'p' } }
  expect(() => mapOne('index-remove', ['custom_index_item_id'], ['i'], { mapping: post })).toThrow(
    'index-remove has no field `post_id`',
  )
})
