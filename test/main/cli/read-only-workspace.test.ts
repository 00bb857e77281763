import {
  chmodSync,
  chownSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { InboxReader } from '../../../src/main/engine/receiver/inbox.ts'
import { measureWorkspace } from '../../../src/main/engine/workspace/workspace-usage.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { writeRun } from '../../helpers/write-run.ts'
import { runInProcess } from './run-in-process.ts'
import { type SluiceOptions, spawnSluice } from './spawn-sluice.ts'

const isWindows = process.platform === 'win32'

/** A user whom modes apply to: root may do everything. */
const ORDINARY = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}

const OLDER = '20261101-000000-000bbbb'
const NEWER = '20261102-000000-000cccc'

/** A workspace with two runs, whose folders and files have these modes. */
function createWorkspace(modes: { folder: number; file: number }): string {
  const outer = createTemporaryFolder()
  const workspace = join(outer, 'workspace')
  for (const runId of [OLDER, NEWER]) writeRun(workspace, { runId })
  const runs = join(workspace, 'runs')
  const files = readdirSync(runs).map((name) => join(runs, name))
  // As on a copy that somebody made: locks and empty WALs did not come along.
  for (const file of files.filter((name) => !name.endsWith('.journal'))) rmSync(file)
  const journals = files.filter((name) => name.endsWith('.journal'))
  const { uid, gid } = ORDINARY
  for (const path of [outer, workspace, runs, ...journals]) {
    if (uid !== undefined) chownSync(path, uid, gid)
  }
  for (const file of journals) chmodSync(file, modes.file)
  chmodSync(runs, modes.folder)
  chmodSync(workspace, 0o500)
  onTestFinished(() => {
    for (const folder of [workspace, runs]) chmodSync(folder, 0o700)
  })
  return workspace
}

const sluice = (args: string[], options: SluiceOptions) =>
  spawnSluice(args, { ...options, ...ORDINARY, fromSources: true })

test.skipIf(isWindows)(
  'a read-only workspace can be listed, shown and exported',
  async () => {
    const workspace = createWorkspace({ folder: 0o500, file: 0o400 })
    const [listed, shown, exported] = await Promise.all([
      sluice(['runs', '--json'], { workspace }),
      sluice(['show', NEWER, '--json'], { workspace }),
      sluice(['export', 'latest', '-'], { workspace }),
    ])
    for (const { code, stderr } of [listed, shown, exported]) {
      expect({ code, stderr }).toEqual({
        code: 0,
        stderr: expect.stringContaining(
          `The workspace ${workspace} is read-only: nothing can be sent, noted or deleted`,
        ),
      })
    }
    expect(JSON.parse(listed.stdout)).toMatchObject([{ run_id: NEWER }, { run_id: OLDER }])
    expect(JSON.parse(shown.stdout)).toMatchObject({ run_id: NEWER, state: 'completed' })
    expect(exported.stdout).toContain('sluice_row')
  },
  120_000,
)

test.skipIf(isWindows)(
  'a run of a read-only workspace cannot be deleted, which is not reported as a bug',
  async () => {
    onlyInLongForm()
    const workspace = createWorkspace({ folder: 0o700, file: 0o600 })
    // The lease is there and can be taken; the files of the run cannot be removed.
    const lease = join(workspace, 'runs', `${NEWER}.journal.lease`)
    writeFileSync(lease, '')
    if (ORDINARY.uid !== undefined) chownSync(lease, ORDINARY.uid, ORDINARY.gid)
    chmodSync(join(workspace, 'runs'), 0o500)
    const { code, stderr } = await sluice(['delete', NEWER, '--yes'], { workspace })
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr: expect.stringContaining(`cannot delete run ${NEWER}`),
    })
    expect(stderr).not.toContain('bug in Sluice')
  },
  120_000,
)

test.skipIf(isWindows)(
  'a workspace whose runs cannot be read does not count as empty',
  async () => {
    onlyInLongForm()
    const closed = createWorkspace({ folder: 0o000, file: 0o400 })
    const damaged = createWorkspace({ folder: 0o500, file: 0o000 })
    const [listed, shown, unlisted, unshown] = await Promise.all([
      sluice(['runs'], { workspace: damaged }),
      sluice(['show', 'latest'], { workspace: damaged }),
      sluice(['runs'], { workspace: closed }),
      sluice(['show', NEWER], { workspace: closed }),
    ])
    expect(listed).toMatchObject({ code: 2, stdout: '' })
    expect(listed.stderr).toContain(`run ${NEWER} cannot be read`)
    expect(listed.stderr).toContain(`none of the 2 runs in ${damaged} can be read`)
    expect(shown).toMatchObject({ code: 2, stdout: '' })
    expect(shown.stderr).toContain(`none of the 2 runs in ${damaged} can be read`)
    for (const result of [unlisted, unshown]) {
      expect(result).toMatchObject({ code: 2, stdout: '' })
      expect(result.stderr).toContain(`cannot read ${join(closed, 'runs')}`)
      expect(result.stderr).toContain('Check its permissions')
    }
  },
  120_000,
)

