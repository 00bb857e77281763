import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createCertificate } from '../../helpers/certificates.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { waitFor } from '../../helpers/wait-for.ts'
import { runInProcess } from './run-in-process.ts'
import { spawnSluice } from './spawn-sluice.ts'
import { createRows, writeSource } from './write-source.ts'

/** The command line on a workspace of its own. */
function openWorkspace(env: Record<string, string> = {}) {
  const folder = createTemporaryFolder()
  const sluice = (...args: string[]) => runInProcess(args, { workspace: folder, env })
  const read = async (...args: string[]) => JSON.parse((await sluice(...args, '--json')).stdout)
  return { folder, sluice, read }
}

describe('connection', () => {
  it('accepts names as people write them, and quotes them in the commands that it prints', async () => {
    const { sluice, read } = openWorkspace({ KEY_A: 'secret-a' })
    const names = ['Staging EU', "Ana's test (old)", 'Müller & Söhne: live', 'प्रोड', 'e\u0301 decomposed']
    for (const name of names) {
      const added = await sluice('connection', 'add', name, '--base-url', 'https://api.example.com')
      expect([name, added.code]).toEqual([name, 0])
    }
    expect((await read('connection', 'list')).map(({ name }: { name: string }) => name)).toEqual(
      names.map((name) => name.normalize('NFC')),
    )
    const second = await sluice('connection', 'add', "Ana's second", '--base-url', 'https://b.example.com')
    expect(second.stdout).toContain(String.raw`connection use 'Ana'\''s second'`)
    const again = await sluice('connection', 'add', 'Staging EU', '--base-url', 'https://b.example.com')
    expect(again.stderr).toContain("connection set 'Staging EU'")
    expect((await sluice('connection', 'set', 'Staging EU', '--key', 'new key=KEY_A')).code).toBe(0)
    expect((await sluice('connection', 'use', 'Staging EU', '--key', 'new key')).code).toBe(0)
    expect(await read('connection', 'show', 'Staging EU')).toMatchObject({ name: 'Staging EU', in_use: true })
    const unknown = await sluice('connection', 'use', 'Staging EU', '--key', 'other')
    expect(unknown.stderr).toContain("connection set 'Staging EU' --key LABEL=VARIABLE")
    // Neither invisible characters nor names that look like options.
    for (const name of [
      '',
      ' ',
      ' x',
      'x ',
      '-x',
      '(x)',
      'two\u2028lines',
      'tab\tx',
      'a\u202Eb',
      'a\u200Bb',
      'x'.repeat(65),
    ]) {
      const refused = await sluice('connection', 'add', '--base-url', 'https://api.example.com', '--', name)
      expect([name, refused.code]).toEqual([name, 2])
    }
  })

  it('stores, shows, changes, uses and removes connections', async () => {
    const { folder, sluice, read } = openWorkspace({
      KEY_A: 'secret-a',
      HTTPS_PROXY: 'http://me:secret-b@way-out.example.com:3128',
    })
    const { cert, key } = await createCertificate({ name: 'api.example.com' })
    for (const name of ['ca.pem', 'c.pem']) writeFileSync(join(folder, name), cert)
    writeFileSync(join(folder, 'k.pem'), key)
    const nothing = await sluice('connection', 'list')
    expect(nothing.stdout).toContain('connection add NAME')

    const added = await sluice(
      ...['connection', 'add', 'live', '--base-url', 'https://api.example.com/', '--production'],
      ...['--task-base-url', 'https://tasks.example.com', '--key', 'a=KEY_A', '--key', 'b=KEY_B'],
      ...['--timeout', '5s', '--delivered-code', 'HAVE_IT', '--ca', join(folder, 'ca.pem')],
      ...['--client-cert', join(folder, 'c.pem'), '--client-key', join(folder, 'k.pem')],
      ...['--proxy', 'http://proxy.example.com:3128', '--proxy-credentials-env', 'PROXY_USER'],
    )
    expect(added.code).toBe(0)
    expect(added.stdout).toContain('It is now in use.')
    expect(added.stderr).toContain('KEY_B')
    expect(await read('connection', 'show', 'live')).toEqual({
      schema_version: 2,
      name: 'live',
      in_use: true,
      production: true,
      base_url: 'https://api.example.com',
      task_base_url: 'https://tasks.example.com',
      keys: [
        { label: 'a', env: 'KEY_A', active: true, set: true, kept_in: null },
        { label: 'b', env: 'KEY_B', active: false, set: false, kept_in: null },
      ],
      timeout_ms: 5_000,
      delivered_codes: ['HAVE_IT'],
      headers: {},
      user_agent: null,
      keep_alive: true,
      traceparent: false,
      resolve: [],
      unix_socket: null,
      system_ca: true,
      ca: join(folder, 'ca.pem'),
      client_cert: join(folder, 'c.pem'),
      client_key: join(folder, 'k.pem'),
      proxy: { url: 'http://proxy.example.com:3128', credentials_env: 'PROXY_USER' },
      system_proxy: false,
    })

    expect((await sluice('connection', 'add', 'test', '--base-url', 'http://127.0.0.1:1')).stdout).toContain(
      'To use it, run',
    )
    expect((await sluice('connection', 'use', 'test')).stdout).toContain('Using test')
    const used = await sluice('connection', 'use', 'live', '--key', 'b')
    expect(used.stdout).toContain('with key b from KEY_B')
    expect(used.stderr).toContain('KEY_B is not set')

    const changed = await read(
      'connection',
      'set',
      'live',
      '--key',
      'c=KEY_C',
      '--remove-key',
      'a',
      '--no-production',
    )
    expect(changed).toMatchObject({ production: false, timeout_ms: 5_000 })
    expect(changed.keys.map((key: { label: string }) => key.label)).toEqual(['b', 'c'])
    expect((await sluice('connection', 'set', 'live', '--remove-key', 'b')).stderr).toContain(
      'is the active key',
    )

    const list = (await sluice('connection', 'list')).stdout
    expect(list).toMatch(/→ +live +https:\/\/api\.example\.com +b +KEY_B \(not set\)/)
    expect((await read('connection', 'list')).map((one: { name: string }) => one.name)).toEqual([
      'live',
      'test',
    ])
    const shown = (await sluice('connection', 'show', 'live')).stdout
    expect(shown).toContain('credentials in PROXY_USER')
    expect(shown).toMatch(/authorities built into Sluice\s+\d[\d,]* more of this system/)
    expect(await read('connection', 'set', 'live', '--no-system-ca')).toMatchObject({ system_ca: false })
    expect((await sluice('connection', 'show', 'live')).stdout).toContain('not those of this system')
    expect(await read('connection', 'set', 'live', '--system-proxy')).toMatchObject({
      proxy: null,
      system_proxy: true,
    })
    expect((await sluice('connection', 'show', 'live')).stdout).toMatch(
      /Proxy\s+http:\/\/way-out\.example\.com:3128, named by the system/,
    )
    expect(await read('connection', 'set', 'live', '--no-proxy')).toMatchObject({ system_proxy: false })
    expect((await sluice('connection', 'show', 'live')).stdout).toMatch(/Proxy\s+none\n?$/)

    expect((await sluice('connection', 'remove', 'live')).stdout).toContain('No connection is now in use')
    expect(await read('connection', 'list')).toHaveLength(1)
    expect(readFileSync(join(folder, 'connections.json'), 'utf8')).not.toContain('secret')
  })

  it.each([
    [['add', 'x'], '--base-url is required'],
    [['add', '-x y', '--base-url', 'http://a.test'], 'unknown option'],
    [['add', 'x;y', '--base-url', 'http://a.test'], 'the name `x;y` must have letters, digits, spaces and'],
    [['add', 'x', '--base-url', 'http://a.test', '--key', 'KEY'], 'expected LABEL=VARIABLE'],
    [
      ['add', 'x', '--base-url', 'http://a.test', '--key', 'a=A', '--key', 'a=B'],
      'the key label a is used twice',
    ],
    [['add', 'x', '--base-url', 'http://a.test', '--client-cert', 'c.pem'], 'requires --client-key'],
    [['add', 'x', '--base-url', 'http://a.test', '--proxy-credentials-env', 'P'], 'requires --proxy'],
    [['add', 'x', '--base-url', 'http://a.test', '--no-proxy', '--system-proxy'], 'cannot be combined with'],
    [['add', 'x', '--base-url', 'https://a.test', '--ca', 'nowhere.pem'], 'nowhere.pem'],
    [['add', 'x', '--base-url', 'https://a.test', '--ca', import.meta.filename], 'connection.test.ts'],
    [['use', 'x'], 'connection `x` does not exist'],
    [['show', 'x'], 'connection `x` does not exist'],
  ])('%j exits with 2 and says what is wrong', async (args, message) => {
    const { sluice } = openWorkspace()
    const result = await sluice('connection', ...args)
    expect(result).toMatchObject({ code: 2, stdout: '' })
    expect(result.stderr).toContain(message)
  })

  it('never repeats a key or a password that was given in place of its variable', async () => {
    const { sluice } = openWorkspace()
    const add = ['connection', 'add', 'x', '--base-url', 'http://a.test']
    for (const args of [
      ['--key', 'a=sk-hunter2'],
      ['--api-key-env', 'sk-hunter2'],
      ['--proxy', 'http://me:hunter2@proxy.test'],
      ['--base-url', 'http://me:hunter2@a.test'],
    ]) {
      const result = await sluice(...add, ...args)
      expect(result.code).toBe(2)
      expect(`${result.stdout}${result.stderr}`).not.toContain('hunter2')
    }
  })
})

