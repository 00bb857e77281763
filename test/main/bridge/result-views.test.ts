import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { toFindingsFile } from '../../../src/main/engine/workspace/workspace-files.ts'
import { DEFAULT_SANDBOX_KEY } from '../../../src/main/sandbox/sandbox-options.ts'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { waitFor } from '../../helpers/wait-for.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeText } from './plans.ts'

const toError = (call: PromiseLike<unknown>) =>
  call.then(
    () => null,
    (error: unknown) => parseBridgeError(error),
  )

it('stores filters and columns of an operation for every window of the workspace, and for that operation only', async () => {
  const workspace = createTemporaryFolder()
  const { services } = withBridge(workspace)
  const { client } = await connectWindow('message port', services)
  const task = { operation: 'task' } as const
  expect(await client.views.read(task)).toEqual({ columns: null, filters: [] })
  const high = { scores: [{ className: 'hate', from: 0.8, below: null }], languages: ['EN'] }
  await client.views.saveFilter({ ...task, name: 'Worst', filter: high })
  await client.views.saveFilter({ ...task, name: 'Failed', filter: { state: 'failed' } })
  const columns = [{ name: 'sluice_row' }, { name: 'score.hate', rem: 8 }]
  await client.views.setColumns({ ...task, columns })
  const view = await (await connectWindow('websocket', services)).client.views.read(task)
  expect(view).toEqual({
    columns,
    filters: [
      { name: 'Worst', filter: high },
      { name: 'Failed', filter: { state: 'failed' } },
    ],
  })
  expect((await client.views.read({ operation: 'index-add' })).filters).toEqual([])
  expect(await toError(client.views.saveFilter({ ...task, name: 'Worst', filter: {} }))).toMatchObject({
    code: 'BAD_USAGE',
    message: 'a saved filter is already called Worst',
  })
  expect(
    await toError(client.views.renameFilter({ ...task, name: 'Failed', newName: 'Worst' })),
  ).toMatchObject({
    code: 'BAD_USAGE',
  })
  const renamed = await client.views.renameFilter({ ...task, name: 'Worst', newName: 'Hate' })
  expect(renamed.filters.map(({ name }) => name)).toEqual(['Hate', 'Failed'])
  await client.views.removeFilter({ ...task, name: 'Hate' })
  // Undo puts it back in its old place.
  const undone = await client.views.saveFilter({ ...task, name: 'Hate', filter: high, at: 0 })
  expect(undone.filters.map(({ name }) => name)).toEqual(['Hate', 'Failed'])
  expect(await toError(client.views.removeFilter({ ...task, name: 'Gone' }))).toMatchObject({
    message: 'there is no saved filter called Gone',
  })
  expect((await client.views.setColumns({ ...task, columns: null })).columns).toBeNull()
})

it('stores hidden columns and widths of the other tables for every window of the workspace', async () => {
  const { services } = withBridge(createTemporaryFolder())
  const { client } = await connectWindow('message port', services)
  expect(await client.views.readTable({ table: 'runs' })).toEqual({ hidden: [], widths: {} })
  await client.views.saveFilter({ operation: 'task', name: 'Failed', filter: { state: 'failed' } })
  const { changeTable } = client.views
  await changeTable({ table: 'runs', change: { hidden: { p95: true }, widths: { Started: 12.5 } } })
  const other = (await connectWindow('websocket', services)).client
  expect(await other.views.readTable({ table: 'runs' })).toEqual({
    hidden: ['p95'],
    widths: { Started: 12.5 },
  })
  expect(await other.views.readTable({ table: 'watchlist' })).toEqual({ hidden: [], widths: {} })
  expect((await other.views.read({ operation: 'task' })).filters).toHaveLength(1)
  const tooWide = changeTable({ table: 'runs', change: { widths: { Started: 600 } } })
  expect(await toError(tooWide)).toMatchObject({ code: 'BAD_USAGE' })
})

it('stores only what a window changes of a table, so that two windows keep the changes of each other', async () => {
  const { services } = withBridge(createTemporaryFolder())
  const [first, second] = await Promise.all(
    (['message port', 'websocket'] as const).map(async (way) => (await connectWindow(way, services)).client),
  )
  const table = 'runs'
  await first?.views.changeTable({ table, change: { hidden: { p95: true, Rows: true } } })
  await second?.views.changeTable({ table, change: { widths: { Started: 12 } } })
  await first?.views.changeTable({ table, change: { hidden: { p95: false }, widths: { State: 9 } } })
  const view = { hidden: ['Rows'], widths: { Started: 12, State: 9 } }
  expect(await second?.views.readTable({ table })).toEqual(view)
  expect(await second?.views.changeTable({ table, change: null })).toEqual({ hidden: [], widths: {} })
})

it('leaves a damaged file of saved filters alone and says where it is', async () => {
  const workspace = createTemporaryFolder()
  const { services } = withBridge(workspace)
  const { client } = await connectWindow('message port', services)
  const file = join(workspace, 'result-views.json')
  writeFileSync(file, '{"version": 2}')
  const save = client.views.saveFilter({ operation: 'task', name: 'x', filter: {} })
  expect(await toError(save)).toMatchObject({
    code: 'WORKSPACE_UNUSABLE',
    message: expect.stringContaining(file),
  })
  expect(readFileSync(file, 'utf8')).toBe('{"version": 2}')
})

