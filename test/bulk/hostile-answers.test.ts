import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, inject, test } from 'vitest'
import { listRunIds } from '../../src/main/engine/workspace/workspace-files.ts'
import { expectFaultless } from '../helpers/history/expect-faultless.ts'
import type { HostileResult, HostileTask } from '../helpers/odd-server/hostile-child.ts'
import { startOddServer } from '../helpers/odd-server/start-odd-server.ts'
import { openTestFolder } from '../helpers/test-folder.ts'

const ROWS = Number(process.env['SLUICE_HOSTILE_ROWS'] ?? (inject('isLong') ? 5_000 : 40))
const SEED = Number(process.env['SLUICE_HOSTILE_SEED'] ?? 20_261_122)
const IN_FLIGHT = 64
const MEMORY_MAX_MB = 512

const folder = openTestFolder()

test(`${ROWS} hostile answers, ${IN_FLIGHT} in flight, leave every row in a state and use at most ${MEMORY_MAX_MB} MB of memory`, async () => {
  const source = join(folder, 'source.csv')
  const rows = Array.from({ length: ROWS }, (_, i) => `text ${i + 1},user\n`)
  writeFileSync(source, `text_data,user_id\n${rows.join('')}`)
  const { baseUrl, readRecording } = await startOddServer({ oddity: { kind: 'hostile', seed: SEED } })
  const task: HostileTask = {
    workspace: join(folder, 'workspace'),
    source,
    baseUrl,
    inFlight: IN_FLIGHT,
    timeoutMs: 1_000,
  }
  const child = spawn(
    process.execPath,
    [
      `--max-old-space-size=${MEMORY_MAX_MB}`,
      fileURLToPath(new URL('../helpers/odd-server/hostile-child.ts', import.meta.url)),
      JSON.stringify(task),
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const [output, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')])
  expect(code).toBe(0)
  const { summary, peakBytes, told } = JSON.parse(output) as HostileResult
  if (ROWS > 1_000) console.log({ ...summary.rows, peakMb: Math.round(peakBytes / 1e6) }, summary.errors)
  const { read, succeeded, rejected, failed, unknown } = summary.rows
  expect(read).toBe(ROWS)
  expect(succeeded + rejected + failed + unknown).toBe(ROWS)
  expect(summary.state).toBe('completed')
  expect(succeeded).toBeGreaterThan(0)
  expect(told.filter(([postId, taskId]) => taskId !== `task-${postId}`)).toEqual([])
  expect(peakBytes).toBeLessThan(MEMORY_MAX_MB * 1024 * 1024)
  const recording = { events: await readRecording() }
  const judged = expectFaultless(task.workspace, listRunIds(task.workspace), recording)
  expect(judged).toEqual({ ok: succeeded + rejected, info: unknown, fail: failed })
}, 600_000)
