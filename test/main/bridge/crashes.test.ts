import type { Worker } from 'node:worker_threads'
import { expect, it, onTestFinished } from 'vitest'
import { WORKER_URLS } from '../../../src/main/program-files.ts'
import type { Crash } from '../../../src/shared/bridge/crashes.ts'
import { followRuns } from '../../../src/shared/bridge/follow.ts'
import { sayError } from '../../../src/shared/messages/error-messages.ts'
import { startThreadsAnew } from '../../helpers/build/kept-worker.ts'
import { startCallbackService } from '../../helpers/callback-service.ts'
import { startFaultServer, toTaskAnswer } from '../../helpers/fault-server.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { waitFor } from '../../helpers/wait-for.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest, writeRows } from './plans.ts'

const KEY = 'a-key-of-the-service'

/** A window, the crashes announced to it, and a function that ends any thread unexpectedly. */
async function openWindow() {
  startThreadsAnew()
  const threads = new Map<string, Worker>()
  const keep = (thread: Worker) => void threads.set(thread.threadName?.split(' ')[0] ?? '', thread)
  process.on('worker', keep)
  onTestFinished(() => void process.off('worker', keep))
  const bridge = withBridge()
  const { client } = await connectWindow('message port', bridge.services)
  const controller = new AbortController()
  onTestFinished(() => controller.abort())
  let crashes: Crash[] = []
  const follow = async () => {
    for await (const event of followRuns(client, controller.signal)) crashes = event.crashes
  }
  follow().catch(() => {})
  /** Ends a thread as a crash would, without a request from Sluice. */
  const crash = async (name: 'run' | 'queries' | 'receiver' | 'sandbox') => {
    const thread = threads.get(name)
    if (thread === undefined) throw new Error(`no thread ${name}, only ${[...threads.keys()]}`)
    await thread.terminate()
  }
  const seeCrash = async (count = 1) => {
    await waitFor(() => expect(crashes).toHaveLength(count), { timeout: 10_000 })
    const last = crashes.at(-1)
    if (last === undefined) throw new Error('nothing crashed')
    return { ...last, ...sayError(last.said, 'window') }
  }
  return { bridge, client, crash, seeCrash, list: () => crashes }
}

it("of a run's thread is shown with the run, which is resumed without losing a row", async () => {
  const { bridge, client, crash, seeCrash, list } = await openWindow()
  let isHeld = true
  const held: (() => void)[] = []
  const service = await startFaultServer({
    onRequest: (request, wire) => {
      const send = () => wire.send(200, toTaskAnswer(request))
      if (isHeld) held.push(send)
      else send()
    },
  })
  const request = await createRequest(bridge.services, writeRows(20), service.baseUrl)
  const { runId } = await client.runs.start({ request, apiKey: KEY })
  await client.runs.awaitReady({ runId })
  await client.runs.begin({ runId })
  await service.arrivals(4)
  await crash('run')
  expect(await seeCrash()).toMatchObject({
    runId,
    message: `run posts.csv ended unexpectedly: its thread ended with code 1`,
    hint: expect.stringContaining('Nothing that was recorded is lost'),
  })
  expect(await client.runs.summarize({ runId })).toMatchObject({ state: 'interrupted' })
  isHeld = false
  await client.runs.resumeRun({ runId, onUnknown: 'resend', apiKey: KEY })
  await bridge.services.engine.runs.heldRun(runId)?.ended
  expect((await client.runs.summarize({ runId })).rows).toMatchObject({ read: 20, succeeded: 20 })

  const [known] = list()
  await client.crashes.dismiss({ crashId: known?.crashId ?? '' })
  await waitFor(() => expect(list()).toEqual([]))
})