it('reads the requested columns, counts values of answers, and exports exactly the filtered rows', async () => {
  const service = await withSandbox()
  const { services, host } = withBridge()
  const { client } = await connectWindow('message port', services)
  const texts = Array.from({ length: 12 }, (_, i) =>
    i % 3 === 0 ? `write to me${i}@example.com` : `hello ${i}`,
  )
  const path = writeText(`text_data,user_id\n${texts.map((text, i) => `${text},u${i}`).join('\n')}\n`)
  const operation = { kind: 'task', legacy: true } as const
  const request = await createRequest(services, path, service.baseUrl, { operation })
  const { runId } = await client.runs.start({ request, apiKey: DEFAULT_SANDBOX_KEY })
  await client.runs.awaitReady({ runId })
  await client.runs.begin({ runId })
  await services.engine.runs.heldRun(runId)?.ended

  const columns = ['sluice_pii', 'answer.user_id', 'score.hate', 'source.user_id']
  const sort = { by: { kind: 'score', className: 'hate' }, order: 'descending' } as const
  const page = await client.results.page({ runId, filter: {}, offset: 0, limit: 5, columns, sort })
  expect(page.total).toBe(12)
  expect(page.rows[0]?.texts).toHaveLength(4)
  expect(page.rows.every(({ row, texts: [, , , user] }) => user === `u${row - 1}`)).toBe(true)
  expect(page.rows[0]?.classScores.length).toBeGreaterThan(0)

  const listed = await client.results.listColumns({ runId })
  const names = listed.map(({ name }) => name)
  expect(names).toEqual(
    expect.arrayContaining(['sluice_language', 'score.hate', 'answer.status.response.language']),
  )
  const wrong = client.results.page({ runId, filter: {}, offset: 0, limit: 5, columns: ['sluice_rwo'] })
  expect(await toError(wrong)).toMatchObject({ code: 'BAD_USAGE' })

  let found = await client.results.foundFacets({ runId, filter: {} })
  while (!found.isCounted) found = await client.results.foundFacets({ runId, filter: {} })
  const language = found.facets.find(({ kind }) => kind === 'language')
  const filter = { languages: [language?.value ?? ''] }
  expect((await client.results.page({ runId, filter, offset: 0, limit: 5 })).total).toBe(language?.rows)
  const file = join(createTemporaryFolder(), 'rows.csv')
  const target = host.addExportFile(file)
  const exported = await client.exports.create({ runId, format: 'csv', ...target, filter, columns })
  expect(exported.rows).toBe(language?.rows)
  expect(readFileSync(file, 'utf8')).toContain('sluice_pii,answer.user_id,score.hate,user_id')
})

it('recounts values of answers when callbacks come after their run has ended', async () => {
  onlyInLongForm()
  const service = await withSandbox({ callbacks: 'delay=60s' })
  const { services } = withBridge()
  const { client } = await connectWindow('message port', services)
  const path = writeText('text_data,user_id\nhello,u1\nyou stupid idiot,u2\n')
  const operation = { kind: 'task', mode: 'async', legacy: true } as const
  const callback = { timeoutMs: 50 }
  const request = await createRequest(services, path, service.baseUrl, { operation, callback })
  const { runId } = await client.runs.start({ request, apiKey: DEFAULT_SANDBOX_KEY })
  await client.runs.awaitReady({ runId })
  await client.runs.begin({ runId })
  await services.engine.runs.heldRun(runId)?.ended
  const seeAnswered = async () => {
    let found = await client.results.foundFacets({ runId, filter: {} })
    while (!found.isCounted) found = await client.results.foundFacets({ runId, filter: {} })
    return found.facets.filter(({ kind }) => kind === 'language').reduce((sum, { rows }) => sum + rows, 0)
  }
  expect(await seeAnswered()).toBe(0)
  await service.sendPendingCallbacks()
  await service.waitForCallbacks()
  expect(await seeAnswered()).toBe(2)
})

it('stores the values of answers when a large run has ended, without a request', async () => {
  onlyInLongForm()
  const service = await withSandbox()
  const { services } = withBridge()
  const { client } = await connectWindow('message port', services)
  // Rows without a text are not sent.
  const rows = Array.from({ length: 5_000 }, (_, i) => `${i % 500 === 0 ? 'hello' : ''},u${i}`)
  const path = writeText(`text_data,user_id\n${rows.join('\n')}\n`)
  const operation = { kind: 'task', legacy: true } as const
  const request = await createRequest(services, path, service.baseUrl, { operation })
  const { runId } = await client.runs.start({ request, apiKey: DEFAULT_SANDBOX_KEY })
  await client.runs.awaitReady({ runId })
  await client.runs.begin({ runId })
  await services.engine.runs.heldRun(runId)?.ended
  const file = toFindingsFile(services.engine.workspace, runId)
  await waitFor(() => expect(existsSync(file)).toBe(true), { timeout: 20_000, interval: 20 })
  const found = await client.results.foundFacets({ runId, filter: { state: 'succeeded' } })
  expect(found.isCounted).toBe(true)
  expect(found.facets.filter(({ kind }) => kind === 'language')).not.toEqual([])
  const { facets, isCounted } = await client.results.facets({ runId, filter: { state: 'invalid' } })
  expect(isCounted).toBe(true)
  expect(facets.find(({ kind, value }) => kind === 'state' && value === 'invalid')?.rows).toBe(4_990)
})
