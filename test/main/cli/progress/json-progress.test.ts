import { describe, expect, it } from 'vitest'
import { createJsonReporter } from '../../../../src/main/cli/progress/json-progress.ts'
import { withSandbox } from '../../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { runInProcess } from '../run-in-process.ts'
import { createRows, writeSource } from '../write-source.ts'
import { createLoadSnapshot } from './load-snapshot.ts'

function createReporter() {
  const lines: Record<string, unknown>[] = []
  const clock = { nowMs: 0 }
  const writeLine = async (text = '') => void lines.push(JSON.parse(text))
  const err = { writeLine, write: async () => {}, isOpen: () => true, finish: async () => null }
  return { lines, clock, reporter: createJsonReporter({ err }, () => clock.nowMs) }
}

describe('progress for another program', () => {
  it('is a line per second and per change of phase, without repeating one', () => {
    const { lines, clock, reporter } = createReporter()
    const at = (nowMs: number, phase: 'running' | 'draining' | 'ended') => {
      clock.nowMs = nowMs
      reporter.update({ ...createLoadSnapshot(), phase })
    }
    at(0, 'running')
    at(999, 'running')
    at(1_000, 'running')
    at(1_100, 'draining')
    at(1_200, 'draining')
    reporter.say('Stopping.')
    reporter.finish()
    reporter.finish()
    expect(lines.map(({ type, phase, time }) => [type, phase, time])).toEqual([
      ['progress', 'running', '1970-01-01T00:00:00.000Z'],
      ['progress', 'running', '1970-01-01T00:00:01.000Z'],
      ['progress', 'draining', '1970-01-01T00:00:01.100Z'],
      ['message', undefined, '1970-01-01T00:00:01.200Z'],
      ['progress', 'draining', '1970-01-01T00:00:01.200Z'],
    ])
  })

  it('ends the JSON lines of a run with all rows settled', async () => {
    const sandbox = await withSandbox()
    const folder = createTemporaryFolder()
    const source = writeSource(folder, 'posts.csv', createRows(6))
    const ran = await runInProcess(
      ['task', source, '--base-url', sandbox.baseUrl, '--progress', 'json', '--json'],
      { workspace: folder, env: { SLUICE_API_KEY: sandbox.key } },
    )
    expect(ran.code).toBe(0)
    const lines = ran.stderr
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line))
    const { run_id: runId } = JSON.parse(ran.stdout)
    expect(lines.at(-1)).toMatchObject({
      type: 'progress',
      phase: 'ended',
      run_id: runId,
      settled: 6,
      sendable: 6,
      stop_reason: null,
      rows: { read: 6, succeeded: 6 },
    })
  })

  it('is the only output on stderr with --quiet', async () => {
    const sandbox = await withSandbox()
    const folder = createTemporaryFolder()
    const source = writeSource(folder, 'posts.csv', createRows(6))
    const ran = await runInProcess(
      ['task', source, '--base-url', sandbox.baseUrl, '--progress', 'json', '--quiet'],
      { workspace: folder, env: { SLUICE_API_KEY: sandbox.key } },
    )
    expect(ran.code).toBe(0)
    const types = ran.stderr
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).type)
    expect(new Set(types)).toEqual(new Set(['progress']))
  })
})
