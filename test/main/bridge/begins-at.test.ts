import { expect, it } from 'vitest'
import {
  addConnection,
  applyConnection,
  changeConnections,
} from '../../../src/main/engine/workspace/connections.ts'
import { storedConnectionSchema } from '../../../src/shared/plan/stored-connection.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeRows } from './plans.ts'

it("starts a window at the newest run's connection, or at the connection in use", async () => {
  const service = await withSandbox()
  const workspace = createTemporaryFolder()
  const { services } = withBridge(workspace)
  const { client } = await connectWindow('message port', services)
  const readBeginning = async () => (await client.app.describe()).beginsAt
  expect(await readBeginning()).toEqual({ kind: 'sandbox' })

  const request = await createRequest(services, writeRows(1), service.baseUrl)
  const { runId } = await client.runs.start({ request, apiKey: 'typed' })
  await client.runs.awaitReady({ runId })
  expect(await readBeginning()).toEqual({ kind: 'service', baseUrl: service.baseUrl })

  const { baseUrl } = service
  const keys = [{ label: 'first', env: 'BEGINS_KEY' }]
  const [live, other] = [
    storedConnectionSchema.parse({ name: 'live', baseUrl, keys, activeKey: 'first' }),
    storedConnectionSchema.parse({ name: 'other', baseUrl: 'http://127.0.0.1:1', keys, activeKey: 'first' }),
  ]
  changeConnections(workspace, (known) => addConnection(addConnection(known, other), live))
  changeConnections(workspace, (known) => applyConnection(known, 'live'))
  changeConnections(workspace, (known) => ({ ...known, inUse: null }))
  expect(await readBeginning()).toEqual({ kind: 'stored', name: 'live' })
  changeConnections(workspace, (known) => applyConnection(known, 'other'))
  expect(await readBeginning()).toEqual({ kind: 'stored', name: 'other' })
  changeConnections(workspace, (known) => ({ ...known, inUse: null }))

  const trial = await client.runs.start({ request: { ...request, destination: { kind: 'sandbox' } } })
  await client.runs.awaitReady(trial)
  expect(await readBeginning()).toEqual({ kind: 'sandbox' })
})
