import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { DEFAULT_SETTINGS } from '../../../src/shared/bridge/settings.ts'
import { NO_RETENTION } from '../../../src/shared/lookback/retention.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { openRun, writeRun } from '../../helpers/write-run.ts'
import { connectWindow, withBridge } from './connect.ts'

async function openWindow(workspace = createTemporaryFolder()) {
  const bridge = withBridge(workspace)
  const { client } = await connectWindow('message port', bridge.services)
  return { workspace, bridge, client }
}

const toError = (call: PromiseLike<unknown>) =>
  call.then(
    () => null,
    (error: unknown) => parseBridgeError(error),
  )

it('keeps settings for every window of the workspace and for the next start', async () => {
  const { workspace, bridge, client } = await openWindow()
  expect(await client.settings.read()).toEqual({ settings: DEFAULT_SETTINGS, damage: null, keptAs: null })
  await client.settings.change({ theme: 'dark', hideAfterMinutes: 5 })
  await client.settings.change({ mediaLook: 'hidden', publicUrl: 'https://hooks.example.com/sluice' })
  const expected = {
    ...DEFAULT_SETTINGS,
    theme: 'dark',
    hideAfterMinutes: 5,
    mediaLook: 'hidden',
    publicUrl: 'https://hooks.example.com/sluice',
  }
  const other = await connectWindow('websocket', bridge.services)
  expect((await other.client.settings.read()).settings).toEqual(expected)
  const next = await openWindow(workspace)
  expect((await next.client.settings.read()).settings).toEqual(expected)
  expect(statSync(join(workspace, 'settings.json')).mode & 0o777).toBe(0o600)
})

it('uses the defaults if the file is damaged, says why, and moves it aside once a setting is changed', async () => {
  const { workspace, client } = await openWindow()
  const file = join(workspace, 'settings.json')
  writeFileSync(file, '{"version": 1, "theme": "green", "showsContent": true}')
  const damaged = await client.settings.read()
  expect(damaged).toMatchObject({ settings: DEFAULT_SETTINGS, damage: expect.stringContaining('theme') })
  expect(readFileSync(file, 'utf8')).toContain('green')
  const changed = await client.settings.change({ theme: 'light' })
  expect(changed).toMatchObject({ settings: { theme: 'light', showsContent: false }, damage: null })
  expect(readFileSync(changed.keptAs ?? '', 'utf8')).toContain('green')
  expect(readdirSync(workspace).filter((name) => name.endsWith('.json'))).toHaveLength(2)
  expect(await client.settings.read()).toMatchObject({ settings: { theme: 'light' }, keptAs: null })
})

it('measures the workspace by kind of content', async () => {
  const { workspace, client } = await openWindow()
  const before = await client.settings.measure()
  writeRun(workspace, { runId: 'run-1' })
  writeFileSync(join(workspace, 'inbox'), 'x'.repeat(1_000))
  writeFileSync(join(workspace, 'other'), 'x'.repeat(300))
  const after = await client.settings.measure()
  expect(after.runsBytes - before.runsBytes).toBeGreaterThan(1_000)
  expect(after.callbacksBytes).toBe(1_000)
  expect(after.otherBytes - before.otherBytes).toBe(300)
  expect(after.lastCleanUp).toBeNull()
})

it('deletes runs automatically only if that is turned on, within limits, and never one that is in use or a baseline', async () => {
  const { workspace, bridge, client } = await openWindow()
  const { engine, cleanUps } = bridge.services
  for (const runId of ['run-1', 'run-2', 'run-3']) writeRun(workspace, { runId })
  const list = async () => (await client.runs.list()).entries.map(({ summary }) => summary.run_id).toSorted()
  await engine.lookback.setBaseline('run-2', 'default')
  const held = openRun(workspace, { runId: 'run-3' })
  await client.history.storeRetention({ ...NO_RETENTION, olderThanMs: 86_400_000 })
  await cleanUps.look()
  expect(cleanUps.last()).toBeNull()
  await client.settings.change({ cleansUp: true })
  held.close()
  expect(await list()).toEqual(['run-2', 'run-3'])
  expect((await client.settings.measure()).lastCleanUp).toMatchObject({ runs: 1, failure: null })
  // The next clean-up is a day later.
  await cleanUps.look()
  expect(await list()).toEqual(['run-2', 'run-3'])
})

it('deletes nothing automatically if no limits are stored', async () => {
  const { workspace, bridge, client } = await openWindow()
  writeRun(workspace, { runId: 'run-1' })
  await client.settings.change({ cleansUp: true })
  await bridge.services.cleanUps.look()
  expect((await client.runs.list()).total).toBe(1)
  expect(bridge.services.cleanUps.last()).toBeNull()
})

it('says its versions and folders, and opens folders on the desktop only', async () => {
  const { workspace, bridge, client } = await openWindow()
  expect(await client.settings.about()).toMatchObject({
    runtimes: expect.arrayContaining([{ name: 'Node.js', version: process.versions.node }]),
    folders: [{ kind: 'workspace', path: workspace }],
    desktop: null,
  })
  expect(await toError(client.settings.openFolder({ folder: 'workspace' }))).toMatchObject({
    message: 'only the desktop app can do this',
  })
  const done: string[] = []
  const updates = {
    isAutomatic: () => !done.includes('updates off'),
    setAutomatic: () => done.push('updates off'),
    check: async () => void done.push('looked for updates'),
  }
  bridge.host.attach({
    logFolder: '/logs',
    diagnosticsFolder: '/diagnostics',
    openFolder: async (path) => {
      done.push(path)
      return path === '/logs' ? '' : 'no file manager'
    },
    collectDiagnostics: async () => void done.push('collected'),
    chooseConnectionFile: async () => null,
    updates,
  })
  expect((await client.settings.about()).desktop).toEqual({ looksForUpdates: true })
  await client.settings.openFolder({ folder: 'logs' })
  expect(await toError(client.settings.openFolder({ folder: 'diagnostics' }))).toMatchObject({
    message: 'cannot open /diagnostics: no file manager',
  })
  await client.settings.collectDiagnostics()
  await client.settings.setUpdates({ isAutomatic: false })
  await client.settings.checkForUpdates()
  expect(done).toEqual(['/logs', '/diagnostics', 'collected', 'updates off', 'looked for updates'])
  expect((await client.settings.about()).desktop).toEqual({ looksForUpdates: false })
})
