import { createHash } from 'node:crypto'
import { mkdirSync, renameSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createMediaFiles, type MediaRequest } from '../../../src/main/bridge/media-files.ts'
import { fetchMedia, isOwnAddress } from '../../../src/main/bridge/media-handlers.ts'
import { findMediaType } from '../../../src/main/bridge/media-type.ts'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, withBridge } from './connect.ts'
import { createRequest } from './plans.ts'

const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
)

const text = (latin1: string) => Buffer.from(latin1, 'latin1')

function get(pathname: string, more: Partial<MediaRequest> = {}): MediaRequest {
  return { pathname, method: 'GET', range: undefined, ifRange: undefined, ifNoneMatch: undefined, ...more }
}

describe('the type of media', () => {
  it.each([
    ['image/png', PNG],
    ['image/jpeg', text('\xff\xd8\xff\xe0')],
    ['image/gif', text('GIF89a')],
    ['image/webp', text('RIFF\0\0\0\0WEBPVP8 ')],
    ['image/avif', text('\0\0\0\x1cftypavif')],
    ['image/bmp', text('BM\x01\0\0\0\0\0\0\0')],
    ['video/mp4', text('\0\0\0\x18ftypisom')],
    ['video/webm', text('\x1a\x45\xdf\xa3')],
    ['audio/mpeg', text('ID3\x04')],
    ['audio/mpeg', text('\xff\xfb\x90\x64')],
    ['audio/aac', text('\xff\xf1\x50')],
    ['audio/wav', text('RIFF\0\0\0\0WAVE')],
    ['audio/ogg', text('OggS\0')],
    ['audio/flac', text('fLaC')],
  ])('%s is recognised by its first bytes', (type, head) => {
    expect(findMediaType(head)).toMatchObject({ type, shows: type.split('/')[0], isAnimated: false })
  })

  it.each([
    ['an SVG', text('<svg xmlns="http://www.w3.org/2000/svg">')],
    ['a page', text('<!doctype html><script>')],
    ['a HEIC picture, which no page shows', text('\0\0\0\x18ftypheic')],
    ['text', text('hello')],
    ['nothing', Buffer.alloc(0)],
    ['set bits', Buffer.alloc(64, 0xff)],
  ])('is unknown for %s', (_what, head) => {
    expect(findMediaType(head)).toBeNull()
  })

  it('says whether a picture moves', () => {
    const moving = [
      text('GIF89a\x01\0\x01\0\0\0\0!\xff\x0bNETSCAPE2.0'),
      Buffer.concat([PNG.subarray(0, 33), text('\0\0\0\x08acTL')]),
      text('RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0'),
      text('\0\0\0\x1cftypavis'),
    ]
    expect(moving.map((head) => findMediaType(head)?.isAnimated)).toEqual([true, true, true, true])
  })
})

