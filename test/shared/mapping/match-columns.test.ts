import { expect, test } from 'vitest'
import { findColumn, matchColumns, suggestMapping } from '../../../src/shared/mapping/match-columns.ts'
import { findPlaceholder } from '../../../src/shared/mapping/templates.ts'
import type { Operation } from '../../../src/shared/operations/operations.ts'
import { DEFAULT_POST_ID } from '../../../src/shared/operations/task.ts'

const TASK: Operation = { kind: 'task', mode: 'sync', api: 'v1', legacy: false, models: [] }

/** The column for each field, and how certain the match is. */
function suggest(columns: readonly string[], operation = TASK) {
  const { mapping, confidence } = suggestMapping(columns, operation)
  return Object.fromEntries(
    Object.entries(mapping).flatMap(([field, source]) =>
      source.kind === 'column' ? [[field, [source.column, confidence[field]]]] : [],
    ),
  )
}

test.each([
  'tweet',
  'Prompt',
  'comment',
  'message',
  'body',
  'Original Tweet',
  'userComment',
  'comment_text',
  'SMS',
  'msg',
  'selftext',
  'v2',
  'Nachricht',
  'Kommentar',
])('takes a column %s for the text, as a guess', (name) => {
  expect(suggest(['number', name, 'user_id'])).toEqual({
    text_data: [name, 'guess'],
    user_id: ['user_id', 'exact'],
  })
})

test.each(['Nutzer', 'Autor', 'Absender', 'sender_id', 'screen_name', 'Benutzername'])(
  'takes a column %s for the user, as a guess',
  (name) => {
    expect(suggest(['text_data', name])).toEqual({
      text_data: ['text_data', 'exact'],
      user_id: [name, 'guess'],
    })
  },
)

test.each(['comment_count', 'message id', 'Category', 'context', 'texture'])(
  'does not take a column %s for the text',
  (name) => {
    expect(suggest([name])).toEqual({})
  },
)

test('guesses no optional field', () => {
  expect(suggest(['text_data', 'user_id', 'Category', 'tag', 'thread', 'id', 'group', 'model'])).toEqual({
    text_data: ['text_data', 'exact'],
    user_id: ['user_id', 'exact'],
  })
})

test('guesses the likeliest of several columns, and no URL in addition to a text', () => {
  expect(suggest(['description', 'text', 'Image URL', 'author_id'])).toEqual({
    text_data: ['text', 'guess'],
    user_id: ['author_id', 'guess'],
  })
  expect(suggest(['image_url', 'User ID'])).toEqual({
    url: ['image_url', 'guess'],
    user_id: ['User ID', 'alike'],
  })
})

test.each([
  '\ufeffuser_id',
  'user_id ',
  'user\u200b_id',
  '\u00a0user_id',
  'user_id\t',
  '\u00adUser\u2060Id ',
])('a header is matched without its invisible characters: %j', (header) => {
  const columns = ['text_data', header]
  expect(matchColumns(columns, TASK)).toMatchObject({ user_id: { kind: 'column', column: header } })
  expect(suggestMapping(columns, TASK).mapping).toMatchObject({ user_id: { kind: 'column', column: header } })
})

test('a Latin name matches if letters are replaced by look-alikes from another alphabet, but no other name does', () => {
  expect(suggest(['p\u043est_id', 'user_id', 'te\u0445t_data'])).toEqual({
    post_id: ['p\u043est_id', 'alike'],
    user_id: ['user_id', 'exact'],
    text_data: ['te\u0445t_data', 'alike'],
  })
  expect(suggest(['user_id', '\u0442\u0435\u043a\u0441\u0442'])).toEqual({ user_id: ['user_id', 'exact'] })
})

test('a column is found by its name without invisible characters, unless several have it', () => {
  expect(findColumn(['id', '\ufeffmessage '], 'message')).toBe(1)
  expect(findColumn(['message ', 'message'], 'message')).toBe(1)
  expect(findColumn(['message ', '\ufeffmessage'], 'message')).toBeNull()
  expect(findPlaceholder('message', ['id', 'mess\u200bage'])).toEqual({ kind: 'column', index: 1 })
})

test('a column with objects or arrays is never guessed, but its fields may be', () => {
  const columns = ['user', 'message', 'user.id', 'message.text']
  const rows = [{ cells: ['{"id":"u1"}', '["a"]', 'u1', 'hi'] }]
  expect(suggestMapping(columns, TASK, { format: 'jsonl', columns, rows }).mapping).toMatchObject({
    user_id: { column: 'user.id' },
    text_data: { column: 'message.text' },
  })
  const names = ['user', 'message']
  const cells = rows.map((row) => ({ cells: row.cells.slice(0, 2) }))
  expect(suggestMapping(names, TASK, { format: 'jsonl', columns: names, rows: cells }).mapping).toEqual({
    post_id: DEFAULT_POST_ID,
  })
})

test("a column named id is guessed as the post_id if each row has its own, and never as a user's id", () => {
  const columns = ['id', 'user', 'message']
  const guess = (ids: string[], names = columns) => {
    const rows = ids.map((id) => ({ cells: [id, 'u', 't'] }))
    return suggestMapping(names, TASK, { format: 'csv', columns: names, rows })
  }
  expect(guess(['p1', 'p2'])).toMatchObject({
    mapping: { post_id: { kind: 'column', column: 'id' } },
    confidence: { post_id: 'guess' },
  })
  for (const ids of [['p1', 'p1'], ['p_1', 'p_2'], ['p1', ''], ['p1'], []]) {
    expect(guess(ids).mapping['post_id']).toEqual(DEFAULT_POST_ID)
  }
  expect(guess(['p1', 'p2'], ['Id ', 'message', 'x']).mapping['post_id']).toEqual(DEFAULT_POST_ID)
  expect(suggestMapping(columns, TASK).mapping['post_id']).toEqual(DEFAULT_POST_ID)
})

test('a second column with the same name is not a key of its own', () => {
  const columns = ['text_data', 'user_metadata.age', 'user_metadata.age (2)', 'user_metadata.size (2)']
  expect(Object.keys(suggest(columns))).toEqual(['text_data', 'user_metadata.age', 'user_metadata.size (2)'])
})

test.each([
  [['author', 'author_id', 'text'], 'author_id'],
  [['username', 'uid', 'message'], 'uid'],
  [['User', 'Sender ID', 'comment'], 'Sender ID'],
])('of %j the column of ids is taken for the user, not that of names', (columns, column) => {
  expect(suggest(columns)).toMatchObject({ user_id: [column, 'guess'] })
})
