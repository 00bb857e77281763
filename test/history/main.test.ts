import { execFile } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { checkHistory } from '../helpers/history/check-history.ts'
import { createRecording, readRecording } from '../helpers/history/recording.ts'
import { startRecordingProxy } from '../helpers/history/recording-proxy.ts'
import { createInProcessRuns, RUN_KEY } from '../helpers/in-process-runs.ts'
import { withSandbox } from '../helpers/sandbox.ts'
import { createRunPlan, openTestFolder } from '../helpers/test-folder.ts'

const folder = openTestFolder()

async function check(...args: string[]) {
  let text = ''
  const output = { write: (piece: string) => (text += piece) }
  const code = await checkHistory(args, { stdout: output, stderr: output })
  return { code, text }
}

/** Fewer rows than a run needs to stop itself over the share of refused ones, which is random here. */
const ROWS = 45
const CLEAN = `${ROWS} rows: ${ROWS} ok, 0 info, 0 fail`

test('a run through the proxy is judged by its id: no faults, then the planted ones, each in a sentence', async () => {
  const faults = ['500=10%,tries=1', 'truncated=10%,tries=1']
  const sandbox = await withSandbox({ apiKeys: [RUN_KEY], faults })
  const file = join(folder, 'recording.jsonl')
  const proxy = await startRecordingProxy({ to: sandbox.baseUrl, recording: createRecording(file) })
  const workspace = join(folder, 'workspace')
  const { runId, ended } = createInProcessRuns(workspace).start(createRunPlan(folder, ROWS, proxy.baseUrl))
  await ended
  await proxy.close()
  const clean = { code: 0, text: `${CLEAN}\nno faults\n` }
  expect(await check(runId, file, '--workspace', workspace)).toEqual(clean)
  const events = readRecording(file)
  expect(JSON.stringify(events)).not.toContain(RUN_KEY)
  const changed = join(folder, 'changed.jsonl')
  const of = (row: number) => `${runId}-${row}`
  const lines = events.flatMap((event) => {
    if (event.ids.includes(of(1))) return [event, event]
    if (event.kind === 'arrival' && event.ids.includes(of(2))) return [{ ...event, answer: '{}' }]
    return event.ids.includes(of(3)) ? [] : [event]
  })
  writeFileSync(changed, lines.map((event) => `${JSON.stringify(event)}\n`).join(''))
  const { code, text } = await check(runId, changed, '--workspace', workspace)
  expect({ code, lines: text.split('\n') }).toEqual({
    code: 1,
    lines: [
      CLEAN,
      '3 faults:',
      expect.stringMatching(
        `^  sent-twice      Record 1 \\("${of(1)}"\\): the journal has .*, the service got .*\\.$`,
      ),
      expect.stringMatching(
        `^  foreign-answer  Record 2 \\("${of(2)}"\\) has an answer that the service gave to none`,
      ),
      expect.stringMatching(
        `^  never-arrived   Record 3 \\("${of(3)}"\\): the journal has .*, the service got no request\\.$`,
      ),
      '',
    ],
  })
})

test('check:history exits with 2 and says why if there is nothing to judge', async () => {
  expect(await check()).toEqual({ code: 2, text: expect.stringContaining('usage: npm run check:history') })
  const main = fileURLToPath(new URL('main.ts', import.meta.url))
  const missing = join(folder, 'none.journal')
  const [code, stderr] = await new Promise<[number | null, string]>((resolve) => {
    const child = execFile(process.execPath, [main, missing, 'recording.jsonl'], (_, __, told) => {
      resolve([child.exitCode, told])
    })
  })
  expect({ code, stderr }).toEqual({ code: 2, stderr: `${missing} does not exist\n` })
})
