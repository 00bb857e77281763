import { join } from 'node:path'
import process from 'node:process'
import { expect, it, onTestFinished } from 'vitest'
import { createEngine } from '../../../src/main/engine/engine.ts'
import { startThreadsAnew } from '../../helpers/build/kept-worker.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { writeRun } from '../../helpers/write-run.ts'

const RUN_ID = '20261101-000000-000aaaa'

it.each([
  ['one thread, where nobody looks at pages meanwhile', false, 1],
  ['a thread of its own beside that of the pages of a window', true, 2],
])('an export is written by %s', async (_thread, isOfWindow, count) => {
  startThreadsAnew()
  let started = 0
  const note = (): void => {
    started += 1
  }
  process.on('worker', note)
  onTestFinished(() => void process.off('worker', note))
  const workspace = createTemporaryFolder()
  writeRun(workspace, { runId: RUN_ID })
  const engine = createEngine({ workspace, isOfWindow })
  onTestFinished(() => engine.close())
  await engine.runs.summarizeRun(RUN_ID)
  await engine.results.exportRun(RUN_ID, { file: join(workspace, 'out.csv') })
  expect(started).toBe(count)
})
