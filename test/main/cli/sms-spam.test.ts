import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Papa from 'papaparse'
import { describe, expect, inject, it } from 'vitest'
import { listRunIds } from '../../../src/main/engine/workspace/workspace-files.ts'
import { expectFaultless, recordService } from '../../helpers/history/expect-faultless.ts'
import { createRecording } from '../../helpers/history/recording.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { spawnSluice } from './spawn-sluice.ts'
import { writeSource } from './write-source.ts'

const whole = fileURLToPath(new URL('../../../../shared/data/sms-spam.csv', import.meta.url))
const isAbsent = !existsSync(whole)
if (isAbsent) {
  process.stderr.write(`sms-spam.csv is not at ${whole}: the tests that read it are skipped.\n`)
}

const ROWS = inject('isLong') ? 5_572 : 1_000

/** The file, or its first rows as they are there, one of which has a line break in a cell. */
function chooseSource(folder: string): string {
  if (inject('isLong')) return whole
  const lines = readFileSync(whole, 'utf8')
    .split('\r\n')
    .slice(0, ROWS + 1)
  return writeSource(folder, 'sms-spam.csv', `${lines.join('\r\n')}\r\n`)
}

/** The rows as papaparse gives them, of which the last, empty line is none. */
function readRows(file: string): string[][] {
  const text = readFileSync(file, 'utf8').replace(/^\ufeff/, '')
  const { data } = Papa.parse<string[]>(text, { newline: '\r\n', delimiter: ',' })
  return data.slice(0, -1)
}

const MAPPING = ['--no-header', '--map', 'text_data=2', '--set', 'user_id=sms', '--concurrency', '16']

describe.skipIf(isAbsent)('real messages', () => {
  it('arrive as a CSV reader gives them, and come back from the export cell by cell', async () => {
    const folder = createTemporaryFolder()
    const source = chooseSource(folder)
    const sandbox = await withSandbox()
    const env = { SLUICE_API_KEY: sandbox.key }
    const recording = createRecording()
    const baseUrl = await recordService(sandbox.baseUrl, recording)
    const result = await spawnSluice(['task', source, ...MAPPING, '--base-url', baseUrl, '--json'], {
      workspace: folder,
      env,
    })
    const summary = JSON.parse(result.stdout)
    const rows = readRows(source)
    expect(rows).toHaveLength(ROWS)
    expect(summary.rows.read).toBe(ROWS)
    const tasks = await sandbox.tasks()
    expect(new Set(tasks.map((task) => task.post_id)).size).toBe(tasks.length)
    const arrived = tasks.map((task) => task.request?.['text_data']).sort()
    expect(arrived).toEqual(rows.map((cells) => cells[1]).sort())
    expect(result.code).toBe(0)
    const judged = expectFaultless(folder, listRunIds(folder), recording)
    expect(judged).toEqual({ ok: ROWS, info: 0, fail: 0 })

    const file = join(folder, 'lossless.csv')
    const exported = await spawnSluice(['export', 'latest', file, '--lossless'], { workspace: folder })
    expect(exported.code).toBe(0)
    const [header = [], ...cells] = readRows(file)
    expect(cells).toHaveLength(ROWS)
    const added = header.indexOf('sluice_row')
    for (const [index, row] of rows.entries()) {
      const back = cells[index]?.slice(0, added) ?? []
      expect(back.slice(0, row.length)).toEqual(row)
      expect(back.slice(row.length).join('')).toBe('')
    }
  })

  it('all succeed although the service fails now and then, and nothing is sent after a success', async () => {
    const folder = createTemporaryFolder()
    const source = chooseSource(folder)
    const sandbox = await withSandbox({
      faults: ['5xx=3%', '429=3%,retry-after=0', 'reset=1%'],
      seed: 'sms',
    })
    const recording = createRecording()
    const baseUrl = await recordService(sandbox.baseUrl, recording)
    const result = await spawnSluice(
      [
        ...['task', source, ...MAPPING, '--base-url', baseUrl, '--retries', '6', '--json'],
        // A reset may come after the task was stored: then the service says that it has the post already.
        ...['--delivered-code', 'DUPLICATE_POST_ID'],
      ],
      { workspace: folder, env: { SLUICE_API_KEY: sandbox.key } },
    )
    const summary = JSON.parse(result.stdout)
    expect(summary.rows).toMatchObject({ read: ROWS, succeeded: ROWS })
    expect(result.code).toBe(0)
    const { outcomes, tasks, requests } = await sandbox.stats()
    expect(tasks).toBe(ROWS)
    expect(requests).toBe(summary.requests.sent)
    const duplicates = outcomes['rejected:DUPLICATE_POST_ID'] ?? 0
    // Each post ended with one success: accepted, or known already after a reset that hid the acceptance.
    expect((outcomes['accepted'] ?? 0) + duplicates).toBe(ROWS)
    expect(duplicates).toBeLessThanOrEqual(outcomes['fault:reset-after'] ?? 0)
    expect(summary.retry_after.answers).toBe(outcomes['fault:429'] ?? 0)
    expect(summary.requests.retried).toBe(requests - ROWS)
    const judged = expectFaultless(folder, listRunIds(folder), recording)
    expect(judged).toEqual({ ok: ROWS, info: 0, fail: 0 })
  })
})