describe('a media file', () => {
  function createFolders() {
    const root = createTemporaryFolder()
    const [folder, outside] = [join(root, 'source'), join(root, 'elsewhere')]
    mkdirSync(folder)
    mkdirSync(outside)
    writeFileSync(join(folder, 'cat.png'), PNG)
    writeFileSync(join(outside, 'secret.png'), PNG)
    return { folder, outside }
  }

  it('is served under a handle, whole and in part, as what its bytes are and never as a page', async () => {
    const { folder } = createFolders()
    renameSync(join(folder, 'cat.png'), join(folder, 'cat.html'))
    const files = createMediaFiles()
    const found = await files.addFile(folder, 'cat.html')
    if (found.kind !== 'file') return expect.fail(found.why)
    expect(found).toMatchObject({ type: 'image/png', sizeBytes: PNG.length })
    expect(found.url).toMatch(/^\/files\/media\/[0-9a-f]{32}$/)
    expect(await files.addFile(folder, 'cat.html')).toEqual(found)
    const whole = await files.answer(get(found.url))
    expect(whole?.headers).toMatchObject({
      'content-type': 'image/png',
      'content-length': String(PNG.length),
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
    })
    expect(await buffer(whole?.body ?? expect.fail('no body'))).toEqual(PNG)
    const part = await files.answer(get(found.url, { range: 'bytes=1-3' }))
    expect([part?.status, part?.headers['content-range']]).toEqual([206, `bytes 1-3/${PNG.length}`])
    expect(await buffer(part?.body ?? expect.fail('no body'))).toEqual(PNG.subarray(1, 4))
    expect(await files.answer(get(found.url, { range: 'bytes=9999-' }))).toMatchObject({
      status: 416,
      body: null,
    })
    const etag = whole?.headers['etag']
    expect(await files.answer(get(found.url, { ifNoneMatch: etag }))).toMatchObject({ status: 304 })
    expect(await files.answer(get(found.url, { method: 'HEAD' }))).toMatchObject({ status: 200, body: null })
    expect(await files.answer(get(found.url, { method: 'POST' }))).toBeNull()
    expect(await files.answer(get('/files/media/cat.html'))).toBeNull()
    expect(await files.answer(get(`/files/media/${'0'.repeat(32)}`))).toBeNull()
  })

  it('is not shown if it is outside the folder, by path or by link', async () => {
    const { folder, outside } = createFolders()
    symlinkSync(join(outside, 'secret.png'), join(folder, 'link.png'))
    symlinkSync(outside, join(folder, 'away'))
    symlinkSync(join(folder, 'cat.png'), join(folder, 'inside.png'))
    const files = createMediaFiles()
    const missing = { kind: 'unusable', why: 'missing', sizeBytes: null }
    for (const path of [
      '../elsewhere/secret.png',
      'link.png',
      'away/secret.png',
      'none.png',
      '',
      '.',
      'away',
    ]) {
      expect(await files.addFile(folder, path)).toEqual(missing)
    }
    expect(await files.addFile(folder, 'inside.png')).toMatchObject({ kind: 'file' })
  })

  it('is checked again each time: a file that replaces it is served by the same rules', async () => {
    const { folder, outside } = createFolders()
    const files = createMediaFiles()
    const found = await files.addFile(folder, 'cat.png')
    const url = found.kind === 'file' ? found.url : ''
    renameSync(join(folder, 'cat.png'), join(folder, 'old.png'))
    expect(await files.answer(get(url))).toBeNull()
    symlinkSync(join(outside, 'secret.png'), join(folder, 'cat.png'))
    expect(await files.answer(get(url))).toBeNull()
    const other = createFolders()
    const page = await files.addFile(other.folder, 'cat.png')
    writeFileSync(join(other.folder, 'cat.png'), '<script>alert(1)</script>')
    expect(await files.answer(get(page.kind === 'file' ? page.url : ''))).toBeNull()
  })

  it('is not shown if it is not media, or a picture that is too large', async () => {
    const { folder } = createFolders()
    writeFileSync(join(folder, 'notes.png'), 'just text')
    truncateSync(join(folder, 'cat.png'), 65 * 1024 * 1024)
    const files = createMediaFiles()
    expect(await files.addFile(folder, 'notes.png')).toEqual({
      kind: 'unusable',
      why: 'not-media',
      sizeBytes: 9,
    })
    expect(await files.addFile(folder, 'cat.png')).toMatchObject({ why: 'too-large' })
  })
})

