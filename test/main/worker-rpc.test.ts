import { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { onThreadCrash, WorkerClient } from '../../src/main/worker-rpc.ts'
import { SluiceError } from '../../src/shared/messages/errors.ts'
import { toThrownText } from '../../src/shared/messages/thrown.ts'
import type { TestCalls, TestEvents } from '../helpers/rpc-worker.ts'

function startThread() {
  const events: unknown[] = []
  const failures: unknown[] = []
  const worker = new Worker(new URL('../helpers/rpc-worker.ts', import.meta.url))
  const client = new WorkerClient<TestCalls, TestEvents>(worker, {
    on: {
      released: (text) => events.push(text),
      bytes: (bytes) => events.push(bytes),
    },
    toFailure: (cause) => {
      failures.push(cause)
      return new SluiceError({ id: 'query_cut_off', reason: toThrownText(cause) }, { cause })
    },
  })
  onTestFinished(() => client.end(0))
  return { client, events, failures }
}

describe('a worker thread', () => {
  it('answers each call, even while an earlier one is open', async () => {
    const { client, events } = startThread()
    const waiting = client.call('wait')
    expect(await Promise.all([client.call('double', 2), client.call('double', 3)])).toEqual([4, 6])
    client.send('release', 'now')
    expect(await waiting).toBe('now')
    expect(events).toEqual(['now'])
  })

  it('passes on the error of a call with its code and arguments, and stays usable', async () => {
    const { client } = startThread()
    await expect(client.call('refuse', 'run-1')).rejects.toMatchObject({
      name: 'SluiceError',
      said: { id: 'run_unplanned', runId: 'run-1' },
    })
    await expect(client.call('giveFunction')).rejects.toMatchObject({ code: 'INTERNAL' })
    expect(await client.call('double', 1)).toBe(2)
  })

  it('moves the objects that an event transfers', async () => {
    const { client, events } = startThread()
    expect(await client.call('hand', 1_000)).toBe(0)
    expect(events).toEqual([new Uint8Array(1_000)])
  })

  it.each([
    ['exits', 'exit', 'its thread ended with code 3'],
    ['throws outside a call', 'throwLater', 'out of order'],
  ] as const)('that %s rejects open and later calls with one error', async (_how, name, reason) => {
    const { client, failures } = startThread()
    const open = [client.call('wait'), client.call('wait')]
    if (name === 'exit') client.send(name, 3)
    else client.send(name)
    const errors = await Promise.all(open.map((call) => call.catch((error: unknown) => error)))
    await client.ended
    errors.push(await client.call('double', 1).catch((error: unknown) => error))
    expect(new Set(errors).size).toBe(1)
    expect(errors[0]).toMatchObject({ said: { id: 'query_cut_off', reason } })
    expect(failures).toHaveLength(1)
  })

  it('is reported as crashed if it ended unasked, and only then', async () => {
    const crashes: SluiceError[] = []
    onTestFinished(onThreadCrash((error) => crashes.push(error)))
    const [closed, ended, gone] = [startThread().client, startThread().client, startThread().client]
    await closed.close()
    await ended.end()
    expect(crashes).toEqual([])
    gone.send('exit', 3)
    await gone.ended
    expect(crashes).toMatchObject([{ said: { reason: 'its thread ended with code 3' } }])
  })

  it('ends when one-way work fails, instead of going on without it', async () => {
    const { client } = startThread()
    client.send('refuse', 'run-1')
    await client.ended
    await expect(client.call('double', 1)).rejects.toMatchObject({ code: 'INTERNAL' })
  })

  it('that fails while it is being closed says so', async () => {
    const { client } = startThread()
    client.send('throwLater')
    await expect(client.close()).rejects.toMatchObject({ said: { reason: 'out of order' } })
  })

  it('ends when it is closed and has nothing left to do', async () => {
    const { client } = startThread()
    const answer = client.call('double', 21)
    await client.close()
    expect(await answer).toBe(42)
    await expect(client.call('double', 1)).rejects.toMatchObject({
      said: { reason: 'it was closed' },
    })
  })
  it('that is to end at once still finishes its current step, and rejects open calls', async () => {
    const { client } = startThread()
    const marks = new Int32Array(new SharedArrayBuffer(8))
    const open = client.call('wait').catch((error: unknown) => error)
    const step = client.call('work', marks)
    await Atomics.waitAsync(marks, 0, 0).value
    const ended = client.end()
    Atomics.store(marks, 1, 1)
    Atomics.notify(marks, 1)
    await ended
    expect(marks[0]).toBe(2)
    await step
    expect(await open).toMatchObject({ said: { reason: 'it was closed' } })
  })

  it('is terminated during a step that takes too long', async () => {
    const { client } = startThread()
    const marks = new Int32Array(new SharedArrayBuffer(8))
    const step = client.call('work', marks).catch((error: unknown) => error)
    await Atomics.waitAsync(marks, 0, 0).value
    await client.end(1)
    expect(marks[0]).toBe(1)
    expect(await step).toMatchObject({ said: { reason: 'it was closed' } })
  })
})
