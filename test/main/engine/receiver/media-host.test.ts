import { mkdirSync, readdirSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { toMediaPath } from '../../../../src/main/engine/receiver/addresses.ts'
import type { ReceiverLimits } from '../../../../src/main/engine/receiver/receiver-limits.ts'
import { takeLease } from '../../../../src/main/engine/workspace/lease.ts'
import {
  createWorkspaceFolders,
  toJournalFile,
} from '../../../../src/main/engine/workspace/workspace-files.ts'
import { holdLease, type LeaseHolder } from '../../../helpers/hold-lease.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { openSocket, type RawAnswer, requestRaw } from '../../../helpers/raw-http.ts'
import { createManualClock, startTestReceiver, type TestReceiver } from './with-receiver.ts'

const RUN = { runToken: 'run-1', runId: 'run-1' }
const CONTENT = Buffer.from(Array.from({ length: 1_000 }, (_, i) => i % 251))

/** A receiver that serves a folder for a run held by this process. */
async function serve(limits: Partial<ReceiverLimits> = {}): Promise<TestReceiver & { folder: string }> {
  const test = await startTestReceiver({ limits })
  const folder = join(test.workspace, 'chosen')
  mkdirSync(folder)
  writeFileSync(join(folder, 'clip.mp4'), CONTENT)
  holdRun(test.workspace, RUN.runId)
  test.receiver.serveFolder({ ...RUN, folder })
  return Object.defineProperties({ folder }, Object.getOwnPropertyDescriptors(test)) as TestReceiver & {
    folder: string
  }
}

function holdRun(workspace: string, runId: string): { release(): void } {
  createWorkspaceFolders(workspace)
  const file = toJournalFile(workspace, runId)
  writeFileSync(file, '')
  const lease = takeLease(file, 'the run')
  onTestFinished(() => {
    try {
      lease.release()
    } catch {
      // Released by the test.
    }
  })
  return lease
}

function get(
  test: TestReceiver,
  path: string,
  headers: Record<string, string> = {},
  method = 'GET',
): Promise<RawAnswer> {
  const target = toMediaPath(test.secret, { runToken: RUN.runToken, path })
  return requestRaw(test.baseUrl, method, target, headers)
}

describe('the media host', () => {
  it('sends a file with its type, length, date and tag', async () => {
    const test = await serve()
    const { status, headers, body } = await get(test, 'clip.mp4')
    expect(status).toBe(200)
    expect(body).toEqual(CONTENT)
    expect(headers).toMatchObject({
      'content-type': 'video/mp4',
      'content-length': '1000',
      'accept-ranges': 'bytes',
      'x-content-type-options': 'nosniff',
      etag: expect.stringMatching(/^"[0-9a-z-]+"$/),
      'last-modified': expect.stringMatching(/ GMT$/),
    })
  })

  it('sends parts and heads, and nothing that the client already has', async () => {
    const test = await serve()
    const part = await get(test, 'clip.mp4', { range: 'bytes=100-199' })
    expect([part.status, part.headers['content-range'], part.headers['content-length']]).toEqual([
      206,
      'bytes 100-199/1000',
      '100',
    ])
    expect(part.body).toEqual(CONTENT.subarray(100, 200))
    expect((await get(test, 'clip.mp4', { range: 'bytes=-1' })).body).toEqual(CONTENT.subarray(999))
    const beyond = await get(test, 'clip.mp4', { range: 'bytes=1000-' })
    expect([beyond.status, beyond.headers['content-range'], beyond.body.length]).toEqual([
      416,
      'bytes */1000',
      0,
    ])
    const head = await get(test, 'clip.mp4', {}, 'HEAD')
    expect([head.status, head.headers['content-length'], head.body.length]).toEqual([200, '1000', 0])
    const known = await get(test, 'clip.mp4', { 'if-none-match': part.headers['etag'] ?? '' })
    expect([known.status, known.body.length]).toEqual([304, 0])
  })

  it.each([
    ['a.jpg', 'image/jpeg'],
    ['a.JPEG', 'image/jpeg'],
    ['a.png', 'image/png'],
    ['a.webp', 'image/webp'],
    ['a.heic', 'image/heic'],
    ['a.gif', 'image/gif'],
    ['a.mov', 'video/quicktime'],
    ['a.webm', 'video/webm'],
    ['a.mp3', 'audio/mpeg'],
    ['a.wav', 'audio/wav'],
    ['a.pdf', 'application/pdf'],
    ['a.unheard-of', 'application/octet-stream'],
    ['no-ending', 'application/octet-stream'],
  ])('knows the type of %s', async (name, type) => {
    const test = await serve()
    writeFileSync(join(test.folder, name), '')
    const { status, headers } = await get(test, name)
    expect([status, headers['content-type'], headers['content-length']]).toEqual([200, type, '0'])
  })

  it('finds names of every kind', async () => {
    const test = await serve()
    const names = [
      'a b.jpg',
      'ü猫😀.jpg',
      '100%.jpg',
      'a+b&c=d?e#f.jpg',
      '%2e%2e.jpg',
      "it's (1)!.jpg",
      '..cat.jpg',
    ]
    for (const name of names) writeFileSync(join(test.folder, name), name)
    const answers = await Promise.all(names.map((name) => get(test, name)))
    expect(answers.map(({ body }) => String(body))).toEqual(names)
  })

  it('serves only while the run needs it', async () => {
    const test = await startTestReceiver({}, createManualClock())
    const folder = join(test.workspace, 'chosen')
    mkdirSync(folder)
    writeFileSync(join(folder, 'clip.mp4'), CONTENT)
    const statuses = [(await get(test, 'clip.mp4')).status]
    holdRun(test.workspace, RUN.runId)
    test.receiver.serveFolder({ ...RUN, folder })
    statuses.push((await get(test, 'clip.mp4')).status)
    await test.receiver.stopServing({ ...RUN, runId: 'another-run' })
    statuses.push((await get(test, 'clip.mp4')).status)
    await test.receiver.stopServing(RUN)
    statuses.push((await get(test, 'clip.mp4')).status)
    expect(statuses).toEqual([404, 200, 200, 404])
  })

  it("stops serving once the run's process is gone", async () => {
    let nowMs = 0
    const test = await startTestReceiver({}, { ...createManualClock(), nowMs: () => nowMs })
    const folder = join(test.workspace, 'chosen')
    mkdirSync(folder)
    writeFileSync(join(folder, 'clip.mp4'), CONTENT)
    createWorkspaceFolders(test.workspace)
    const journal = toJournalFile(test.workspace, RUN.runId)
    writeFileSync(journal, '')
    const holder: LeaseHolder = await holdLease(journal)
    test.receiver.serveFolder({ ...RUN, folder })
    expect((await get(test, 'clip.mp4')).status).toBe(200)
    await holder.kill()
    nowMs += 1_000
    expect((await get(test, 'clip.mp4')).status).toBe(404)
  })

  it('serves at once when a run is resumed', async () => {
    const test = await startTestReceiver({}, createManualClock())
    const folder = join(test.workspace, 'chosen')
    mkdirSync(folder)
    writeFileSync(join(folder, 'clip.mp4'), CONTENT)
    test.receiver.serveFolder({ ...RUN, folder })
    expect((await get(test, 'clip.mp4')).status).toBe(404)
    holdRun(test.workspace, RUN.runId)
    expect((await get(test, 'clip.mp4')).status).toBe(200)
  })

  it('deletes what runs left behind when the next receiver starts', async () => {
    const test = await serve()
    test.receiver.serveFolder({ runToken: 'gone', runId: 'gone', folder: test.folder })
    test.receiver.serveFolder({ runToken: 'new', runId: 'new', folder: test.folder })
    const registrations = join(test.workspace, 'media')
    for (const token of ['gone', RUN.runToken]) utimesSync(join(registrations, `${token}.json`), 0, 0)
    await test.receiver.close()
    await startTestReceiver({ workspace: test.workspace })
    expect(readdirSync(registrations).sort()).toEqual(['new.json', 'run-1.json'])
  })

  it('also serves folders registered with a standby receiver', async () => {
    const test = await serve()
    const second = await startTestReceiver({ workspace: test.workspace }, createManualClock())
    holdRun(test.workspace, 'run-2')
    const run = { runToken: 'token-2', runId: 'run-2' }
    second.receiver.serveFolder({ ...run, folder: test.folder })
    const target = toMediaPath(test.secret, { runToken: 'token-2', path: 'clip.mp4' })
    expect((await requestRaw(second.baseUrl, 'GET', target)).body).toEqual(CONTENT)
    await second.receiver.stopServing(run)
    expect((await requestRaw(second.baseUrl, 'GET', target)).status).toBe(404)
  })

  it('is not reported for something that is not a folder', async () => {
    const test = await serve()
    const serveOther = (folder: string) => () => test.receiver.serveFolder({ ...RUN, folder })
    expect(serveOther(join(test.folder, 'none'))).toThrow(/cannot serve the files of .*none/)
    expect(serveOther(join(test.folder, 'clip.mp4'))).toThrow(/it is not a folder/)
  })

  it('breaks off if a file shrinks while it is sent, and lets no client wait', async () => {
    const test = await serve()
    const size = 64 * 1024 * 1024
    const path = join(test.folder, 'large.mp4')
    writeFileSync(path, '')
    truncateSync(path, size)
    const target = toMediaPath(test.secret, { runToken: RUN.runToken, path: 'large.mp4' })
    const socket = await openSocket(test.baseUrl)
    socket.write(`GET ${target} HTTP/1.1\r\nhost: x\r\n\r\n`)
    await new Promise((resolve) => socket.once('readable', resolve))
    truncateSync(path, 1_000)
    let sizeBytes = 0
    socket.on('data', (chunk: Buffer) => {
      sizeBytes += chunk.length
    })
    await new Promise((resolve) => socket.once('close', resolve))
    expect(sizeBytes).toBeLessThan(size)
    expect((await get(test, 'clip.mp4')).status).toBe(200)
  })

  it('limits the files sent at once and asks other clients to come again', async () => {
    const test = await serve({ maxMediaFiles: 1 })
    const path = join(test.folder, 'large.mp4')
    writeFileSync(path, '')
    truncateSync(path, 64 * 1024 * 1024)
    const socket = await openSocket(test.baseUrl)
    const target = toMediaPath(test.secret, { runToken: RUN.runToken, path: 'large.mp4' })
    socket.write(`GET ${target} HTTP/1.1\r\nhost: x\r\n\r\n`)
    await new Promise((resolve) => socket.once('readable', resolve))
    const refused = await get(test, 'clip.mp4')
    expect([refused.status, refused.headers['retry-after']]).toEqual([503, '1'])
    socket.destroy()
    await expect.poll(async () => (await get(test, 'clip.mp4')).status).toBe(200)
  })

  it('ends unread downloads as soon as others wait for their place', async () => {
    onlyInLongForm()
    const test = await serve({ maxMediaFiles: 3, mediaStallMs: 10_000 })
    const path = join(test.folder, 'large.mp4')
    writeFileSync(path, '')
    truncateSync(path, 64 * 1024 * 1024)
    const target = toMediaPath(test.secret, { runToken: RUN.runToken, path: 'large.mp4' })
    for (let index = 0; index < 3; index += 1) {
      const socket = await openSocket(test.baseUrl)
      socket.write(`GET ${target} HTTP/1.1\r\nhost: x\r\n\r\n`)
      await new Promise((resolve) => socket.once('readable', resolve))
    }
    expect((await get(test, 'clip.mp4')).status).toBe(503)
    const isServed = async () => (await get(test, 'clip.mp4')).status
    await expect.poll(isServed, { timeout: 5_000 }).toBe(200)
  })
})

describe('a path that leads out of the folder', () => {
  const SECRET_TEXT = 'a secret outside of the folder'

  /** Like {@link serve}, with a secret outside and links to it inside. */
  async function serveBeside(): Promise<TestReceiver & { folder: string }> {
    const test = await serve()
    writeFileSync(join(test.workspace, 'secret.txt'), SECRET_TEXT)
    mkdirSync(join(test.folder, 'sub'))
    symlinkSync('../secret.txt', join(test.folder, 'link.txt'))
    symlinkSync('..', join(test.folder, 'up'))
    return test
  }

  const TRICKS = [
    '../secret.txt',
    'sub/../../secret.txt',
    './../secret.txt',
    '..//secret.txt',
    '.../../secret.txt',
    '/secret.txt',
    '//secret.txt',
    '../chosen/clip.mp4',
    'sub/../clip.mp4',
    '..\\secret.txt',
    'sub\\..\\..\\secret.txt',
    '..\\/secret.txt',
    '%2e%2e/secret.txt',
    '%2e%2e%2fsecret.txt',
    '..%2fsecret.txt',
    '..%5csecret.txt',
    '%252e%252e%252fsecret.txt',
    '..%c0%afsecret.txt',
    '..%u2215secret.txt',
    '\u2025/secret.txt',
    '\uff0e\uff0e/secret.txt',
    'clip.mp4\0',
    'clip.mp4\0.txt',
    '..\0/secret.txt',
    'clip.mp4/',
    'clip.mp4/.',
    'clip.mp4/../../secret.txt',
    'link.txt',
    'up/secret.txt',
    'up/chosen/../secret.txt',
    'sub/../up/secret.txt',
    'up',
    'sub',
    '.',
    '..',
    '/',
    '/etc/passwd',
    'etc/passwd',
    '../../../../../../../../etc/passwd',
    'C:/windows/win.ini',
    'C:\\windows\\win.ini',
    '//localhost/c$/windows/win.ini',
    '\\\\localhost\\c$\\windows\\win.ini',
    'file:///etc/passwd',
    '/proc/self/environ',
    '/dev/stdin',
    'receiver.json',
    '../receiver.json',
    '~/secret.txt',
  ]

  it('is 404 even with an address that we issued ourselves', async () => {
    const test = await serveBeside()
    const answers: (RawAnswer & { path: string })[] = []
    for (const path of TRICKS) answers.push({ path, ...(await get(test, path)) })
    expect(answers.filter(({ status }) => status !== 404).map(({ path }) => path)).toEqual([])
    expect(answers.filter(({ body }) => body.includes(SECRET_TEXT) || body.includes('root:'))).toEqual([])
    expect((await get(test, 'clip.mp4')).status).toBe(200)
    expect((await get(test, 'up/chosen/clip.mp4')).status).toBe(200)
  })

  it('is 404 and counted as forged if it follows the address of another file', async () => {
    const test = await serveBeside()
    const known = toMediaPath(test.secret, { runToken: RUN.runToken, path: 'clip.mp4' })
    const base = known.slice(0, -'clip.mp4'.length)
    const targets = TRICKS.flatMap((path) => [
      base + path.replaceAll('\0', '%00').replaceAll(/[^\x21-\x7e]/g, encodeURIComponent),
      base + encodeURIComponent(path),
      base + encodeURIComponent(encodeURIComponent(path)),
      base + encodeURI(path).replaceAll('.', '%2e'),
    ])
    const statuses = new Map<number, number>()
    for (const target of targets) {
      const { status, body } = await requestRaw(test.baseUrl, 'GET', target)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      expect(body.includes(SECRET_TEXT) || body.includes('root:'), target).toBe(false)
    }
    expect([...statuses]).toEqual([[404, targets.length]])
    expect(test.counts().refused).toEqual({ forged: targets.length })
    expect((await requestRaw(test.baseUrl, 'GET', known)).status).toBe(200)
  })
})