test.skipIf(isWindows)(
  'a journal of an earlier version in a read-only workspace says what keeps it from being read',
  { timeout: 120_000 },
  async () => {
    onlyInLongForm()
    const workspace = createWorkspace({ folder: 0o700, file: 0o600 })
    const runs = join(workspace, 'runs')
    const older = '20261125-233037-557wthr'
    const golden = new URL(
      `../../fixtures/golden/labelled/workspace/runs/${older}.journal.gz`,
      import.meta.url,
    )
    const journal = join(runs, `${older}.journal`)
    writeFileSync(journal, gunzipSync(readFileSync(golden)))
    // Whatever the umask of this process is.
    if (ORDINARY.uid !== undefined) chownSync(journal, ORDINARY.uid, ORDINARY.gid)
    chmodSync(journal, 0o444)
    chmodSync(runs, 0o500)
    const { code, stdout, stderr } = await sluice(['runs', '--json'], { workspace })
    expect({ code, stderr }).toMatchObject({ code: 0 })
    expect(JSON.parse(stdout)).toMatchObject([
      { run_id: NEWER, state: 'completed' },
      { run_id: OLDER, state: 'completed' },
      { run_id: older, unreadable: expect.stringContaining('it is of an earlier version') },
    ])
    expect(stderr).toContain('Copy the workspace to a folder that you can write to')
  },
)

test('a file in place of the runs folder is named', async () => {
  const workspace = createTemporaryFolder()
  writeFileSync(join(workspace, 'runs'), '')
  const result = await runInProcess(['runs'], { workspace })
  expect(result).toMatchObject({ code: 2, stdout: '' })
  expect(result.stderr).toContain(`cannot read ${join(workspace, 'runs')}: ENOTDIR`)
})

test.skipIf(isWindows)('a dangling link in place of the inbox is not taken for an empty inbox', () => {
  const workspace = createTemporaryFolder()
  symlinkSync('inbox', join(workspace, 'inbox'))
  expect(() => new InboxReader(workspace).readLastIds()).toThrow(`cannot read ${join(workspace, 'inbox')}`)
})

test.skipIf(isWindows).each([
  ['journal', `runs/${OLDER}.journal`, ['show', OLDER]],
  ['file of verdicts', `runs/${NEWER}.verdicts`, ['evaluate', NEWER, '--verdicts']],
  ['file of annotations', `runs/${NEWER}.annotations`, ['runs', 'edit', NEWER, '--tag', 'a']],
  ['file of connections', 'connections.json', ['connection', 'list']],
  ['file of mappings', 'mappings.json', ['mapping', 'list']],
  ['file of baselines', 'baselines.json', ['baseline', 'list']],
])('a dangling link in place of the %s is named, not taken for a missing file', async (_, path, args) => {
  onlyInLongForm()
  const workspace = createTemporaryFolder()
  mkdirSync(join(workspace, 'runs'))
  writeRun(workspace, { runId: NEWER })
  symlinkSync(path.split('/').at(-1) ?? '', join(workspace, path))
  const result = await runInProcess(args, { workspace })
  expect({ args, ...result }).toMatchObject({ code: 2, stdout: '' })
  expect(result.stderr).toContain(join(workspace, path))
  expect(result.stderr).toContain('ELOOP')
})

test('a workspace whose size cannot be measured is an error, not an empty one', async () => {
  const file = join(createTemporaryFolder(), 'file')
  writeFileSync(file, '')
  await expect(measureWorkspace(file)).rejects.toThrow(`cannot read ${file}: ENOTDIR`)
  expect(await measureWorkspace(join(file, '..', 'missing'))).toMatchObject({ runsBytes: 0 })
})

test('a workspace none of whose runs can be read is an error for scripts, too', async () => {
  const workspace = createTemporaryFolder()
  mkdirSync(join(workspace, 'runs'))
  writeFileSync(join(workspace, 'runs', `${NEWER}.journal`), 'no journal')
  const result = await runInProcess(['runs', '--json'], { workspace })
  expect(result).toMatchObject({ code: 2 })
  expect(JSON.parse(result.stdout)).toMatchObject({ error: { code: 'WORKSPACE_UNUSABLE' } })
  expect(result.stderr).toContain(`run ${NEWER} cannot be read`)
})
