import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'

function toLine(customId: string, input: unknown): string {
  const body = { model: 'omni-moderation-2024', input }
  return `${JSON.stringify({ custom_id: customId, method: 'POST', url: '/v1/moderations', body })}\n`
}

const LINES =
  toLine('r-1', 'win a free prize now') +
  toLine('r-2', 'see you at lunch') +
  toLine('r-3', ['first\nline', 'another free prize']) +
  toLine('r-4', [{ type: 'image_url', image_url: { url: 'https://media.example.com/sandbox-hate-2.png' } }]) +
  toLine('r_5', 'an id with a sign that ids must not have')

/** A run of a file of batch requests. */
async function sendBatch() {
  const folder = createTemporaryFolder()
  const sandbox = await withSandbox()
  const source = join(folder, 'requests.jsonl')
  writeFileSync(source, LINES)
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: sandbox.key } })
  const sending = ['--set', 'user_id=someone', '--legacy', '--base-url', sandbox.baseUrl]
  const sent = await sluice('task', source, ...sending)
  const at = (name: string) => join(folder, name)
  return { folder, sending, sent, sluice, at }
}

const readLines = (text: string) =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

describe("OpenAI's batch form", () => {
  it('is sent with its ids and contents, and says what was guessed', async () => {
    const { sent, sluice, at } = await sendBatch()
    const said = `${sent.stdout}${sent.stderr}`
    expect(said).toContain('OpenAI batch (guessed; to state it, add --format openai-batch)')
    expect(said).toContain('1 line with several inputs, a row for each')
    await sluice(
      'export',
      'latest',
      at('out.csv'),
      '--columns',
      'sluice_row,sluice_state,post_id,text_data,url',
    )
    expect(readFileSync(at('out.csv'), 'utf8').slice(1)).toBe(
      [
        'sluice_row,sluice_state,post_id,text_data,url',
        '1,succeeded,r-1,win a free prize now,',
        '2,succeeded,r-2,see you at lunch,',
        '3,succeeded,r-3-1,"first\nline",',
        '4,succeeded,r-3-2,another free prize,',
        '5,succeeded,r-4,,https://media.example.com/sandbox-hate-2.png',
        '6,invalid,r_5,an id with a sign that ids must not have,',
        '',
      ].join('\r\n'),
    )
  })

  it('is an export of results, with rules as categories and classes as scores, or an error', async () => {
    const { sluice, at } = await sendBatch()
    expect(await sluice('export', 'latest', at('out.batch-output.jsonl'))).toMatchObject({ code: 0 })
    const lines = readLines(readFileSync(at('out.batch-output.jsonl'), 'utf8'))
    expect(lines.map(({ custom_id }) => custom_id)).toEqual(['r-1', 'r-2', 'r-3', 'r-4', 'r_5'])
    const [spam, fine, several, image, invalid] = lines
    expect(spam).toMatchObject({
      id: expect.stringMatching(/-1$/),
      response: {
        status_code: 200,
        request_id: expect.any(String),
        body: { results: [{ flagged: true, categories: { 'Likely spam': true } }] },
      },
      error: null,
    })
    expect(Object.keys(spam.response.body.results[0].category_scores)).toContain('spam')
    expect(fine.response.body.results[0]).toMatchObject({
      flagged: false,
      categories: { 'Likely spam': false },
    })
    // The results of a request with several inputs stand in their order, as a script expects them.
    expect(several.error).toBeNull()
    expect(several.response.body.results.map(({ flagged }: { flagged: boolean }) => flagged)).toEqual([
      false,
      true,
    ])
    expect(image.error).toBeNull()
    expect(invalid).toMatchObject({ response: null, error: { code: 'invalid', message: expect.any(String) } })
    const { stdout } = await sluice('export', 'latest', '-', '--format', 'batch-output', '--flagged')
    const flagged = readLines(stdout)
    expect(flagged.filter(({ error }) => error === null).length).toBeGreaterThan(0)
    // Results that were left out are not passed off as those of other inputs.
    expect(flagged.find(({ custom_id }) => custom_id === 'r-3')).toMatchObject({
      response: null,
      error: {
        code: 'inputs_left_out',
        message: 'The export has only 1 of the 2 inputs of this request.',
        results: [null, { flagged: true }],
      },
    })
    const whole = flagged.filter(({ custom_id }) => custom_id !== 'r-3')
    expect(whole.every(({ response }) => response.body.results[0].flagged)).toBe(true)
  })

  it('reports inputs whose id another line has, and inputs without an answer', async () => {
    onlyInLongForm()
    const { sluice, at, sending } = await sendBatch()
    const lines = toLine('m', ['one', 'two']) + toLine('m-2', 'three') + toLine('n', ['', 'four'])
    writeFileSync(at('clash.jsonl'), lines)
    const { stdout, stderr } = await sluice('task', at('clash.jsonl'), ...sending)
    expect(`${stdout}${stderr}`).toContain('post_id')
    await sluice('export', 'latest', at('clash.batch-output.jsonl'))
    const [m, clashing, n] = readLines(readFileSync(at('clash.batch-output.jsonl'), 'utf8'))
    expect(m).toMatchObject({ custom_id: 'm', error: null, response: { body: { results: [{}, {}] } } })
    expect(clashing).toMatchObject({ custom_id: 'm-2', response: null, error: { code: 'invalid' } })
    expect(n).toMatchObject({
      custom_id: 'n',
      response: null,
      error: { code: 'invalid', message: expect.stringMatching(/^Input 1 of 2: /), results: [null, {}] },
    })
  })

  it('is an export of requests, which gives the same rows as a source', async () => {
    onlyInLongForm()
    const { sluice, sending, at } = await sendBatch()
    expect(await sluice('export', 'latest', at('out.batch-input.jsonl.gz'))).toMatchObject({ code: 0 })
    const lines = readLines(gunzipSync(readFileSync(at('out.batch-input.jsonl.gz'))).toString('utf8'))
    expect(lines).toEqual(readLines(LINES))
    const columns = ['--columns', 'post_id,text_data,url,body.model']
    const first = await sluice('export', 'latest', '-', ...columns)
    await sluice('task', at('out.batch-input.jsonl.gz'), ...sending)
    const again = await sluice('export', 'latest', '-', ...columns)
    expect(again.stdout).toBe(first.stdout)
  })

  it('exports lines of other endpoints and of several inputs as they came, each id once', async () => {
    onlyInLongForm()
    const { sluice, sending, at } = await sendBatch()
    const chat = { model: 'some-model', messages: [{ role: 'user', content: 'hello' }], seed: 1 }
    const came = [
      toLine('a', ['one', 'two']),
      `${JSON.stringify({ custom_id: 'b', method: 'POST', url: '/v1/chat/completions', body: chat })}\n`,
      toLine('c', [
        { type: 'text', text: 'look' },
        { type: 'image_url', image_url: { url: 'https://media.example.com/sandbox-hate-2.png' } },
      ]),
      toLine('d', [{ type: 'text', text: 'a part' }]),
      '{"custom_id":"e","method":"POST","url":"https://api.example.com/v1/moderations",' +
        '"metadata":{"id":12345678901234567890},"body":{"input":"kept","user":null,"n":1.0}}\n',
      `${JSON.stringify({ custom_id: 'f', method: 'GET', url: '/v1/moderations', body: { input: ['x', 'y'] } })}\n`,
      '{"custom_id":"g"}\n',
      toLine('h', ''),
      toLine('i', []),
      toLine('j', null),
      '{"custom_id":5,"url":"/v1/moderations","body":{"input":"a number as its id, and no method"}}\n',
    ]
    writeFileSync(at('came.jsonl'), `${came.join('')}no JSON\n${toLine('a', 'again')}${toLine('b', 'again')}`)
    await sluice('task', at('came.jsonl'), ...sending)
    const left = await sluice('export', 'latest', at('left.batch-input.jsonl'))
    const text = readFileSync(at('left.batch-input.jsonl'), 'utf8')
    expect(readLines(text)).toEqual(readLines(came.join('')))
    expect(text).toContain('12345678901234567890')
    expect(text).toContain('"n":1.0')
    expect(left.stdout).toContain(
      '3 rows were left out: without content, or with the id of an earlier request',
    )
    const json = await sluice('export', 'latest', at('left.batch-input.jsonl'), '--json')
    expect(JSON.parse(json.stdout)).toMatchObject({ rows: 13, rows_left_out: 3 })
    // An input that is exported without the others of its line has the id that it was sent with.
    const { stdout } = await sluice(
      'export',
      'latest',
      '-',
      '--format',
      'batch-input',
      '--state',
      'succeeded',
    )
    expect(readLines(stdout).map(({ custom_id }) => custom_id)).toContain('a')
    const { stdout: some } = await sluice('export', 'latest', '-', '--format', 'batch-input', '--flagged')
    expect(readLines(some)).toContainEqual({
      custom_id: 'c-2',
      method: 'POST',
      url: '/v1/moderations',
      body: {
        model: 'omni-moderation-2024',
        input: [
          {
            type: 'image_url',
            image_url: { url: 'https://media.example.com/sandbox-hate-2.png' },
          },
        ],
      },
    })
  })

  it('exports keys that have dots, and fields of objects only once although they were mapped', async () => {
    const { sluice, sending, at } = await sendBatch()
    const envelope = { method: 'POST', url: '/v1/moderations' }
    const came = [
      {
        custom_id: 'a',
        ...envelope,
        who: { id: 'u1' },
        note: 'text',
        'note.by': 'me',
        body: { input: 'one' },
      },
      {
        custom_id: 'b',
        ...envelope,
        who: { id: 'u2' },
        tag: { by: 'x' },
        'tag.by': 'y',
        body: { input: 'two' },
      },
      { custom_id: 'c', ...envelope, who: { id: null }, body: { input: 'three', user: 'u', 'user.id': 7 } },
    ]
    writeFileSync(at('dots.jsonl'), came.map((line) => `${JSON.stringify(line)}\n`).join(''))
    await sluice('task', at('dots.jsonl'), '--map', 'user_id=who.id', ...sending.slice(2))
    const { stdout } = await sluice('export', 'latest', '-', '--format', 'batch-input')
    expect(readLines(stdout)).toEqual(came)
  })

  it('has no request for rows of a table without content, and no second one for an id', async () => {
    onlyInLongForm()
    const { sluice, sending, at } = await sendBatch()
    writeFileSync(at('posts.csv'), 'post_id,text_data\np1,one\np1,two\np2,\np3,three\n')
    await sluice('task', at('posts.csv'), ...sending)
    const { stdout, stderr } = await sluice('export', 'latest', '-', '--format', 'batch-input')
    expect(readLines(stdout).map(({ custom_id, body }) => [custom_id, body.input])).toEqual([
      ['p1', 'one'],
      ['p3', 'three'],
    ])
    expect(stderr).toContain('2 rows were left out')
  })

  it('is refused for runs without content, and if labels or columns would be lost', async () => {
    onlyInLongForm()
    const { sluice, at, sending } = await sendBatch()
    const refuse = async (...args: string[]) => {
      const { code, stderr } = await sluice(...args)
      expect(code, args.join(' ')).toBe(2)
      return stderr
    }
    expect(await refuse('export', 'latest', at('a.batch-output.jsonl'), '--columns', 'source')).toContain(
      '--columns and --rules-as-columns only apply to',
    )
    expect(await refuse('sample', 'latest', at('a.batch-output.jsonl'), '--size', '1')).toContain(
      "OpenAI's batch formats have no place for labels",
    )
    writeFileSync(at('terms.csv'), 'term\nbuy now\n')
    await sluice('watchlist', 'add', at('terms.csv'), '--watchlist', 'w', ...sending.slice(3))
    expect(await refuse('export', 'latest', at('a.batch-input.jsonl'))).toContain(
      'only runs that submit content',
    )
  })
})
