import { cpSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { toDryRunFile } from '../../../src/main/engine/workspace/workspace-files.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { openEngine } from '../../helpers/test-engine.ts'
import { createRunPlan, openTestFolder } from '../../helpers/test-folder.ts'
import { writeRun } from '../../helpers/write-run.ts'

const folder = openTestFolder()

test('a dry run is never the latest run, and one that was killed is removed like one that ended', async () => {
  onlyInLongForm()
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

test('a dry run that cannot be removed keeps nobody from settling runs, or from removing others', async () => {
  const workspace = join(folder, 'stuck')
  const [stuck, other] = ['20261101-000000-000bbbb', '20261101-000000-000cccc']
  for (const runId of [stuck, other]) {
    writeRun(workspace, { runId })
    writeFileSync(toDryRunFile(workspace, runId), '')
  }
  writeFileSync(join(workspace, 'runs', `${stuck}.journal.lease`), 'no database'.repeat(100))
  await openEngine(workspace).runs.settleLate()
  const left = readdirSync(join(workspace, 'runs'))
  expect(left).toContain(`${stuck}.journal`)
  expect(left.filter((name) => name.includes(other))).toEqual([])
})
