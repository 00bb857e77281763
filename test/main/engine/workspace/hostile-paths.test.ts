import { existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { toExportsFile, toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { createTestEngine } from '../../../helpers/test-engine.ts'
import { writeRun } from '../../../helpers/write-run.ts'

const [RUN, OTHER] = ['20261101-000000-000bbbb', '20261102-000000-000cccc']

/** A workspace with two runs, the first of which has this source. */
function openWorkspace(toSource: (workspace: string) => string) {
  const folder = createTemporaryFolder()
  const workspace = join(folder, 'workspace')
  writeRun(workspace, { runId: RUN, plan: { source: { path: toSource(workspace) } } })
  writeRun(workspace, { runId: OTHER })
  mkdirSync(join(workspace, 'stdin', 'source-1'), { recursive: true })
  const engine = createTestEngine(workspace)
  onTestFinished(() => engine.close())
  return { folder, workspace, engine }
}

test.each([
  ['the workspace', (workspace: string) => `${workspace}/stdin/../posts.csv`],
  ['all stored sources', (workspace: string) => `${workspace}/stdin/./posts.csv`],
])('a run whose source pretends to be a stored one deletes itself, not %s', async (_, toSource) => {
  const { workspace, engine } = openWorkspace(toSource)
  await engine.runs.deleteRun(RUN)
  expect(existsSync(toJournalFile(workspace, RUN))).toBe(false)
  expect(existsSync(toJournalFile(workspace, OTHER))).toBe(true)
  expect(existsSync(join(workspace, 'stdin', 'source-1'))).toBe(true)
})

test('a run that lists a file outside the workspace as its export does not delete it', async () => {
  const { folder, workspace, engine } = openWorkspace(() => '/data/posts.csv')
  const outside = join(folder, 'outside.csv')
  const inside = join(workspace, 'inside.csv')
  const lines = [outside, inside].map((file) => {
    writeFileSync(file, 'a person wrote this')
    const { size, mtimeMs } = statSync(file)
    return JSON.stringify({ path: file === outside ? '../outside.csv' : 'inside.csv', size, mtimeMs })
  })
  writeFileSync(toExportsFile(workspace, RUN), `${lines.join('\n')}\n`)
  await engine.runs.deleteRun(RUN)
  expect(existsSync(outside)).toBe(true)
  expect(existsSync(inside)).toBe(false)
})
