import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { answerNonce, proveSandbox } from '../../../src/main/sandbox/admin-access.ts'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { listenForFaults, startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeRows } from './plans.ts'

const REAL_KEY = 'the-real-key-of-production'

async function openWindow(workspace: string) {
  vi.stubEnv('SLUICE_API_KEY', REAL_KEY)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  const bridge = withBridge(workspace)
  return { bridge, client: (await connectWindow('message port', bridge.services)).client }
}

const toError = async (call: PromiseLike<unknown>) =>
  parseBridgeError(
    await call.then(
      () => null,
      (error: unknown) => error,
    ),
  )

it("sends nothing to another program on the sandbox's port", async () => {
  const other = await startFaultServer({
    onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)),
  })
  const workspace = createTemporaryFolder()
  writeFileSync(join(workspace, 'sandbox.json'), JSON.stringify({ port: other.port }))
  const { bridge, client } = await openWindow(workspace)
  const request = await createRequest(bridge.services, writeRows(1), other.baseUrl)
  expect(await toError(client.runs.start({ request }))).toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
  const { runId } = await client.runs.start({ request: { ...request, destination: { kind: 'sandbox' } } })
  await client.runs.awaitReady({ runId })
  expect((await client.runs.readPlan({ runId })).connection.baseUrl).not.toBe(other.baseUrl)
  expect(other.requests).toEqual([])
})

it("does not mistake another program's answer for the sandbox's", async () => {
  const answered: string[] = []
  const other = await startFaultServer({
    onRequest: ({ path, headers }, wire) => {
      answered.push(`${path} ${JSON.stringify(headers)}`)
      wire.send(200, { proof: answerNonce('a nonce of before', 'a token') })
    },
  })
  const adminToken = 'the-token-of-the-start'
  expect(await proveSandbox({ baseUrl: other.baseUrl, adminToken })).toBe(false)
  expect(answered).toHaveLength(1)
  expect(answered.join()).not.toContain(adminToken)
  const sandbox = await withSandbox()
  expect(await proveSandbox(sandbox)).toBe(true)
  expect(await proveSandbox({ ...sandbox, adminToken })).toBe(false)
})

it('does not resume a sandbox run if another program has taken the port since', async () => {
  onlyInLongForm()
  const workspace = createTemporaryFolder()
  const { bridge, client } = await openWindow(workspace)
  const { baseUrl } = await client.sandbox.start()
  const request = await createRequest(bridge.services, writeRows(1), baseUrl, {
    destination: { kind: 'sandbox' },
  })
  const { runId } = await client.runs.start({ request })
  await client.runs.awaitReady({ runId })
  await client.runs.stop({ runId })
  await client.sandbox.stop()
  const port = Number(new URL(baseUrl).port)
  const other = await listenForFaults(
    { onRequest: (request, wire) => wire.send(200, toTaskAnswer(request)) },
    port,
  )
  onTestFinished(() => other.close())
  const isHeld = async () => (await client.runs.list()).entries[0]?.isHeld
  await expect.poll(isHeld, { timeout: 20_000 }).toBe(false)
  const resuming = client.runs.resumeRun({ runId, onUnknown: 'skip' })
  expect(await toError(resuming)).toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
  // Also after the sandbox has moved to another port.
  expect((await client.sandbox.start()).baseUrl).not.toBe(baseUrl)
  const again = client.runs.resumeRun({ runId, onUnknown: 'skip' })
  expect(await toError(again)).toMatchObject({ code: 'SANDBOX_UNAVAILABLE' })
  expect(other.requests).toEqual([])
})
