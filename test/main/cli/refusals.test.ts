import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { generate } from 'selfsigned'
import { describe, expect, it } from 'vitest'
import { firstOf, onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { type SluiceResult, spawnSluice } from './spawn-sluice.ts'
import { createRows, writeSource } from './write-source.ts'

/** Runs `task` with a key, and checks what every refusal has in common: no stack, no key. */
async function runTask(
  folder: string,
  args: readonly string[],
  key = 'some-key',
  run: typeof spawnSluice = runInProcess,
): Promise<SluiceResult> {
  const result = await run(['task', ...args], { workspace: folder, env: { SLUICE_API_KEY: key } })
  expect(`${result.stdout}${result.stderr}`).not.toMatch(/^ +at .*:\d+/m)
  expect(`${result.stdout}${result.stderr}`).not.toContain(key)
  return result
}

const NOWHERE = ['--base-url', 'http://127.0.0.1:9']

describe('a service that does not take the run', () => {
  it('that refuses the key stops the run, which names the variable and keeps the rows', async () => {
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const source = writeSource(folder, 'posts.csv', createRows(100))
    const result = await runTask(folder, [source, '--base-url', sandbox.baseUrl], 'wrong-key', spawnSluice)
    expect(result.code).toBe(1)
    const [first = ''] = result.stdout.split('\n')
    expect(first).toMatch(/Stopped: .*refused the API key/)
    expect(result.stdout).toContain('SLUICE_API_KEY')
    expect(result.stdout).toMatch(/not sent +\d+/)
    expect(result.stdout).toMatch(/sluice resume /)
    expect((await sandbox.stats()).requests).toBeLessThan(20)
  })

  it('that cannot be reached stops the run, which names the address', async () => {
    const folder = createTemporaryFolder()
    const source = writeSource(folder, 'posts.csv', createRows(30))
    const result = await runTask(folder, [source, ...NOWHERE, '--json'])
    expect(result.code).toBe(1)
    const summary = JSON.parse(result.stdout)
    expect(summary).toMatchObject({ state: 'stopped' })
    expect(summary.stop_reason).toContain('127.0.0.1:9')
    expect(summary.rows.failed + summary.rows.not_sent).toBe(30)
  })

  it('whose certificate is not trusted gets nothing, and the message says what to do', async () => {
    const folder = createTemporaryFolder()
    const pems = await generate([{ name: 'commonName', value: '127.0.0.1' }], { keySize: 2048 })
    const sandbox = await withSandbox({ tls: { key: pems.private, cert: pems.cert } })
    const source = writeSource(folder, 'posts.csv', createRows(30))
    const result = await runTask(folder, [source, '--base-url', sandbox.baseUrl])
    expect(result.code).toBe(1)
    expect(result.stdout).toMatch(/certificate/)
    expect(result.stdout).toContain('NODE_EXTRA_CA_CERTS')
  })
})

describe('a source that cannot be sent', () => {
  it.each(
    firstOf(1, [
      ['missing', null, /the file does not exist/],
      ['empty', '', /empty/i],
      ['binary', Uint8Array.from({ length: 4096 }, (_, index) => (index * 37) % 256), /binary|not text/i],
      [
        'spreadsheet.xlsx',
        new Uint8Array([0x50, 0x4b, 3, 4, 20, 0, 6, 0, 8, 0, 0, 0, 33, 0]),
        /xlsx|zip|csv/i,
      ],
    ]),
  )('because it is %s is named, with what to do, and the exit code is 2', async (name, content, message) => {
    const folder = createTemporaryFolder()
    const file = name.includes('.') ? name : `${name}.csv`
    const source = content === null ? join(folder, file) : writeSource(folder, file, content)
    const result = await runTask(folder, [source, ...NOWHERE, '--set', 'user_id=u'])
    expect(result).toMatchObject({ code: 2, stdout: '' })
    expect(result.stderr).toMatch(/^sluice: /)
    expect(result.stderr).toContain(file)
    expect(result.stderr).toMatch(message)
    expect(result.stderr.trim().split('\n').length).toBeGreaterThan(1)
  })

  it('because it lacks a column is reported with the column and the existing ones', async () => {
    const folder = createTemporaryFolder()
    const source = writeSource(folder, 'posts.csv', createRows(3))
    const result = await runTask(folder, [source, ...NOWHERE, '--map', 'text_data=Message', '--json'])
    expect(result.code).toBe(2)
    const { error } = JSON.parse(result.stdout)
    expect(`${error.message} ${error.hint}`).toContain('Message')
    expect(`${error.message} ${error.hint}`).toContain('text_data')
    expect(result.stderr).toContain('Message')
  })

  it('because nothing fills user_id is reported', async () => {
    onlyInLongForm()
    const folder = createTemporaryFolder()
    const source = writeSource(folder, 'posts.csv', 'text_data\nhello\n')
    const result = await runTask(folder, [source, ...NOWHERE])
    expect(result.code).toBe(2)
    expect(`${result.stdout}${result.stderr}`).toContain('user_id')
  })

  it('leaves no run behind', async () => {
    onlyInLongForm()
    const folder = createTemporaryFolder()
    await runTask(folder, [join(folder, 'missing.csv'), ...NOWHERE])
    const runs = await runInProcess(['runs', '--json'], { workspace: folder })
    expect(JSON.parse(runs.stdout)).toEqual([])
    expect(readdirSync(folder)).not.toContain('missing.csv')
  })
})

describe('unusual rows', () => {
  it('with a nonsense URL are invalid, and the others are sent', async () => {
    onlyInLongForm()
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const source = writeSource(
      folder,
      'media.csv',
      'user_id,url\nu1,https://example.com/a.jpg\nu2,not a url\n',
    )
    const result = await runTask(folder, [source, '--base-url', sandbox.baseUrl], sandbox.key)
    expect(result.code).toBe(1)
    expect(result.stdout).toMatch(/1 row {2}url: must be an http or https URL\n +row 3: found `not a url`/)
    expect((await sandbox.stats()).tasks).toBe(1)
  })

  it('with a cell of 40 MB are named, and nothing is sent', async () => {
    onlyInLongForm()
    const folder = createTemporaryFolder()
    const sandbox = await withSandbox()
    const rows = `user_id,text_data\nu1,before\nu2,"${'x'.repeat(40_000_000)}"\nu3,after\n`
    const source = writeSource(folder, 'posts.csv', rows)
    const result = await runTask(folder, [source, '--base-url', sandbox.baseUrl, '--json'], sandbox.key)
    expect(result.code).toBe(2)
    expect(JSON.parse(result.stdout).error.message).toMatch(
      /posts\.csv: row 3 has more than 8,388,608 characters/,
    )
    expect(result.stderr.length).toBeLessThan(1_000)
    expect((await sandbox.stats()).requests).toBe(0)
  })
})

describe('bad usage', () => {
  it.each([
    [['taks'], 'did you mean task?'],
    [['version'], 'did you mean --version?'],
    [['task', 'x.csv', '--hedaer', 'a'], 'did you mean --header?'],
    [['index', 'remvoe'], 'did you mean remove?'],
    [['task', 'x.csv'], '--base-url'],
    [['task', 'x.csv', '--base-url', 'nonsense'], 'found `nonsense`'],
    [['task', 'x.csv', ...NOWHERE, '--concurrency', '0'], 'from 1 to 10000, found `0`'],
    [['task', 'x.csv', ...NOWHERE, '--timeout', '30'], '`30s` or `30ms`'],
    [['task', 'x.csv', ...NOWHERE, '--map', 'userid=1'], 'did you mean user_id?'],
    [['task', 'x.csv', ...NOWHERE, '--api-key', 'secret'], "unknown option '--api-key'"],
    [['show', 'nothing'], 'run `nothing` does not exist'],
    [['frobnicate', '--json'], "unknown command 'frobnicate'"],
  ])('%j exits with 2 and says what is wrong', async (args, message) => {
    const folder = createTemporaryFolder()
    const result = await runInProcess(args, { workspace: folder })
    expect(result.code).toBe(2)
    expect(result.stderr).toContain(message)
    expect(result.stderr).not.toMatch(/^ +at .*:\d+/m)
    if (args.includes('--json')) expect(JSON.parse(result.stdout)).toHaveProperty('error.code', 'BAD_USAGE')
    else expect(result.stdout).toBe('')
  })

  it.each([
    [['load', 'x.csv', '--headr', 'a'], /To list its options, run: .* load --help$/m],
    [['runs', 'prune', '--oldr', 'a'], /To list its options, run: .* runs prune --help$/m],
    [['--workspace', 'runs', 'show', 'latest', '--rwo', '1'], /did you mean --row\b.*\n.* show --help$/m],
    [
      ['load', 'x.csv', ...NOWHERE, '--rate', '1', '--duration', '1s', '--think-time', '1s'],
      /To list its options, run: .* load --help$/m,
    ],
    [['frobnicate'], /To list the commands, run: .*sluice -- --help$/m],
    [['help', 'frobnicate'], /To list the commands, run: .*sluice -- --help$/m],
  ])('%j names the help of its command', async (args, hint) => {
    const env = { SLUICE_API_KEY: 'some-key' }
    const { code, stderr } = await runInProcess(args, { workspace: createTemporaryFolder(), env })
    expect(code).toBe(2)
    expect(stderr).toMatch(hint)
  })

  it('does not include asking for help', async () => {
    const result = await runInProcess(['task', '--help'], { workspace: createTemporaryFolder() })
    expect(result).toMatchObject({ code: 0, stderr: '' })
    expect(result.stdout).toContain('--base-url')
  })

  it('includes an API key that is not set, before anything is read', async () => {
    const folder = createTemporaryFolder()
    const source = writeSource(folder, 'posts.csv', createRows(3))
    const result = await runInProcess(['task', source, ...NOWHERE], { workspace: folder })
    expect(result.code).toBe(2)
    expect(result.stderr).toContain('SLUICE_API_KEY')
  })
})
