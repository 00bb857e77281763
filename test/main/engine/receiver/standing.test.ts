import { createServer } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toCallbackPath } from '../../../../src/main/engine/receiver/addresses.ts'
import { toInboxFile } from '../../../../src/main/engine/receiver/inbox.ts'
import { isEveryAddress, toBaseUrl } from '../../../../src/main/engine/receiver/listen.ts'
import {
  keepReceiverPort,
  readReceiverSettings,
} from '../../../../src/main/engine/receiver/receiver-settings.ts'
import type { SluiceError } from '../../../../src/shared/messages/errors.ts'
import { holdLease } from '../../../helpers/hold-lease.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { spawnReceiver } from './spawn-receiver.ts'
import { createManualClock, createTestReceiver, postCallback, startTestReceiver } from './with-receiver.ts'

/** A port on which a foreign program listens during the test. */
async function takePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  onTestFinished(() => {
    server.close()
  })
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  return typeof address === 'object' && address !== null ? address.port : 0
}

/** A port on which nobody listens. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  return typeof address === 'object' && address !== null ? address.port : 0
}

async function catchError(work: Promise<unknown>): Promise<SluiceError> {
  return work.then(
    () => Promise.reject(new Error('nothing was thrown')),
    (error: SluiceError) => error,
  )
}

describe('the address of a workspace’s receiver', () => {
  it('is on loopback, at a port outside the range for outgoing connections', async () => {
    const test = await startTestReceiver()
    const { port } = readReceiverSettings(test.workspace)
    expect(test.standings).toEqual([{ baseUrl: `http://127.0.0.1:${port}`, port, role: 'listening' }])
    expect(port).toBeGreaterThanOrEqual(20_000)
    expect(port).toBeLessThan(32_768)
  })

  it('stays the same, so that callbacks arrive after a restart', async () => {
    const first = await startTestReceiver()
    const url = first.toUrl('run-1', 1)
    await first.receiver.close()
    const second = await startTestReceiver({ workspace: first.workspace })
    expect(await postCallback(url)).toBe(200)
    expect(second.read('run-1')).toHaveLength(1)
  })

  it('is the requested one, which a workspace without one keeps', async () => {
    const [port, other] = [await findFreePort(), await findFreePort()]
    const first = await startTestReceiver({ port })
    expect(first.baseUrl).toBe(`http://127.0.0.1:${port}`)
    await first.receiver.close()
    const second = await startTestReceiver({ workspace: first.workspace, port: other })
    expect(second.baseUrl).toBe(`http://127.0.0.1:${other}`)
    expect(readReceiverSettings(first.workspace).port).toBe(port)
  })

  it('is refused if another program has it, with what to do', async () => {
    const workspace = createTemporaryFolder()
    keepReceiverPort(workspace, await takePort())
    const own = await catchError(createTestReceiver({ workspace }).receiver.start())
    expect([own.code, own.message]).toEqual([
      'RECEIVER_UNAVAILABLE',
      expect.stringMatching(/cannot listen on 127\.0\.0\.1 port \d+: another program uses that port/),
    ])
    expect(own.hint).toMatch(
      /callbacks of earlier runs go to port \d+\. To use another port .*--callback-port/,
    )
    const asked = await catchError(createTestReceiver({ port: await takePort() }).receiver.start())
    expect(asked.hint).toBe('End that program, or choose another port with --callback-port PORT.')
    // The inbox was released: with a free port the receiver starts.
    await startTestReceiver({ workspace, port: await findFreePort() })
  })

  it('is refused if it is not on this machine', async () => {
    const error = await catchError(createTestReceiver({ host: '203.0.113.7' }).receiver.start())
    expect(error.message).toMatch(/cannot listen on 203\.0\.113\.7 .*this machine does not have that address/)
    expect(error.hint).toContain('--callback-host')
  })

  it('is one that other machines can reach if it is on every address', () => {
    const toInterface = (address: string, family: 'IPv4' | 'IPv6', internal = false) =>
      ({ address, family, internal, netmask: '', mac: '', cidr: null, scopeid: 0 }) as never
    const interfaces = {
      lo: [toInterface('127.0.0.1', 'IPv4', true)],
      eth0: [
        toInterface('fe80::1', 'IPv6'),
        toInterface('2001:db8::7', 'IPv6'),
        toInterface('192.0.2.7', 'IPv4'),
      ],
    }
    expect(toBaseUrl('127.0.0.1', 1, interfaces)).toBe('http://127.0.0.1:1')
    expect(toBaseUrl('::1', 1, interfaces)).toBe('http://[::1]:1')
    expect(toBaseUrl('localhost', 1, interfaces)).toBe('http://localhost:1')
    expect(toBaseUrl('0.0.0.0', 1, interfaces)).toBe('http://192.0.2.7:1')
    expect(toBaseUrl('::', 1, interfaces)).toBe('http://192.0.2.7:1')
    expect(toBaseUrl('::', 1, { eth0: interfaces.eth0.slice(0, 2) })).toBe('http://[2001:db8::7]:1')
    expect(toBaseUrl('0.0.0.0', 1, { lo: interfaces.lo })).toBe('http://127.0.0.1:1')
    expect(['0.0.0.0', '::', '127.0.0.1'].map(isEveryAddress)).toEqual([true, true, false])
  })

  it('can be every address of the machine', async () => {
    const test = await startTestReceiver({ host: '0.0.0.0' })
    const { port } = readReceiverSettings(test.workspace)
    const path = toCallbackPath(test.secret, { runToken: 'run-1', item: 1 })
    expect(await postCallback(`http://127.0.0.1:${port}${path}`)).toBe(200)
    expect(await postCallback(`${test.baseUrl}${path}`)).toBe(200)
  })
})

describe('a second receiver of a workspace', () => {
  it('stands by at the first one’s address, and reads what that one stores', async () => {
    const first = await startTestReceiver()
    const second = await startTestReceiver({ workspace: first.workspace }, createManualClock())
    expect(second.standings).toEqual([{ ...first.standings[0], role: 'standby' }])
    expect(await postCallback(second.toUrl('run-1', 1))).toBe(200)
    expect(await postCallback(`${second.baseUrl}/guess`)).toBe(404)
    expect(second.read('run-1')).toHaveLength(1)
    await first.receiver.close()
    expect(second.counts()).toEqual({ received: 1, refused: { forged: 1 } })
  })

  it('takes over at the same address when the first one is killed', async () => {
    onlyInLongForm()
    const workspace = createTemporaryFolder()
    const first = await spawnReceiver(workspace)
    const clock = createManualClock()
    const second = await startTestReceiver({ workspace }, clock)
    const url = second.toUrl('run-1', 1)
    expect(await postCallback(url)).toBe(200)
    clock.pass()
    expect(second.standings.map(({ role }) => role)).toEqual(['standby'])
    first.kill()
    await first.exited
    await expect
      .poll(() => {
        clock.pass()
        return second.standings.map(({ role }) => role)
      })
      .toEqual(['standby', 'listening'])
    expect(second.baseUrl).toBe(first.baseUrl)
    expect(await postCallback(url)).toBe(200)
    expect(second.read('run-1')).toHaveLength(2)
    expect(second.counts().received).toBe(2)
  })

  it('takes over at the port that the first one used that time', async () => {
    const workspace = createTemporaryFolder()
    keepReceiverPort(workspace, await findFreePort())
    const port = await findFreePort()
    const first = await startTestReceiver({ workspace, port })
    const clock = createManualClock()
    const second = await startTestReceiver({ workspace }, clock)
    await first.receiver.close()
    clock.pass()
    await expect.poll(() => second.standings.at(-1)?.role).toBe('listening')
    expect(second.standings.at(-1)?.port).toBe(port)
  })

  it('tries again if the address is not free yet', async () => {
    const first = await startTestReceiver()
    const clock = createManualClock()
    const second = await startTestReceiver({ workspace: first.workspace }, clock)
    const port = first.standings[0]?.port
    await first.receiver.close()
    const foreign = createServer().listen(port, '127.0.0.1')
    await new Promise((resolve) => foreign.once('listening', resolve))
    let waits = 0
    await expect
      .poll(() => {
        clock.pass()
        waits += 1
        if (waits === 3) foreign.close()
        return second.standings.at(-1)?.role
      })
      .toBe('listening')
    expect(waits).toBeGreaterThanOrEqual(3)
  })

  it('is refused if it asks for an address that the first one does not serve', async () => {
    const first = await startTestReceiver()
    const { workspace } = first
    const port = await findFreePort()
    const asked = [{ port }, { host: '0.0.0.0' }]
    for (const address of asked) {
      const error = await catchError(createTestReceiver({ workspace, ...address }).receiver.start())
      expect(error.code).toBe('RECEIVER_UNAVAILABLE')
      expect(error.message).toContain('another process receives the callbacks of this workspace at 127.0.0.1')
      expect(error.hint).toContain(`--callback-port ${first.standings[0]?.port}`)
    }
    await first.receiver.close()
    const open = await startTestReceiver({ workspace, host: '0.0.0.0' })
    const fits = { host: '127.0.0.1', port: open.standings[0]?.port ?? 0 }
    const second = await startTestReceiver({ workspace, ...fits }, createManualClock())
    expect(second.standings).toEqual([{ ...open.standings[0], role: 'standby' }])
  })

  it('gives up if the holder never listens', async () => {
    const workspace = createTemporaryFolder()
    await startTestReceiver({ workspace }).then((test) => test.receiver.close())
    const holder = await holdLease(toInboxFile(workspace))
    onTestFinished(() => holder.kill())
    const clock = { ...createManualClock(), wait: async () => {} }
    const error = await catchError(createTestReceiver({ workspace }, clock).receiver.start())
    expect(error.message).toMatch(/another process uses the callback inbox of .*, but does not listen/)
  })
})
