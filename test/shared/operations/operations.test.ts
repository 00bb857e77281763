import { expect, test } from 'vitest'
import { indexAddRequestSchema } from '../../../src/shared/operations/index-add.ts'
import { indexRemoveRequestSchema } from '../../../src/shared/operations/index-remove.ts'
import {
  fieldsOf,
  hasModes,
  listFieldNames,
  OPERATION_KINDS,
  OPERATIONS,
  type OperationKind,
  operationSchema,
  parseFieldName,
  scratchEndpointSchema,
  withTarget,
} from '../../../src/shared/operations/operations.ts'
import { addTermSchema } from '../../../src/shared/operations/watchlist-add.ts'
import { updateTermSchema } from '../../../src/shared/operations/watchlist-update.ts'
import { taskRequestSchema } from '../../../src/shared/service/tasks.ts'

test.each<[OperationKind, string[]]>([
  ['task', [...Object.keys(taskRequestSchema.shape), 'request']],
  ['index-add', [...Object.keys(indexAddRequestSchema.shape), 'request']],
  ['index-remove', [...Object.keys(indexRemoveRequestSchema.shape), 'request']],
  ['watchlist-add', [...Object.keys(addTermSchema.shape), 'request']],
  ['watchlist-update', [...Object.keys(updateTermSchema.shape), 'request']],
  ['appeal-status', ['appeal_id']],
])('the fields of %s match its wire contract, plus a whole request if there is a body', (kind, names) => {
  expect(fieldsOf({ kind }).map(({ name }) => name)).toEqual(names)
})

test('a key of a JSON object follows a dot, and the rest of the name is the key', () => {
  expect(parseFieldName('user_metadata.a.b', { kind: 'task' })).toEqual({
    kind: 'key',
    name: 'user_metadata',
    key: 'a.b',
  })
  expect(parseFieldName('metadata.colour', { kind: 'index-add' })).toEqual({
    kind: 'key',
    name: 'metadata',
    key: 'colour',
  })
  expect(parseFieldName('post_id', { kind: 'task' })).toEqual({ kind: 'field', name: 'post_id' })
})

test.each([
  ['metadata.colour', 'task'],
  ['user_metadata.', 'task'],
  ['.age', 'task'],
  ['request.text_data', 'task'],
  ['text_data.x', 'task'],
  ['post_id', 'index-add'],
  ['toString', 'task'],
] as const)('%s is not a field of %s', (text, kind) => {
  expect(parseFieldName(text, { kind })).toBeNull()
})

test('fields are listed with the objects whose keys may be named', () => {
  expect(listFieldNames({ kind: 'index-add' })).toEqual([
    'url',
    'media',
    'metadata',
    'content_variant',
    'callback_url',
    'request',
    'metadata.KEY',
  ])
})

test.each(OPERATION_KINDS)('%s is offered in the form of a plan, once its list is named', (kind) => {
  const first = withTarget(OPERATIONS[kind].first, 'list')
  expect(operationSchema.parse(first)).toEqual(first)
  expect(first.kind).toBe(kind)
})

test.each(OPERATION_KINDS)(
  'a single request of %s is valid for the bridge, whichever was chosen before',
  (kind) => {
    for (const before of OPERATION_KINDS) {
      const { single } = OPERATIONS[kind]
      const endpoint = single.first(OPERATIONS[before].single.first({ kind: before, mode: 'async' }))
      expect(scratchEndpointSchema.parse(endpoint)).toEqual(endpoint)
      expect(hasModes(endpoint) ? endpoint.mode : 'sync').toBe(
        hasModes({ kind }) && hasModes({ kind: before }) ? 'async' : 'sync',
      )
    }
    expect(
      scratchEndpointSchema.parse(OPERATIONS[kind].single.of(withTarget(OPERATIONS[kind].first, 'list'))),
    ).toHaveProperty('kind', kind)
  },
)