describe('a sending command', () => {
  it('uses the named connection, else the one in use, and options take precedence over both', async () => {
    onlyInLongForm()
    const [one, two] = [await withSandbox({ apiKeys: ['key-1'] }), await withSandbox({ apiKeys: ['key-2'] })]
    const { folder, sluice } = openWorkspace({ KEY_1: 'key-1', KEY_2: 'key-2' })
    const source = writeSource(folder, 'posts.csv', createRows(3))
    await sluice('connection', 'add', 'one', '--base-url', one.baseUrl, '--api-key-env', 'KEY_1')
    await sluice('connection', 'add', 'two', '--base-url', two.baseUrl, '--api-key-env', 'KEY_2')

    const inUse = await sluice('task', source)
    expect(inUse.code).toBe(0)
    expect(inUse.stderr).toContain(`Using connection one: ${one.baseUrl}`)
    expect((await sluice('task', source, '--connection', 'two', '--json')).code).toBe(0)
    const over = ['--connection', 'one', '--base-url', two.baseUrl, '--api-key-env', 'KEY_2']
    expect((await sluice('task', source, ...over, '--set', 'post_id=again-{{row}}', '--json')).code).toBe(0)
    expect((await one.stats()).tasks).toBe(3)
    expect((await two.stats()).tasks).toBe(6)
  })

  it('without an address and without a connection says what to do', async () => {
    const { sluice } = openWorkspace()
    const result = await sluice('task', 'posts.csv')
    expect(result).toMatchObject({ code: 2, stdout: '' })
    expect(result.stderr).toMatch(/the address of the service is missing/)
    expect(result.stderr).toMatch(/--connection NAME/)
  })

  it('sends nothing to production without a terminal, except with --yes', async () => {
    onlyInLongForm()
    const sandbox = await withSandbox()
    const { folder, sluice } = openWorkspace({ SLUICE_API_KEY: sandbox.key })
    const source = writeSource(folder, 'posts.csv', createRows(3))
    await sluice('connection', 'add', 'live', '--base-url', sandbox.baseUrl, '--production')
    const unasked = await sluice('task', source)
    expect(unasked).toMatchObject({ code: 2, stdout: '' })
    expect(unasked.stderr).toMatch(/connection live is marked as production.*--yes/s)
    expect((await sluice('task', source, '--dry-run')).code).toBe(0)
    expect((await sandbox.stats()).requests).toBe(0)
    expect(JSON.parse((await sluice('runs', '--json')).stdout)).toEqual([])
    expect((await sluice('task', source, '--yes')).code).toBe(0)
    // The service already has these post_ids, so there is something to retry.
    expect((await sluice('task', source, '--yes')).code).toBe(1)
    const again = await sluice('retry', 'latest')
    expect(again.code).toBe(2)
    expect(again.stderr).toContain('--yes')
  })

  it('asks once more before it sends to production, with what and where, and accepts a no', async () => {
    const sandbox = await withSandbox()
    const { folder, sluice } = openWorkspace({ SLUICE_API_KEY: sandbox.key })
    const source = writeSource(folder, 'posts.csv', `${createRows(3)}p_4,u1,invalid\n`)
    await sluice('connection', 'add', 'live', '--base-url', sandbox.baseUrl, '--production')
    const asked: string[] = []
    const send = (answer: boolean, ...args: string[]) =>
      runInProcess(args, {
        workspace: folder,
        env: { SLUICE_API_KEY: sandbox.key },
        ask: (question) => {
          asked.push(question)
          return answer
        },
      })
    const refused = await send(false, 'task', source)
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain('Nothing was sent.')
    expect(asked).toEqual([`Send 3 rows to PRODUCTION, ${sandbox.baseUrl} (connection live)?`])
    expect((await sandbox.stats()).requests).toBe(0)
    expect(JSON.parse((await sluice('runs', '--json')).stdout)).toEqual([])
    expect((await send(true, 'task', source, '--json')).code).toBe(1)
    expect((await sandbox.stats()).tasks).toBe(3)
    expect((await send(false, 'task', source, '--yes')).code).toBe(1)
    await send(false, 'retry', 'latest')
    expect(asked).toHaveLength(3)
    expect(asked[2]).toMatch(/^Send the unsuccessful rows of run \S+ to PRODUCTION/)
    expect((await send(false, 'task', source, '--yes', '--limit', '1')).code).toBe(1)
    await send(false, 'retry', 'latest')
    expect(asked.splice(3)).toEqual([
      expect.stringMatching(/^Send the remaining and unsuccessful rows of run \S+ to PRODUCTION/),
    ])
    expect((await send(false, 'task', source, '--yes', '--set', 'post_id=y{{row}}')).code).toBe(0)
    expect(asked).toHaveLength(3)
  })

  it('continues with another key when the active key is switched', { timeout: 60_000 }, async () => {
    onlyInLongForm()
    const sandbox = await withSandbox({ apiKeys: ['key-1', 'key-2'], latency: '25ms' })
    const env = { KEY_1: 'key-1', KEY_2: 'key-2' }
    const { folder, sluice } = openWorkspace(env)
    const source = writeSource(folder, 'posts.csv', createRows(240))
    const keys = ['--key', 'first=KEY_1', '--key', 'second=KEY_2', '--key', 'third=KEY_3']
    await sluice('connection', 'add', 'live', '--base-url', sandbox.baseUrl, ...keys)
    const untilMore = async (count: number) => {
      const { tasks } = await sandbox.stats()
      const look = async () => expect((await sandbox.stats()).tasks).toBeGreaterThan(tasks + count)
      await waitFor(look, { timeout: 20_000, interval: 5 })
    }
    const steps: [string, () => Promise<unknown>][] = [
      ['KEY_3 is not set', () => sluice('connection', 'use', 'live', '--key', 'second')],
      [
        'Sending with the key second',
        // Requests in flight with the first key have ended by then.
        () => untilMore(10).then(() => sandbox.admin('DELETE', '/keys/1')),
      ],
    ]
    const result = await spawnSluice(['task', source, '--concurrency', '2', '--json'], {
      workspace: folder,
      env,
      onStart: () => void untilMore(5).then(() => sluice('connection', 'use', 'live', '--key', 'third')),
      onStderr: (text) => {
        if (steps[0] !== undefined && text.includes(steps[0][0])) void steps.shift()?.[1]()
      },
    })
    expect(result.stderr).toMatch(
      /third, but KEY_3 is not set in this process; continuing with the previous key/,
    )
    expect(result.stderr).toContain('Sending with the key second of connection live from now on.')
    expect(result.code).toBe(0)
    expect(JSON.parse(result.stdout)).toMatchObject({ rows: { succeeded: 240 } })
    expect((await sandbox.admin('GET', '/keys')).body).toMatchObject({ keys: [{ key_id: 2 }] })
  })
})
