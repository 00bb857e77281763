import { expect, it } from 'vitest'
import { previewSource } from '../../../src/main/engine/source/preview.ts'
import { firstOf, onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

const ROWS = [
  { user_id: 'u1', text_data: 'the first of these rows' },
  { user_id: 'u2', text_data: 'and the second of them' },
]

async function check(content: string, args: readonly string[] = [], name = 'posts.json') {
  const workspace = createTemporaryFolder()
  const source = writeSource(workspace, name, content)
  const { stdout } = await runInProcess(
    ['task', source, '--base-url', 'http://127.0.0.1:9', '--dry-run', '--json', ...args],
    { workspace, env: { SLUICE_API_KEY: 'k' } },
  )
  return JSON.parse(stdout)
}

it.each(
  firstOf(2, [
    ['a key', JSON.stringify({ results: ROWS }), '`results` (2 objects)', "'.results? | arrays[]'"],
    [
      'a key, over several lines',
      JSON.stringify({ results: ROWS }, null, 2),
      '`results` (2 objects)',
      "'.results? | arrays[]'",
    ],
    [
      'a key, with the bracket in the first line',
      `{"results": [\n${ROWS.map((row) => JSON.stringify(row)).join(',\n')}\n]}\n`,
      '`results` (2 objects)',
      "'.results? | arrays[]'",
    ],
    [
      'two levels of keys',
      JSON.stringify({ ok: true, data: { items: ROWS } }),
      '`data.items` (2 objects)',
      "'.data?.items? | arrays[]'",
    ],
    [
      'several keys',
      JSON.stringify({ users: [{ id: 1 }], posts: ROWS }),
      '`posts` (2 objects)',
      "'.posts? | arrays[]'",
    ],
    [
      'a key with a space',
      JSON.stringify({ 'all rows': ROWS }),
      '`all rows` (2 objects)',
      '.["all rows"]? | arrays[]\'',
    ],
    [
      'a key of each line',
      `${JSON.stringify({ results: ROWS })}\n${JSON.stringify({ results: ROWS })}\n`,
      '`results` (4 objects)',
      "'.results? | arrays[]'",
    ],
    [
      'a key of each element of an array',
      JSON.stringify([{ results: ROWS }, { error: 'none' }]),
      '`results` (2 objects)',
      "'.[] | .results? | arrays[]'",
    ],
    [
      'a key of an object that is too long',
      JSON.stringify({
        results: Array.from({ length: 60_000 }, () => ({ ...ROWS[0], more: 'x'.repeat(120) })),
      }),
      '`results`',
      "'.results? | arrays[]'",
    ],
  ]),
)('names rows that stand in %s, and says how to send them', async (_, content, named, path) => {
  const { error } = await check(content)
  expect(error.hint).toContain(`rows may be in ${named}`)
  expect(error.hint).toContain(`jq -c '`)
  expect(error.hint).toContain(path)
})

it('names no inputs of a batch request as rows, since they are rows already', async () => {
  const input = ROWS.map(({ text_data: text }) => ({ type: 'text', text }))
  const line = { custom_id: 'a', method: 'POST', url: '/v1/moderations', body: { input } }
  const source = writeSource(createTemporaryFolder(), 'requests.jsonl', JSON.stringify(line))
  expect(await previewSource({ path: source, header: true }, 10)).not.toHaveProperty('rowsInKeys')
})

it('asks before it sends one row of an object that has rows in a key', async () => {
  const content = JSON.stringify({ user: 'u1', message: 'this went well', results: ROWS })
  const found = await check(content)
  expect(found.rows.sendable).toBe(1)
  expect(found.to_accept).toMatchObject([
    {
      accept: 'content_cut',
      code: 'rows_in_key',
      message: expect.stringMatching(/`results`.*2 objects.*jq -c/),
    },
  ])
  expect((await check(content, ['--map', 'text_data=message'])).to_accept).toEqual([])
})

it('says nothing of arrays of objects in rows that have a text of their own', async () => {
  onlyInLongForm()
  const lines = Array.from({ length: 3 }, (_, at) =>
    JSON.stringify({ user: `u${at}`, message: 'some text', tags: [{ text: 'cats' }, { text: 'dogs' }] }),
  )
  expect((await check(lines.join('\n'), [], 'posts.jsonl')).to_accept).toEqual([])
})

it.each([
  [
    'of each of many rows',
    Array.from({ length: 3 }, (_, at) => ({ at })),
    [{ body: 'a rather long reply to this' }],
  ],
  ['of the one row', [{}], [{ n: 1 }, { n: 2 }]],
])('asks nothing about objects %s beside a text that has its own name', async (_, rows, comments) => {
  onlyInLongForm()
  const lines = rows.map((row) =>
    JSON.stringify({ ...row, text_data: 'hello there', user_id: 'u1', comments }),
  )
  const { to_accept: open, problems } = await check(lines.join('\n'), [], 'posts.jsonl')
  expect(open).toEqual([])
  expect(problems.map(({ code }: { code: string }) => code)).not.toContain('rows_in_key')
})

it.each(
  firstOf(1, [
    ['each of three rows', 3, 3, 3, '`replies` has 3 objects that are not sent'],
    ['one of three rows', 3, 1, 1, '`replies` has 1 object that is not sent'],
    ['more rows than are looked into', 120, 120, 1, '`replies` has objects that are not sent'],
  ]),
)('counts the objects and the rows with them of %s', async (_, rows, having, counted, words) => {
  const lines = Array.from({ length: rows }, (_row, at) =>
    JSON.stringify({
      message: `hello ${at}`,
      user_id: 'u1',
      ...(at < having && { replies: [{ said: 'a rather long reply to this' }] }),
    }),
  )
  const { to_accept: open } = await check(lines.join('\n'), [], 'posts.jsonl')
  expect(open).toMatchObject([
    { code: 'rows_in_key', rows: counted, message: expect.stringContaining(words) },
  ])
})

it('says nothing of objects beside a column that a person named wrongly, nor of tags of each row', async () => {
  onlyInLongForm()
  const replies = [{ said: 'a rather long reply to this' }]
  const named = JSON.stringify({ message: 'hello', user_id: 'u1', replies })
  const { error } = await check(named, ['--map', 'text_data=mesage'])
  expect(error.hint).toMatch(/^Did you mean `message`/)
  expect(error.hint).not.toContain('rows may be in')
  const tagged = Array.from({ length: 2 }, () =>
    JSON.stringify({ user_id: 'u1', n: 1, tags: [{ a: 1 }, { a: 2 }] }),
  )
  const { error: missing } = await check(tagged.join('\n'), [], 'posts.jsonl')
  expect(missing.message).toContain('text_data or url is required')
  expect(missing.hint).not.toContain('rows may be in')
})

it('mentions last that rows may be in a key if something other than the content is missing', async () => {
  onlyInLongForm()
  const { error } = await check(JSON.stringify({ message: 'this went well', results: ROWS }))
  expect(error.hint).toMatch(/^Map a column with --map user_id=.*rows may be in `results`/)
})