it("of a load test's sending thread is shown with the run, whose results so far are kept", async () => {
  onlyInLongForm()
  const { load } = WORKER_URLS
  Object.assign(WORKER_URLS, { load: new URL('../../helpers/crashing-load-worker.ts', import.meta.url) })
  onTestFinished(() => void Object.assign(WORKER_URLS, { load }))
  const { bridge, client, seeCrash } = await openWindow()
  const service = await withSandbox({ apiKeys: [KEY] })
  const request = await createRequest(bridge.services, writeRows(5), service.baseUrl, {
    load: { pace: { kind: 'closed', concurrency: 2 }, durationMs: 60_000 },
  })
  const { runId } = await client.runs.start({ request, apiKey: KEY })
  await client.runs.awaitReady({ runId })
  await client.runs.begin({ runId })
  const { message, runId: shown } = await seeCrash()
  expect({ message, shown }).toEqual({
    message: expect.stringMatching(/^run .* ended unexpectedly: .*its thread ended with code 7/),
    shown: runId,
  })
  expect(await client.runs.summarize({ runId })).toMatchObject({ state: 'interrupted' })
})

it('of the query thread is shown, and the next query is answered', async () => {
  onlyInLongForm()
  const { client, crash, seeCrash } = await openWindow()
  expect((await client.runs.list()).all).toBe(0)
  await crash('queries')
  expect(await seeCrash()).toMatchObject({
    runId: null,
    hint: 'Try again. Nothing is lost; runs in progress continue.',
  })
  expect((await client.runs.list()).all).toBe(0)
})

it('of the receiver during a run is shown, and loses or doubles no callback', async () => {
  const { bridge, client, crash, seeCrash } = await openWindow()
  const service = await startCallbackService(({ index }) => ({ isLate: index >= 5, isDoubled: index === 7 }))
  const request = await createRequest(bridge.services, writeRows(10), service.baseUrl, {
    operation: { kind: 'task', mode: 'async' },
  })
  const { runId } = await client.runs.start({ request, apiKey: KEY })
  await client.runs.awaitReady({ runId })
  await client.runs.begin({ runId })
  await waitFor(() => expect([service.taken.size, service.delivered.size]).toEqual([10, 5]), {
    timeout: 10_000,
  })
  const before = await client.receiver.status()
  await crash('receiver')
  service.releaseLate()
  expect(await seeCrash()).toMatchObject({
    message: 'the callback receiver stopped: its thread ended with code 1',
    hint: expect.stringContaining('starts it again at the same address'),
  })
  await bridge.services.engine.runs.heldRun(runId)?.ended
  await service.untilDelivered()
  expect((await client.runs.summarize({ runId })).rows).toMatchObject({ read: 10, succeeded: 10 })
  expect(before).toMatchObject({ received: 5 })
  expect(await client.receiver.status()).toMatchObject({
    baseUrl: before?.baseUrl,
    role: 'listening',
    received: 11,
  })
})

it('of receiver and sandbox is shown, and both restart', async () => {
  onlyInLongForm()
  const { client, crash, seeCrash } = await openWindow()
  const { baseUrl } = await client.receiver.open()
  await crash('receiver')
  expect((await seeCrash(1)).message).toContain('the callback receiver stopped')
  expect((await client.receiver.open()).baseUrl).toBe(baseUrl)
  await client.sandbox.start()
  await crash('sandbox')
  expect(await seeCrash(2)).toMatchObject({
    message: 'the sandbox stopped: its thread ended with code 1',
    hint: 'Nothing of your runs is lost. It starts again with the next run against it.',
  })
  expect((await client.sandbox.start()).baseUrl).toMatch(/^http:/)
})

it('does not include a thread that was asked to end', async () => {
  onlyInLongForm()
  const { bridge, client, list } = await openWindow()
  await client.receiver.open()
  const { sample } = await client.sandbox.start()
  const { runId } = await client.runs.start({
    request: {
      destination: { kind: 'sandbox' },
      source: { sourceId: sample.sourceId },
      operation: { kind: 'task' },
    },
  })
  await client.runs.awaitReady({ runId })
  await client.runs.deleteRun({ runId })
  await client.sandbox.stop()
  await bridge.close()
  expect([bridge.services.crashes.list(), list()]).toEqual([[], []])
})
