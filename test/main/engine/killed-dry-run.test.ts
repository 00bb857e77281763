import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openEngine } from '../../helpers/test-engine.ts'
import { createRunPlan, openTestFolder } from '../../helpers/test-folder.ts'
import { writeRun } from '../../helpers/write-run.ts'

const folder = openTestFolder()

test('a dry run is never the latest run, and one that was killed is removed like one that ended', async () => {
  const [workspace, copy] = [join(folder, 'workspace'), join(folder, 'copy')]
  const engine = openEngine(workspace)
  writeRun(workspace, { runId: '20261101-000000-000bbbb' })
  const plan = createRunPlan(folder, 3, 'http://127.0.0.1:9')
  const dryRun = await engine.runs.startRun(plan, { hold: true, isDryRun: true })
  await dryRun.ready
  expect(await engine.runs.findRuns('latest')).toMatchObject({ ids: ['20261101-000000-000bbbb'] })
  // What kill -9 leaves: the files as they are, held by nobody.
  cpSync(workspace, copy, { recursive: true })
  const later = openEngine(copy)
  expect(await later.runs.findRuns(dryRun.runId)).toMatchObject({ ids: [] })
  await later.runs.settleLate()
  expect(readdirSync(join(copy, 'runs')).filter((name) => name.includes(dryRun.runId))).toEqual([])
  await expect(later.runs.resumeRun(dryRun.runId, { onUnknown: 'skip' })).rejects.toMatchObject({
    code: 'RUN_NOT_FOUND',
  })
  // A dry run that is still held is left alone.
  await engine.runs.settleLate()
  expect(await engine.runs.summarizeRun(dryRun.runId)).toMatchObject({ rows: { read: 3 } })
  dryRun.stop()
  await dryRun.ended
  await engine.runs.deleteRun(dryRun.runId)
  expect(readdirSync(join(workspace, 'runs')).filter((name) => name.includes(dryRun.runId))).toEqual([])
})