describe('media elsewhere', () => {
  async function serve(answer: RequestListener) {
    const server = createServer(answer)
    onTestFinished(() => {
      server.close()
      server.closeAllConnections()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }
  const toError = (call: Promise<unknown>) =>
    call.then(
      () => 'fetched',
      (error: Error) => error.message,
    )
  const isRefused = () => false

  it('are fetched once, without cookies, credentials or referrer', async () => {
    const seen: Record<string, unknown>[] = []
    const base = await serve((request, response) => {
      seen.push({ ...request.headers, method: request.method, url: request.url })
      response.end(PNG)
    })
    const address = `${base.replace('//', '//me:secret@')}/a.png?x=1`
    const { bytes, type } = await fetchMedia(address, { isRefused })
    expect([bytes, type.type]).toEqual([PNG, 'image/png'])
    expect(seen).toEqual([
      {
        method: 'GET',
        url: '/a.png?x=1',
        host: new URL(base).host,
        accept: 'image/*, video/*, audio/*',
        'accept-encoding': 'identity',
        'user-agent': 'Sluice',
        connection: 'close',
      },
    ])
  })

  it('are not fetched from this machine, by address or by name', async () => {
    let requests = 0
    const base = await serve((_request, response) => {
      requests += 1
      response.end(PNG)
    })
    expect(await toError(fetchMedia(base, {}))).toMatch(/is this machine/)
    expect(await toError(fetchMedia(base.replace('127.0.0.1', 'localhost'), {}))).toMatch(/is this machine/)
    expect(requests).toBe(0)
    const own = [
      '127.0.0.1',
      '127.8.8.8',
      '0.0.0.0',
      '169.254.169.254',
      '::1',
      '::',
      'fe80::1',
      '::ffff:127.0.0.1',
    ]
    // Also the addresses at which others reach it.
    own.push(
      ...Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => address)),
    )
    expect(own.filter((ip) => !isOwnAddress(ip))).toEqual([])
    expect(['203.0.113.1', '198.51.100.7', '93.184.216.34', '2606:2800::1'].filter(isOwnAddress)).toEqual([])
  })

  it('report what came instead: a redirect, an error, something else, too much', async () => {
    const base = await serve(({ url }, response) => {
      if (url === '/moved') response.writeHead(302, { location: 'http://other.example/a.png' }).end()
      else if (url === '/gone') response.writeHead(404).end()
      else if (url === '/page') response.end('<html>')
      else if (url === '/large') response.writeHead(200, { 'content-length': String(2 ** 40) }).flushHeaders()
      else response.destroy()
    })
    const failures = await Promise.all(
      ['/moved', '/gone', '/page', '/large', '/cut'].map((path) =>
        toError(fetchMedia(base + path, { isRefused })),
      ),
    )
    const { host } = new URL(base)
    expect(failures).toEqual([
      `${host} redirects to other.example`,
      `cannot fetch the file from ${host}: HTTP status 404`,
      `${host} sent something that is not a picture, video or sound that can be shown here`,
      `the file on ${host} is larger than 67.1 MB`,
      `cannot fetch the file from ${host}: ECONNRESET`,
    ])
  })
})

it("shows the media that a row names: files in its source's folder, and hosts elsewhere", async () => {
  const sandbox = await withSandbox()
  const folder = createTemporaryFolder()
  mkdirSync(join(folder, 'pictures'))
  writeFileSync(join(folder, 'pictures', 'a.png'), PNG)
  writeFileSync(join(folder, 'notes.jpg'), 'text')
  const rows = [
    ['look at this', 'pictures/a.png', './pictures/a.png', 'notes.jpg', 'http://cdn.example/b.webp'],
    [
      'https://example.com/page',
      '../outside.png',
      join(folder, 'pictures/a.png'),
      '',
      'http://127.0.0.1:1/c.mp4',
    ],
  ]
  const file = join(folder, 'posts.csv')
  const lines = [['text_data', 'picture', 'copy', 'other', 'link'], ...rows].map((cells) => cells.join(','))
  writeFileSync(file, `user_id,${lines.join('\nu1,')}\n`)
  const { services } = withBridge()
  const { client } = await connectWindow('message port', services)
  const request = await createRequest(services, file, sandbox.baseUrl)
  const { runId } = await client.runs.start({ request, apiKey: sandbox.key })
  await client.runs.awaitReady({ runId })
  const first = await client.media.ofRow({ runId, row: 1 })
  expect(first).toMatchObject([
    { kind: 'file', column: 2, type: 'image/png', sizeBytes: PNG.length },
    { kind: 'unusable', column: 4, why: 'not-media' },
    { kind: 'remote', column: 5, host: 'cdn.example' },
  ])
  expect(await client.media.ofRow({ runId, row: 2 })).toMatchObject([
    { kind: 'unusable', column: 2, why: 'missing' },
    { kind: 'file', column: 3 },
    { kind: 'remote', column: 5, host: '127.0.0.1:1' },
  ])
  const [shown] = first
  const answer = await services.media.answer(get(shown?.kind === 'file' ? shown.url : ''))
  const sent = await buffer(answer?.body ?? expect.fail('no body'))
  expect(createHash('sha256').update(sent).digest('hex')).toBe(createHash('sha256').update(PNG).digest('hex'))

  const fetch = (row: number, column: number) =>
    client.media.fetch({ runId, row, column }).then(
      () => 'fetched',
      (error: unknown) => parseBridgeError(error)?.message,
    )
  // A file of the folder is not an address, and neither is what the text contains.
  expect(await fetch(1, 2)).toMatch(/column 3 of row 2 is not the address/)
  expect(await fetch(2, 1)).toMatch(/is not the address/)
  expect(await fetch(2, 5)).toBe('127.0.0.1:1 is this machine')
})
