import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createCertificate } from '../../helpers/certificates.ts'
import { startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createMemoryKeyring } from '../../helpers/memory-keyring.ts'
import { startProxy } from '../../helpers/proxy-server.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

const KEY = 'a-key-from-the-keyring-4711'

/**
 * The command line on a separate workspace; each command is a process that knows only the keyring and files.
 */
function openWorkspace() {
  const workspace = createTemporaryFolder()
  const keyring = createMemoryKeyring()
  const sluice = (args: string[], more: Partial<Parameters<typeof runInProcess>[1]> = {}) =>
    runInProcess(args, { workspace, lastingKeys: keyring, ...more })
  const source = writeSource(workspace, 'posts.csv', createRows(3))
  const change = (edit: (connection: Record<string, unknown>) => void) => {
    const file = join(workspace, 'connections.json')
    const content = JSON.parse(readFileSync(file, 'utf8'))
    edit(content.connections[0])
    writeFileSync(file, JSON.stringify(content))
  }
  return { workspace, keyring, sluice, source, change }
}

describe('connection key', () => {
  it('takes a key from standard input, stores it in the keyring only, and sends with it from then on', async () => {
    const service = await withSandbox({ apiKeys: [KEY] })
    const { workspace, keyring, sluice, source } = openWorkspace()
    await sluice(['connection', 'add', 'staging', '--base-url', service.baseUrl])
    const kept = await sluice(['connection', 'key', 'staging'], { stdin: `${KEY}\n` })
    expect(kept).toMatchObject({ code: 0, stderr: '' })
    expect(kept.stdout).toBe(
      `Kept the key default of staging in the keyring, for ${service.baseUrl} alone.\n`,
    )
    expect([...keyring.entries.values()].join()).toContain(KEY)
    expect((await sluice(['task', source, '--json'])).code).toBe(0)
    const shown = await sluice(['connection', 'show', 'staging', '--json'])
    expect(JSON.parse(shown.stdout).keys).toEqual([
      { label: 'default', env: 'SLUICE_API_KEY', kept_in: 'keyring', active: true, set: true },
    ])
    expect((await sluice(['connection', 'list'])).stdout).toMatch(/staging .+ default +keyring/)
    const files = readdirSync(workspace, { recursive: true, withFileTypes: true }).filter((one) =>
      one.isFile(),
    )
    for (const { parentPath, name } of files) {
      expect(readFileSync(join(parentPath, name), 'latin1'), name).not.toContain(KEY)
    }
  })

  it('asks for it on a terminal, under a label of its own', async () => {
    onlyInLongForm()
    const service = await withSandbox({ apiKeys: [KEY] })
    const { sluice, source } = openWorkspace()
    await sluice(['connection', 'add', 'staging', '--base-url', service.baseUrl])
    const asked: string[] = []
    const typed = await sluice(['connection', 'key', 'staging', '--label', 'second'], {
      ask: () => true,
      askSecret: (question) => {
        asked.push(question)
        return KEY
      },
    })
    expect(typed.code).toBe(0)
    expect(asked).toEqual(['API key second of staging:'])
    const used = await sluice(['connection', 'use', 'staging', '--key', 'second'])
    expect(used.stdout).toContain('with key second (in the keyring).')
    expect((await sluice(['task', source, '--json'])).code).toBe(0)
  })

  it('yields to the variable of the key, and says so', async () => {
    onlyInLongForm()
    const service = await withSandbox({ apiKeys: [KEY] })
    const { sluice, source } = openWorkspace()
    await sluice(['connection', 'add', 'staging', '--base-url', service.baseUrl])
    const env = { SLUICE_API_KEY: KEY }
    const kept = await sluice(['connection', 'key', 'staging'], { stdin: 'another-key', env })
    expect(kept.stderr).toContain('SLUICE_API_KEY is set in this shell and wins over the key in the keyring.')
    expect((await sluice(['task', source, '--json'], { env })).code).toBe(0)
    expect((await sluice(['task', source, '--json'])).code).toBe(1)
    const refused = await sluice(['task', source])
    expect(refused.stdout + refused.stderr).toContain('or replace a kept one with connection key')
  })

  it('sends a stored key to no other address, proxy or authority than it was typed for, whoever changes the file', async () => {
    const service = await withSandbox({ apiKeys: [KEY] })
    const seen: string[] = []
    const other = await startFaultServer({
      onRequest: ({ headers }, wire) => {
        seen.push(JSON.stringify(headers))
        wire.send(400, {})
      },
    })
    const proxy = await startProxy()
    const { workspace, sluice, source, change } = openWorkspace()
    const authorities = join(workspace, 'ca.pem')
    await sluice(['connection', 'add', 'staging', '--base-url', service.baseUrl])
    await sluice(['connection', 'key', 'staging'], { stdin: KEY })
    const changes: [string, unknown][] = [
      ['baseUrl', other.baseUrl],
      ['taskBaseUrl', other.baseUrl],
      ['proxy', { url: proxy.url }],
      ['tls', { caFile: authorities }],
    ]
    for (const [name, value] of changes) {
      let before: unknown
      change((connection) => {
        before = connection[name]
        connection[name] = value
      })
      const refused = await sluice(['task', source])
      expect(refused, name).toMatchObject({ code: 2 })
      expect(refused.stderr).toContain('was typed for another address, proxy or CA file')
      change((connection) => {
        connection[name] = before
      })
    }
    // Options and plans that leave the connection do not take its stored key along either.
    const elsewhere = await sluice(['task', source, '--connection', 'staging', '--base-url', other.baseUrl])
    expect(elsewhere.code).toBe(2)
    const proxied = await sluice(['task', source, '--connection', 'staging', '--proxy', proxy.url])
    expect(proxied.code).toBe(2)
    expect(seen).toEqual([])
    expect(proxy.requests).toEqual([])
    expect((await sluice(['task', source, '--json'])).code).toBe(0)
  })

  it('sends no stored key if another authority has replaced the one it was typed for', async () => {
    const { workspace, sluice, source } = openWorkspace()
    const authorities = join(workspace, 'ca.pem')
    const [one, another] = await Promise.all([1, 2].map(() => createCertificate({ ip: '127.0.0.1' })))
    writeFileSync(authorities, one?.cert ?? '')
    await sluice(['connection', 'add', 'live', '--base-url', 'https://127.0.0.1:9', '--ca', authorities])
    await sluice(['connection', 'key', 'live'], { stdin: KEY })
    writeFileSync(authorities, another?.cert ?? '')
    expect((await sluice(['task', source])).stderr).toContain(
      'was typed for another address, proxy or CA file',
    )
  })

  it('goes with a plan that names its connection, without a question about trust', async () => {
    onlyInLongForm()
    const service = await withSandbox({ apiKeys: [KEY] })
    const { workspace, sluice, change } = openWorkspace()
    await sluice(['connection', 'add', 'staging', '--base-url', service.baseUrl])
    await sluice(['connection', 'key', 'staging'], { stdin: KEY })
    // As a window adds a connection: its key has no variable.
    change((connection) => {
      const [{ env: _variable, ...key }] = connection['keys'] as [Record<string, unknown>]
      connection['keys'] = [key]
    })
    const plan = {
      connection: { name: 'staging' },
      source: { path: 'posts.csv' },
      operation: { kind: 'task' },
    }
    const file = writeSource(workspace, 'posts.sluiceplan', JSON.stringify(plan))
    expect(await sluice(['plan', file, '--json'])).toMatchObject({ code: 0 })
  })

  it('goes to an https service through the system proxy, which sees neither the key nor the content', async () => {
    onlyInLongForm()
    const tls = await createCertificate({ name: 'api.service.test' })
    const service = await startFaultServer({
      tls,
      onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
    })
    const proxy = await startProxy({ leadsTo: service.port, credentials: 'clerk:pw-of-proxy' })
    vi.stubEnv('HTTPS_PROXY', proxy.url.replace('//', '//clerk:pw-of-proxy@'))
    onTestFinished(() => {
      vi.unstubAllEnvs()
    })
    const { workspace, sluice, source } = openWorkspace()
    const authorities = join(workspace, 'ca.pem')
    writeFileSync(authorities, tls.cert)
    const way = ['--base-url', 'https://api.service.test', '--ca', authorities]
    await sluice(['connection', 'add', 'live', ...way])
    await sluice(['connection', 'key', 'live'], { stdin: KEY })
    const sent = await sluice(['task', source, '--json'])
    expect(sent).toMatchObject({ code: 0, stderr: expect.not.stringContaining('pw-of-proxy') })
    const rows = service.requests.length
    expect(await sluice(['load', source, '--concurrency', '2', '--requests', '20'])).toMatchObject({
      code: 0,
    })
    // Row 1 goes first.
    expect(service.requests).toHaveLength(rows + 21)
    for (const { headers } of service.requests) expect(headers['authorization']).toBe(`token ${KEY}`)
    expect(new Set(proxy.requests.map(({ method, target }) => `${method} ${target}`))).toEqual(
      new Set(['CONNECT api.service.test:443']),
    )
    expect(JSON.stringify(proxy.requests)).not.toContain(KEY)
    // No proxy is used if the person chose none, and the name is then unknown.
    const asked = proxy.requests.length
    expect((await sluice(['task', source, '--no-proxy', '--retries', '0'])).code).not.toBe(0)
    expect(proxy.requests).toHaveLength(asked)
  })

  it("sends no key that was stored without the system's authorities once these are trusted", async () => {
    const service = await withSandbox({ apiKeys: [KEY] })
    const { sluice, source } = openWorkspace()
    await sluice(['connection', 'add', 'live', '--base-url', service.baseUrl, '--no-system-ca'])
    await sluice(['connection', 'key', 'live'], { stdin: KEY })
    expect(await sluice(['task', source, '--system-ca'])).toMatchObject({ code: 2 })
    await sluice(['connection', 'set', 'live', '--system-ca'])
    expect((await sluice(['task', source])).stderr).toContain(
      'was typed for another address, proxy or CA file',
    )
    await sluice(['connection', 'set', 'live', '--no-system-ca'])
    expect((await sluice(['task', source, '--json'])).code).toBe(0)
  })

  it('is removed with --forget, with its label and with its connection', async () => {
    const { keyring, sluice } = openWorkspace()
    await sluice(['connection', 'add', 'staging', '--base-url', 'https://api.example.com'])
    for (const label of ['default', 'second', 'third']) {
      await sluice(['connection', 'key', 'staging', '--label', label], { stdin: KEY })
    }
    expect(keyring.entries.size).toBe(3)
    const forgotten = await sluice(['connection', 'key', 'staging', '--forget'])
    expect(forgotten.stdout).toBe('Removed the key default of staging from the keyring.\n')
    expect((await sluice(['connection', 'set', 'staging', '--remove-key', 'second'])).code).toBe(0)
    expect([...keyring.entries.keys()].join()).toMatch(/^staging\/third in /)
    keyring.trouble = 'the keyring is locked'
    const locked = await sluice(['connection', 'remove', 'staging'])
    expect(locked).toMatchObject({ code: 2 })
    expect(locked.stderr).toContain('could not be removed from the keyring: the keyring is locked')
    keyring.trouble = null
    expect((await sluice(['connection', 'remove', 'staging'])).code).toBe(0)
    expect(keyring.entries.size).toBe(0)
  })

  it('is refused if nothing is typed', async () => {
    const { sluice } = openWorkspace()
    await sluice(['connection', 'add', 'staging', '--base-url', 'https://api.example.com'])
    expect(await sluice(['connection', 'key', 'staging'])).toMatchObject({ code: 2, stdout: '' })
    expect((await sluice(['connection', 'key', 'staging'], { ask: () => true })).stderr).toContain(
      'no key was typed; nothing was changed',
    )
  })

  it.each([
    ['is not kept', 'unlock prompt was dismissed', `the key was not kept: unlock prompt was dismissed`],
    ['holds what no header can carry', null, 'contains whitespace or non-ASCII characters'],
  ])('is refused if it %s, and never repeated', async (_what, trouble, message) => {
    const { keyring, sluice } = openWorkspace()
    await sluice(['connection', 'add', 'staging', '--base-url', 'https://api.example.com'])
    keyring.trouble = trouble
    const stdin = trouble === null ? 'hunter2 hunter2' : 'hunter2'
    const refused = await sluice(['connection', 'key', 'staging'], { stdin })
    expect(refused).toMatchObject({ code: 2, stdout: '' })
    expect(refused.stderr).toContain(message)
    expect(refused.stderr).not.toContain('hunter2')
    expect(JSON.parse((await sluice(['connection', 'show', 'staging', '--json'])).stdout).keys).toMatchObject(
      [{ kept_in: null, set: false }],
    )
  })
})
