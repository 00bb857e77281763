import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createMediaFiles } from '../../../src/main/bridge/media-files.ts'
import { createAppProtocolHandler } from '../../../src/main/desktop/app-protocol.ts'

vi.mock('electron', () => import('./electron-stand-in.ts'))

const PAGE = `<!doctype html><script type="module" nonce="__CSP_NONCE__" src="./assets/app.js"></script>
<style nonce="__CSP_NONCE__">body { margin: 0 }</style>`

let folder = ''
const media = createMediaFiles()
let answer: (request: Request) => Promise<Response>
const get = (path: string, init?: RequestInit) => answer(new Request(`app://sluice${path}`, init))

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-app-protocol-'))
  const renderer = join(folder, 'renderer')
  mkdirSync(join(renderer, 'assets'), { recursive: true })
  mkdirSync(join(folder, 'renderer-evil'))
  writeFileSync(join(renderer, 'index.html'), PAGE)
  writeFileSync(join(renderer, 'assets', 'app.js'), 'export const nonce = "__CSP_NONCE__"')
  writeFileSync(join(renderer, 'assets', 'app.css'), 'body{}')
  writeFileSync(join(renderer, 'assets', 'font.woff2'), Buffer.from([0, 255, 254, 128]))
  writeFileSync(join(renderer, 'assets', 'notes.exe'), 'x')
  writeFileSync(join(folder, 'secret.js'), 'secret')
  writeFileSync(join(folder, 'renderer-evil', 'a.js'), 'secret')
  symlinkSync(join(folder, 'secret.js'), join(renderer, 'link.js'))
  answer = createAppProtocolHandler(renderer, media)
})

afterAll(() => rmSync(folder, { recursive: true }))

describe('app://', () => {
  it('serves the page with one nonce in body and policy, and another the next time', async () => {
    const nonces: string[] = []
    for (const path of ['/', '/index.html', '/runs/17']) {
      const response = await get(path)
      const body = await response.text()
      const [, nonce = ''] = /nonce="([\w-]{24})"/.exec(body) ?? []
      expect(response.status).toBe(200)
      expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8')
      expect(response.headers.get('cache-control')).toBe('no-store')
      expect(body).toBe(PAGE.replaceAll('__CSP_NONCE__', nonce))
      expect(response.headers.get('content-security-policy')).toContain(`script-src 'self' 'nonce-${nonce}'`)
      expect(response.headers.get('content-security-policy')).toContain(`style-src 'self' 'nonce-${nonce}'`)
      nonces.push(nonce)
    }
    expect(new Set(nonces).size).toBe(3)
  })

  it('allows nothing inline, no evaluated code and nothing from elsewhere', async () => {
    const policy = (await get('/')).headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
  })

  it.each([
    ['/assets/app.js', 'text/javascript; charset=utf-8', 'export const nonce = "__CSP_NONCE__"'],
    ['/assets/app.css?v=1', 'text/css; charset=utf-8', 'body{}'],
    ['/assets/app%2Ejs', 'text/javascript; charset=utf-8', 'export const nonce = "__CSP_NONCE__"'],
  ])('serves %s as it is, as %s', async (path, type, body) => {
    const response = await get(path)
    expect(response.headers.get('content-type')).toBe(type)
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    expect(await response.text()).toBe(body)
  })

  it('keeps binary files byte for byte', async () => {
    const response = await get('/assets/font.woff2')
    expect([...(await response.bytes())]).toEqual([0, 255, 254, 128])
  })

  it.each([
    '/..%2fsecret.js',
    '/..%2Frenderer-evil%2Fa.js',
    '/assets/..%2f..%2fsecret.js',
    '/assets/%2e%2e%2f%2e%2e%2fsecret.js',
    '/..%5csecret.js',
    '/C:%5csecret.js',
    '/assets/app.js%00.css',
    '/%ff.js',
    '/link.js',
    '/assets/missing.js',
    '/assets/notes.exe',
    '/assets.js',
  ])('answers 404 to %s', async (path) => {
    const response = await get(path)
    expect(response.status).toBe(404)
    expect(await response.text()).not.toContain('secret')
  })

  it('refuses other hosts and other methods, and answers a HEAD without a body', async () => {
    expect((await answer(new Request('app://elsewhere/index.html'))).status).toBe(404)
    expect((await get('/', { method: 'POST', body: 'x' })).status).toBe(405)
    const head = await get('/', { method: 'HEAD' })
    expect([head.status, await head.text()]).toEqual([200, ''])
  })

  it('serves media of rows by their handles, whole and in part, and runs nothing in them', async () => {
    const gif = Buffer.from('GIF89a\x01\0\x01\0\0\0\0;', 'latin1')
    writeFileSync(join(folder, 'a.gif'), gif)
    const found = await media.addFile(realpathSync(folder), 'a.gif')
    const url = found.kind === 'file' ? found.url : expect.fail(found.why)
    const whole = await get(url)
    expect(Buffer.from(await whole.bytes())).toEqual(gif)
    expect(whole.headers.get('content-type')).toBe('image/gif')
    expect(whole.headers.get('content-security-policy')).toBe("default-src 'none'; sandbox")
    const part = await get(url, { headers: { range: 'bytes=0-5' } })
    expect([part.status, await part.text()]).toEqual([206, 'GIF89a'])
    expect((await get(`/files/media/${'0'.repeat(32)}`)).status).toBe(404)
    expect((await get('/files/media/..%2fa.gif')).status).toBe(404)
  })
})
