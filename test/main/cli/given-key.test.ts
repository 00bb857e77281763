import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readGivenKey } from '../../../src/main/cli/session/given-key.ts'
import { quoteForShell } from '../../../src/shared/shell-command.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createMemoryKeyring } from '../../helpers/memory-keyring.ts'
import { startRecordingService } from '../../helpers/recording-service.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { createKeptContext, runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

const KEY = 'a-key-that-was-given-4711'

/** A service that knows one key, a source, and an empty workspace. */
async function openService() {
  const service = await withSandbox({ apiKeys: [KEY] })
  const folder = createTemporaryFolder()
  const workspace = join(folder, 'workspace')
  const source = writeSource(folder, 'posts.csv', createRows(3))
  const write = (name: string, text: string) => {
    const file = join(folder, name)
    writeFileSync(file, text)
    return file
  }
  const sluice = (args: string[], more: Partial<Parameters<typeof runInProcess>[1]> = {}) =>
    runInProcess(args, { workspace, ...more })
  return { ...service, folder, workspace, source, write, sluice }
}

/** A command that runs a Node script. */
function toCommand(script: string, ...args: string[]): string {
  return [process.execPath, script, ...args].map(quoteForShell).join(' ')
}

/** Whether a process is still running; one that ended but was not waited for does not count. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !/^State:\s+Z/m.test(
      existsSync(`/proc/${pid}/status`) ? readFileSync(`/proc/${pid}/status`, 'utf8') : '',
    )
  } catch {
    return false
  }
}

function listFiles(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
}

describe('--api-key-file', () => {
  it('sends with the key in the file, which is in no other file and no output', async () => {
    const { baseUrl, workspace, source, write, sluice } = await openService()
    const file = write('key.txt', `${KEY}\n`)
    const ran = await sluice(['task', source, '--base-url', baseUrl, '--api-key-file', file])
    expect(ran.code).toBe(0)
    expect(ran.stdout + ran.stderr).not.toContain(KEY)
    for (const one of listFiles(workspace)) expect(readFileSync(one, 'latin1'), one).not.toContain(KEY)
  })

  it('says what is wrong with the key file without showing its content', async () => {
    const { baseUrl, folder, source, write, sluice } = await openService()
    const send = (file: string) => sluice(['task', source, '--base-url', baseUrl, '--api-key-file', file])
    const missing = await send(join(folder, 'missing.txt'))
    expect(missing.code).toBe(2)
    expect(missing.stderr).toContain('the API key cannot be read from')
    expect((await send(write('empty.txt', ' \n'))).stderr).toMatch(/the API key in .+empty\.txt is empty/)
    const broken = await send(write('broken.txt', `${KEY}\nanother line`))
    expect(broken.stderr).toMatch(/the API key in .+broken\.txt contains whitespace/)
    expect(broken.stderr).not.toContain(KEY)
  })

  it('has to be given again to resume, and then takes precedence over a variable', async () => {
    onlyInLongForm()
    const { baseUrl, source, write, sluice } = await openService()
    const [wrong, right] = [write('wrong.txt', 'not-the-key'), write('right.txt', KEY)]
    const stopped = await sluice(['task', source, '--base-url', baseUrl, '--api-key-file', wrong])
    expect(stopped.code).toBe(1)
    const env = { SLUICE_API_KEY: KEY }
    const again = await sluice(['retry', 'latest'], { env })
    expect(again.code).toBe(2)
    expect(again.stderr).toContain(
      `the API key for ${baseUrl} is missing: it was read from a file, and keys and their files are not stored`,
    )
    expect(again.stderr).toContain('Add --api-key-file FILE again')
    const other = { SLUICE_API_KEY: 'not-the-key' }
    expect((await sluice(['retry', 'latest', '--api-key-file', right], { env: other })).code).toBe(0)
  })

  it("is reported if it differs from the run's key, with --quiet, too", async () => {
    const service = await startRecordingService((_postId, arrivals) => (arrivals === 1 ? 400 : null))
    onTestFinished(() => service.close())
    const { source, write, sluice } = await openService()
    const [own, other] = [write('own.txt', KEY), write('other.txt', 'key-of-another-project')]
    const readSessions = async () => JSON.parse((await sluice(['show', 'latest', '--json'])).stdout).sessions
    const said = 'was sent with another key than this one'
    const send = (file: string) =>
      sluice(['task', source, '--base-url', service.baseUrl, '--api-key-file', file])
    await send(own)
    const again = await sluice(['retry', 'latest', '--api-key-file', own])
    expect(again.stderr).not.toContain(said)
    service.arrived.clear()
    await send(own)
    const elsewhere = await sluice(['retry', 'latest', '--api-key-file', other, '--quiet'])
    expect(elsewhere.code).toBe(0)
    expect(elsewhere.stderr).toContain(said)
    const sessions = await readSessions()
    expect(sessions[0]).not.toHaveProperty('other_key')
    expect(sessions[1]).toMatchObject({ kind: 'retry', other_key: true })
  })

  it('is not combined with another source of the key', async () => {
    const { baseUrl, source, write, sluice } = await openService()
    const file = write('key.txt', KEY)
    const args = ['task', source, '--base-url', baseUrl, '--api-key-file', file]
    const both = await sluice([...args, '--api-key-env', 'OTHER_KEY'])
    expect(both.code).toBe(2)
    expect(both.stderr).toContain('--api-key-env and --api-key-file cannot be combined')
  })

  it('does not make an unknown plan trusted', async () => {
    const { baseUrl, folder, source, write, sluice } = await openService()
    const file = write('key.txt', KEY)
    const plan = join(folder, 'posts.plan.json')
    const given = ['--base-url', baseUrl, '--api-key-file', file]
    expect((await sluice(['task', source, ...given, '--dry-run', '--save-plan', plan])).code).toBe(0)
    expect(JSON.parse(readFileSync(plan, 'utf8')).connection).toMatchObject({ keyFrom: 'file' })
    const refused = await sluice(['plan', plan, '--api-key-file', file])
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain(`the API key of --api-key-file to ${baseUrl}`)
    expect((await sluice(['plan', plan, '--api-key-file', file, '--trust-plan'])).code).toBe(0)
  })

  it("takes precedence over a stored connection's key, as --api-key-env does", async () => {
    onlyInLongForm()
    const { baseUrl, source, write, sluice } = await openService()
    const lastingKeys = createMemoryKeyring()
    await sluice(['connection', 'add', 'staging', '--base-url', baseUrl], { lastingKeys })
    await sluice(['connection', 'key', 'staging', '--label', 'typed'], { lastingKeys, stdin: 'not-the-key' })
    await sluice(['connection', 'use', 'staging', '--key', 'typed'], { lastingKeys })
    const file = write('key.txt', KEY)
    expect((await sluice(['task', source, '--api-key-file', file], { lastingKeys })).code).toBe(0)
    const env = { OTHER_KEY: KEY }
    const byVariable = await sluice(
      ['task', source, '--set', 'post_id={{run}}-{{row}}', '--api-key-env', 'OTHER_KEY'],
      { lastingKeys, env },
    )
    expect(byVariable.code).toBe(0)
  })
})

describe('--api-key-command', () => {
  it('sends with the key that the command prints, and shows its stderr without the key', async () => {
    onlyInLongForm()
    const { baseUrl, workspace, source, write, sluice } = await openService()
    const script = write(
      'print-key.cjs',
      `const key = require('node:fs').readFileSync(process.argv[2], 'utf8')
      console.error('unlocked the store of ' + key.trim())
      console.log(key)`,
    )
    const command = toCommand(script, write('a key.txt', KEY))
    const ran = await sluice(['task', source, '--base-url', baseUrl, '--api-key-command', command])
    expect(ran.code).toBe(0)
    expect(ran.stderr).toContain('unlocked the store of')
    expect(ran.stdout + ran.stderr).not.toContain(KEY)
    for (const one of listFiles(workspace)) expect(readFileSync(one, 'latin1'), one).not.toContain(KEY)
  })

  it('is run without a shell, and refused if it needs one', async () => {
    const { baseUrl, folder, source, write, sluice } = await openService()
    const send = (command: string) =>
      sluice(['task', source, '--base-url', baseUrl, '--api-key-command', command])
    const marker = join(folder, 'marker')
    const script = write(
      'print.cjs',
      `require('node:fs').writeFileSync('${join(folder, 'args.json')}', JSON.stringify(process.argv.slice(2)))
      console.log('${KEY}')`,
    )
    for (const sign of ['; ', ' && ', ' | ', ' > ']) {
      const refused = await send(`${toCommand(script)}${sign}${quoteForShell(marker)}`)
      expect(refused.code).toBe(2)
      expect(refused.stderr).toContain('which needs a shell')
    }
    const hostile = [`; touch ${marker}`, '$(id)', 'it\'s "quoted"']
    expect((await send(toCommand(script, ...hostile))).code).toBe(0)
    expect(JSON.parse(readFileSync(join(folder, 'args.json'), 'utf8'))).toEqual(hostile)
    expect(existsSync(marker)).toBe(false)
  })

  it('ends the run before anything is sent if it fails, naming only the program', async () => {
    const { baseUrl, source, write, sluice } = await openService()
    const send = (command: string) =>
      sluice(['task', source, '--base-url', baseUrl, '--api-key-command', command])
    const script = write('fail.cjs', `console.log('${KEY}'); console.error('no ${KEY}'); process.exit(3)`)
    const failed = await send(toCommand(script, 'a-secret-argument'))
    expect(failed.code).toBe(2)
    expect(failed.stderr).toContain(
      `the command for the API key, ${process.execPath}, ended with exit code 3`,
    )
    expect(failed.stderr).not.toContain(KEY)
    expect(failed.stderr).not.toContain('a-secret-argument')
    expect((await send('sluice-has-no-such-program')).stderr).toContain('cannot be started')
    expect((await send(toCommand(write('silent.cjs', '')))).stderr).toContain('printed is empty')
    expect((await sluice(['runs', '--json'])).stdout).toBe('[]\n')
  })

  it('shows each line of stderr as it comes, and lines that may contain the key at the end, without it', async () => {
    const { folder, write } = await openService()
    const { context, stderr } = createKeptContext({ env: { SLUICE_WORKSPACE: folder } })
    // The command continues once the line was seen; if the line came only at the end, it would never end.
    const go = join(folder, 'go')
    const script = write(
      'login.cjs',
      `const { existsSync } = require('node:fs')
      console.error('key so far: ${KEY}')
      console.error('Open https://login.example/device-0123456789abcdef and enter WDJB-MJHT')
      const timer = setInterval(() => {
        if (!existsSync(process.argv[2])) return
        clearInterval(timer)
        console.log('${KEY}')
      }, 10)`,
    )
    const given = readGivenKey(
      context,
      { apiKeyCommand: [process.execPath, script, go] },
      { baseUrl: 'http://127.0.0.1:1' },
    )
    await expect
      .poll(stderr, { timeout: 50_000 })
      .toContain('Open https://login.example/device-0123456789abcdef')
    expect(stderr()).not.toContain('so far')
    writeFileSync(go, '')
    await given
    expect(stderr()).toContain('key so far: [redacted]')
    expect(stderr()).not.toContain(KEY)
  })

  it.skipIf(process.platform === 'win32')('also ends the processes that a command started', async () => {
    onlyInLongForm()
    const { context, stderr } = createKeptContext({ env: { SLUICE_WORKSPACE: createTemporaryFolder() } })
    const given = readGivenKey(
      context,
      { apiKeyCommand: ['sh', '-c', 'sleep 600 & echo "started $!" >&2; wait'] },
      { baseUrl: 'http://127.0.0.1:1' },
      { commandMaxMs: 5_000 },
    )
    await expect(given).rejects.toThrow('did not end within 5 s')
    const pid = Number(/started (\d+)/.exec(stderr())?.[1])
    expect(pid).toBeGreaterThan(0)
    await expect.poll(() => isAlive(pid), { timeout: 50_000 }).toBe(false)
  })

  it.skipIf(process.platform === 'win32')(
    'uses the key of a command that has ended, although a process it started goes on',
    async () => {
      onlyInLongForm()
      const { context, stderr } = createKeptContext({ env: { SLUICE_WORKSPACE: createTemporaryFolder() } })
      const given = readGivenKey(
        context,
        { apiKeyCommand: ['sh', '-c', `sleep 600 & echo "started $!" >&2; echo ${KEY}`] },
        { baseUrl: 'http://127.0.0.1:1' },
        { commandMaxMs: 40_000 },
      )
      const key = await given.finally(() => process.kill(Number(/started (\d+)/.exec(stderr())?.[1])))
      expect(key).not.toBeNull()
    },
  )

  it('holds back each line that may contain the key until the key can be removed', async () => {
    const { folder, write } = await openService()
    const { context, stderr } = createKeptContext({ env: { SLUICE_WORKSPACE: folder } })
    const key = 'a1b2c3d4e5f6/g7h8i9j0k1l2/m3n4'
    const script = write(
      'verbose.cjs',
      `console.error('read ${key}')
      console.error('GET https://me:${key}@vault.example/v1')
      console.error('x'.repeat(16_290))
      console.error('cut ${key}')
      console.log('${key}')`,
    )
    await readGivenKey(
      context,
      { apiKeyCommand: [process.execPath, script] },
      { baseUrl: 'http://127.0.0.1:1' },
    )
    expect(stderr()).toContain('read [redacted]')
    expect(stderr()).not.toContain('a1b2c3')
  })

  it('gives up on a command that does not end', async () => {
    const { folder, write } = await openService()
    const { context } = createKeptContext({ env: { SLUICE_WORKSPACE: folder } })
    const script = write('wait.cjs', 'setInterval(() => {}, 1000)')
    const given = readGivenKey(
      context,
      { apiKeyCommand: [process.execPath, script] },
      { baseUrl: 'http://127.0.0.1:1' },
      { commandMaxMs: 50 },
    )
    await expect(given).rejects.toThrow('did not end within 50 ms')
  })
})
