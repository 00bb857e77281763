import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toCallbackPath, toMediaPath } from '../../../../src/main/engine/receiver/addresses.ts'
import { InboxReader } from '../../../../src/main/engine/receiver/inbox.ts'
import type { ReceiverTask } from '../../../../src/main/engine/receiver/receiver.ts'
import { readReceiverSettings } from '../../../../src/main/engine/receiver/receiver-settings.ts'
import { ReceiverThread, WorkspaceReceiver } from '../../../../src/main/engine/receiver/workspace-receiver.ts'
import { takeLease } from '../../../../src/main/engine/workspace/lease.ts'
import {
  createWorkspaceFolders,
  toJournalFile,
} from '../../../../src/main/engine/workspace/workspace-files.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { waitFor } from '../../../helpers/wait-for.ts'
import { postCallback } from './with-receiver.ts'

const WORKER = new URL('../../../../src/main/engine/receiver/receiver-worker.ts', import.meta.url)

function startThread(task: Partial<ReceiverTask> = {}): ReceiverThread & { workspace: string } {
  const workspace = task.workspace ?? createTemporaryFolder()
  const thread = new ReceiverThread(WORKER, { workspace, ...task })
  onTestFinished(() => thread.close())
  return Object.assign(thread, { workspace })
}

describe('the receiver’s thread', () => {
  it('reports its address, takes callbacks, tests itself, counts, deletes, and ends', async () => {
    const thread = startThread()
    const { baseUrl, port, role } = await thread.ready
    expect([baseUrl, role]).toEqual([`http://127.0.0.1:${port}`, 'listening'])
    expect(thread.standing).toEqual({ baseUrl, port, role })
    await thread.call('selfTest', baseUrl)
    const { secret } = readReceiverSettings(thread.workspace)
    const path = toCallbackPath(secret, { runToken: 'run-1', item: 1 })
    expect(await postCallback(baseUrl + path)).toBe(200)
    expect(await postCallback(`${baseUrl}/guess`)).toBe(404)
    expect(await thread.call('counts')).toEqual({ received: 1, refused: { forged: 1 } })
    const reader = new InboxReader(thread.workspace)
    onTestFinished(() => reader.close())
    expect(reader.readRunTokens()).toEqual(['run-1'])
    await thread.call('forget', ['run-1'])
    expect(reader.readRunTokens()).toEqual([])
    await thread.close()
    await thread.ended
    await expect(thread.call('counts')).rejects.toMatchObject({ code: 'RECEIVER_UNAVAILABLE' })
    await expect(postCallback(baseUrl + path)).rejects.toThrow()
  })

  it('serves a folder until stopped', async () => {
    const thread = startThread()
    const { baseUrl } = await thread.ready
    const { workspace } = thread
    createWorkspaceFolders(workspace)
    writeFileSync(toJournalFile(workspace, 'run-1'), '')
    const lease = takeLease(toJournalFile(workspace, 'run-1'), 'the run')
    onTestFinished(() => lease.release())
    const folder = join(workspace, 'chosen')
    mkdirSync(folder)
    writeFileSync(join(folder, 'cat.txt'), 'a cat')
    const run = { runToken: 'run-1', runId: 'run-1' }
    const { secret } = readReceiverSettings(workspace)
    const url = baseUrl + toMediaPath(secret, { runToken: 'run-1', path: 'cat.txt' })
    await thread.call('serveFolder', { ...run, folder })
    expect(await (await fetch(url)).text()).toBe('a cat')
    await thread.call('stopServing', run)
    expect((await fetch(url)).status).toBe(404)
    await expect(thread.call('serveFolder', { ...run, folder: '/none' })).rejects.toMatchObject({
      code: 'BAD_SOURCE',
    })
  })

  it('reports what prevents it, and releases everything', async () => {
    onlyInLongForm()
    const foreign = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => {
      foreign.close()
    })
    await new Promise((resolve) => foreign.once('listening', resolve))
    const address = foreign.address()
    const port = typeof address === 'object' && address !== null ? address.port : 0
    const thread = startThread({ port })
    await expect(thread.ready).rejects.toMatchObject({
      code: 'RECEIVER_UNAVAILABLE',
      message: expect.stringContaining('another program uses that port'),
      hint: expect.stringContaining('--callback-port'),
    })
    await thread.ended
    const second = startThread({ workspace: thread.workspace })
    expect((await second.ready).role).toBe('listening')
  })

  it('can be closed before it listens', async () => {
    onlyInLongForm()
    const thread = startThread()
    await thread.close()
    await thread.ended
    const again = startThread({ workspace: thread.workspace })
    expect((await again.ready).role).toBe('listening')
  })
})

describe('a receiver whose thread crashes', () => {
  it('returns at the address its runs expect, even if somebody opens it early', async () => {
    const threads: Worker[] = []
    const keep = (thread: Worker) => void (thread.threadName === 'receiver' && threads.push(thread))
    process.on('worker', keep)
    onTestFinished(() => void process.off('worker', keep))
    const receiver = new WorkspaceReceiver({
      workspace: createTemporaryFolder(),
      url: WORKER,
      readLiveTokens: async () => new Set(),
      readKnownSecrets: () => [],
    })
    onTestFinished(() => receiver.close())
    const { port: usual } = await receiver.open({})
    await receiver.close()
    const { port } = await receiver.open({ port: usual + 1, maxBytes: 20_000_000 })
    expect(port).not.toBe(usual)
    await threads.at(-1)?.terminate()
    await waitFor(async () => expect((await receiver.status())?.baseUrl).toContain(`:${port}`))
    await threads.at(-1)?.terminate()
    await waitFor(async () => expect(await receiver.status()).toBeNull())
    // The second restart waits a second, but opening does not.
    expect(await receiver.open({})).toMatchObject({ port, role: 'listening' })
    await receiver.open({ maxBytes: 20_000_000 })
    expect(threads).toHaveLength(4)
  })
})
