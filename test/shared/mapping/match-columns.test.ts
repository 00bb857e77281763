import { expect, test } from 'vitest'
import { findColumn, matchColumns, suggestMapping } from '../../../src/shared/mapping/match-columns.ts'
import { findPlaceholder } from '../../../src/shared/mapping/templates.ts'
import type { Operation } from '../../../src/shared/plan/plan.ts'

const TASK: Operation = { kind: 'task', mode: 'sync', api: 'v1', legacy: false, models: [] }

/** The column that fills each field, and how sure that is. */
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

test('guesses nothing that may be left out', () => {
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
])('a header is matched without what nobody sees of it: %j', (header) => {
  const columns = ['text_data', header]
  expect(matchColumns(columns, TASK)).toMatchObject({ user_id: { kind: 'column', column: header } })
  expect(suggestMapping(columns, TASK).mapping).toMatchObject({ user_id: { kind: 'column', column: header } })
})

test('a column is found by its name without what nobody sees of it, unless several have it', () => {
  expect(findColumn(['id', '\ufeffmessage '], 'message')).toBe(1)
  expect(findColumn(['message ', 'message'], 'message')).toBe(1)
  expect(findColumn(['message ', '\ufeffmessage'], 'message')).toBeNull()
  expect(findPlaceholder('message', ['id', 'mess\u200bage'])).toEqual({ kind: 'column', index: 1 })
})
