import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, it, onTestFinished } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { startRecordingService } from '../../helpers/recording-service.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

/** A service that can refuse the first request of each row, and the arguments that send three rows to it. */
async function openSending(refuses = false) {
  const folder = createTemporaryFolder()
  const targets = join(folder, 'targets')
  mkdirSync(targets)
  const service = await startRecordingService((_postId, arrivals) => (refuses && arrivals === 1 ? 400 : null))
  onTestFinished(() => service.close())
  const source = writeSource(folder, 'posts.csv', createRows(3))
  const workspace = join(folder, 'workspace')
  const sluice = (...args: string[]) => runInProcess(args, { workspace, env: { SLUICE_API_KEY: 'key' } })
  return { folder, targets, service, sent: [source, '--base-url', service.baseUrl], sluice }
}

const LOAD = ['--concurrency', '1', '--requests', '3']

describe('a target of --export that cannot be written', () => {
  it.each([
    ['task', [], 'results.csv'],
    ['load', LOAD, 'report.html'],
    ['load', LOAD, 'load.k6'],
  ])('ends %s %j before anything is sent or created', async (command, options, name) => {
    const { targets, service, sent, sluice } = await openSending()
    const result = await sluice(command, ...sent, ...options, '--export', join(targets, 'missing', name))
    expect(result).toMatchObject({ code: 2, stdout: '' })
    expect(result.stderr).toContain('its folder does not exist')
    expect(service.arrived.size).toBe(0)
    expect(readdirSync(targets)).toEqual([])
    expect((await sluice('runs', '--json')).stdout.trim()).toBe('[]')
  })

  it('prevents saving a plan', async () => {
    const { targets, service, sent, sluice } = await openSending()
    const plan = join(targets, 'posts.plan.json')
    for (const name of [join('missing', 'results.csv'), 'results.pdf']) {
      const result = await sluice('task', ...sent, '--save-plan', plan, '--export', join(targets, name))
      expect(result.code).toBe(2)
    }
    expect(readdirSync(targets)).toEqual([])
    expect(service.arrived.size).toBe(0)
  })

  it('ends plan, resume and retry before anything is sent', async () => {
    onlyInLongForm()
    const { targets, service, sent, sluice } = await openSending(true)
    const plan = join(targets, 'posts.plan.json')
    const file = join(targets, 'missing', 'results.csv')
    await sluice('task', ...sent, '--save-plan', plan, '--quiet', '--json')
    const before = [...service.arrived]
    expect(before).toHaveLength(3)
    for (const args of [
      ['plan', plan, '--trust-plan'],
      ['resume', 'latest'],
      ['retry', 'latest'],
    ]) {
      const result = await sluice(...args, '--export', file)
      expect(result).toMatchObject({ code: 2, stdout: '' })
      expect(result.stderr).toContain(`${file} cannot be written`)
    }
    expect([...service.arrived]).toEqual(before)
  })

  it('is not left behind by the check, and the old file stays until the run has ended', async () => {
    onlyInLongForm()
    const { targets, sent, sluice } = await openSending()
    const file = join(targets, 'results.csv')
    writeFileSync(file, 'before')
    const refused = await sluice('task', ...sent, '--export', file, '--map', 'user_id=nobody')
    expect(refused.code).toBe(2)
    expect(readdirSync(targets)).toEqual(['results.csv'])
    expect(readFileSync(file, 'utf8')).toBe('before')
    expect((await sluice('task', ...sent, '--export', file, '--overwrite')).code).toBe(0)
    expect(readdirSync(targets)).toEqual(['results.csv'])
    expect(readFileSync(file, 'utf8')).toContain('sluice_state')
  })
})

it('a target of --save-plan that cannot be written ends the command before anything is sent', async () => {
  const { targets, service, sent, sluice } = await openSending()
  const [plan, file] = [join(targets, 'missing', 'posts.plan.json'), join(targets, 'results.csv')]
  const result = await sluice('task', ...sent, '--save-plan', plan, '--export', file)
  expect(result).toMatchObject({ code: 2, stdout: '' })
  expect(service.arrived.size).toBe(0)
  expect(existsSync(file)).toBe(false)
})

it('a capacity search refuses --export, because it has no rows to write', async () => {
  const { targets, service, sent, sluice } = await openSending()
  const search = ['--find-capacity', '--rate', '1', '--threshold', 'p(99)<500', '--yes']
  const result = await sluice('load', ...sent, ...search, '--export', join(targets, 'report.html'))
  expect(result.code).toBe(2)
  expect(result.stderr).toContain('--export cannot be combined with --find-capacity')
  expect(service.arrived.size).toBe(0)
})

it.runIf(process.platform === 'linux')(
  'an export that runs out of disk space after everything was sent exits with 1 and says how to export again',
  async () => {
    onlyInLongForm()
    const { targets, service, sent, sluice } = await openSending()
    const file = join(targets, 'full disk.csv')
    symlinkSync('/dev/full', file)
    const result = await sluice('task', ...sent, '--export', file, '--json')
    expect(result.code).toBe(1)
    expect(service.arrived.size).toBe(3)
    const { run_id: runId, state } = JSON.parse(result.stdout)
    expect(state).toBe('completed')
    expect(result.stderr).toContain('the disk is full')
    expect(result.stderr).toMatch(new RegExp(`export ${runId} '.*full disk\\.csv'`))
    const again = await sluice('resume', 'latest', '--export', join(targets, 'results.csv'))
    expect(again.code).toBe(0)
  },
)
