import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'

async function open() {
  const workspace = createTemporaryFolder()
  const sandbox = await withSandbox()
  const env = { SLUICE_API_KEY: sandbox.key }
  const sluice = (args: string[], stdin: string | Uint8Array = '') =>
    runInProcess(args, { workspace, env, stdin })
  const stored = join(workspace, 'stdin')
  const listStored = () => (existsSync(stored) ? readdirSync(stored) : [])
  return { workspace, base: ['--base-url', sandbox.baseUrl, '--quiet'], sluice, stored, listStored }
}

describe('a source from stdin', () => {
  it('is stored with the run, so that it can be read again, and deleted with it', async () => {
    const { base, sluice, stored, listStored } = await open()
    const rows = gzipSync('{"text_data":"hello","user_id":"u1"}\n{"text_data":"there","user_id":"u2"}\n')
    const sent = await sluice(['task', '-', '--format', 'jsonl', '--json', ...base], rows)
    expect(sent.code).toBe(0)
    const { run_id, name, source, rows: counts } = JSON.parse(sent.stdout)
    expect(counts).toMatchObject({ read: 2, succeeded: 2 })
    expect(name).toBe('stdin.jsonl')
    expect(readFileSync(source)).toEqual(rows)
    expect(statSync(source).mode & 0o077).toBe(0)
    expect(source).toBe(join(stored, listStored()[0] ?? '', 'stdin.jsonl'))
    await sluice(['delete', run_id, '--yes'])
    expect(listStored()).toEqual([])
  })

  it('leaves nothing behind if nothing was sent', async () => {
    onlyInLongForm()
    const { base, sluice, listStored } = await open()
    const empty = await sluice(['task', '-', '--format', 'csv', ...base], '')
    expect(empty).toMatchObject({ code: 2, stderr: expect.stringContaining('found an empty file') })
    const dry = ['task', '-', '--format', 'csv', '--dry-run', ...base]
    expect((await sluice(dry, 'text_data,user_id\nhello,u1\n')).code).toBe(0)
    expect(listStored()).toEqual([])
  })

  it('needs its format, and cannot be named by a plan', async () => {
    const { base, sluice, listStored } = await open()
    const unnamed = await sluice(['task', '-', ...base], 'text_data,user_id\nhello,u1\n')
    expect(unnamed).toMatchObject({ code: 2, stderr: expect.stringContaining('- (stdin) needs --format') })
    const plan = ['--format', 'csv', '--save-plan', 'posts.plan.json']
    expect((await sluice(['task', '-', ...plan, ...base])).stderr).toContain(
      '--save-plan cannot be used with -',
    )
    expect(listStored()).toEqual([])
  })
})
