import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createDownloads } from '../../../src/main/web/downloads.ts'
import { createBoundedServer, LISTENER_LIMITS } from '../../../src/main/web/listener.ts'
import { SESSION_IDLE_MS, SESSION_LIFE_MS } from '../../../src/main/web/sessions.ts'
import { openSocket, sendRaw } from '../../helpers/raw-http.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { toToken, withShell } from './with-shell.ts'

describe('the browser shell', () => {
  it('listens on loopback under a random name of its own', async () => {
    const [one, other] = [await withShell(), await withShell()]
    expect(one.origin).toMatch(/^http:\/\/sluice-[0-9a-f]{16}\.localhost:\d+$/)
    expect(new URL(one.origin).hostname).not.toBe(new URL(other.origin).hostname)
  })

  it('answers no other host name, so that no name can be rebound to it', async () => {
    const shell = await withShell()
    const { cookie } = await shell.enter()
    const { port } = shell
    for (const host of [
      `127.0.0.1:${port}`,
      `localhost:${port}`,
      `evil.example:${port}`,
      'evil.example',
      '',
    ]) {
      for (const path of ['/', '/enter', '/assets/app.js']) {
        const answer = await shell.request(path, { host, cookie })
        expect([host, path, answer.status]).toEqual([host, path, 421])
        expect(answer.text).not.toContain('nonce')
      }
    }
    expect((await shell.request('/', { cookie })).status).toBe(200)
  })

  it('refuses other origins and sites, and requests that change things without an origin', async () => {
    const shell = await withShell()
    const { cookie } = await shell.enter()
    const token = toToken(shell.createEntryUrl())
    for (const origin of [
      'http://evil.example',
      'null',
      `http://localhost:${shell.port}`,
      `${shell.origin}0`,
    ]) {
      expect((await shell.request('/', { cookie, origin })).status).toBe(403)
      expect((await shell.request('/session', { method: 'POST', origin, body: token })).status).toBe(403)
      expect(
        (await shell.request('/files/uploads?name=x.csv', { method: 'PUT', cookie, origin })).status,
      ).toBe(403)
    }
    expect((await shell.request('/session', { method: 'POST', origin: null, body: token })).status).toBe(403)
    expect((await shell.request('/', { cookie, origin: null })).status).toBe(200)
    for (const site of ['cross-site', 'same-site']) {
      const headers = { 'sec-fetch-site': site, 'sec-fetch-mode': 'navigate' }
      expect((await shell.request('/', { cookie, origin: null, headers })).status).toBe(403)
      // A browser treats the file that leads here as another site.
      expect((await shell.request('/enter', { origin: null, headers })).status).toBe(200)
      const embedded = { 'sec-fetch-site': site, 'sec-fetch-mode': 'no-cors' }
      expect((await shell.request('/enter', { origin: null, headers: embedded })).status).toBe(403)
    }
    expect((await shell.enter(token)).answer.status).toBe(200)
  })

  it('shows nothing to a browser that was not let in', async () => {
    const shell = await withShell()
    for (const cookie of [undefined, '', 'sluice_session=', 'sluice_session=guess', 'other=1']) {
      for (const path of ['/', '/index.html', '/assets/app.js', '/files/exports/1/x.csv', '/nowhere']) {
        const answer = await shell.request(path, cookie === undefined ? {} : { cookie })
        expect(answer.status).toBe(401)
        expect(answer.text).not.toContain('app.js')
      }
      const upload = { method: 'PUT', body: 'a,b', ...(cookie === undefined ? {} : { cookie }) }
      expect((await shell.request('/files/uploads?name=x.csv', upload)).status).toBe(401)
    }
    expect(readdirSync(shell.workspace)).not.toContain('uploads')
  })

  it('lets one browser in per token, once, within ten minutes', async () => {
    let nowMs = 0
    const shell = await withShell({ now: () => nowMs })
    const token = toToken(shell.createEntryUrl())
    const { answer, cookie } = await shell.enter(token)
    expect(answer.headers['set-cookie']).toEqual([
      expect.stringMatching(/^sluice_session=[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict; Max-Age=86400$/),
    ])
    expect((await shell.request('/', { cookie: `other=1; ${cookie}` })).status).toBe(200)
    for (const wrong of [token, '', 'guess', 'x'.repeat(100_000)]) {
      const again = await shell.enter(wrong)
      expect([again.answer.status, again.cookie]).toEqual([403, ''])
    }
    const late = toToken(shell.createEntryUrl())
    nowMs += 10 * 60_000 + 1
    expect((await shell.enter(late)).answer.status).toBe(403)
    expect((await shell.request('/', { cookie })).status).toBe(200)
  })

  it('hands over the token in a file that only its owner can read, and deletes it after use', async () => {
    const shell = await withShell()
    const file = await shell.createEntryFile()
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
    const [, url = ''] = /content="0; url=([^"]+)"/.exec(readFileSync(file, 'utf8')) ?? []
    expect(url.startsWith(`${shell.origin}/enter#`)).toBe(true)
    const page = await shell.request('/enter')
    expect(page.status).toBe(200)
    expect(page.text).not.toContain(toToken(url))
    expect((await shell.enter(toToken(url))).answer.status).toBe(200)
    expect(readdirSync(shell.workspace).filter((name) => name.startsWith('open-'))).toEqual([])
  })

  it('gives every page a policy with its own nonce, and nothing inline', async () => {
    const shell = await withShell()
    const { cookie } = await shell.enter()
    const nonces = new Set<string>()
    for (const path of ['/', '/', '/index.html', '/run/17', '/enter', '/enter']) {
      const { headers, text } = await shell.request(path, { cookie })
      const policy = String(headers['content-security-policy'])
      const [, nonce = ''] = /script-src 'self' 'nonce-([\w-]{24})'/.exec(policy) ?? []
      nonces.add(nonce)
      expect(text).toContain(`nonce="${nonce}"`)
      expect(text).not.toContain('__CSP_NONCE__')
      expect(policy).not.toContain('unsafe')
      expect(policy).toContain("default-src 'none'")
      expect(policy).toContain("frame-ancestors 'none'")
      expect(headers['cache-control']).toBe('no-store')
    }
    expect(nonces.size).toBe(6)
    const { headers } = await shell.request('/', { cookie })
    expect(headers['content-security-policy']).toContain(
      `connect-src 'self' ws://${new URL(shell.origin).host};`,
    )
  })

  it.each(['/', '/enter', '/assets/app.js', '/nowhere.js', '/files/exports/x/y.csv'])(
    'sends the headers that keep %s to itself',
    async (path) => {
      const shell = await withShell()
      const { cookie } = await shell.enter()
      const { headers } = await shell.request(path, { cookie })
      expect(headers).toMatchObject({
        'x-content-type-options': 'nosniff',
        'referrer-policy': 'no-referrer',
        'cross-origin-opener-policy': 'same-origin',
        'cross-origin-resource-policy': 'same-origin',
        'content-security-policy': expect.stringContaining("default-src 'none'"),
      })
      expect(headers['access-control-allow-origin']).toBeUndefined()
    },
  )

  it('serves nothing outside its folder, whatever the request', async () => {
    const shell = await withShell()
    const { cookie } = await shell.enter()
    symlinkSync(join(shell.rendererFolder, '../secret.js'), join(shell.rendererFolder, 'link.js'))
    for (const [path, expected] of [
      ['/../secret.txt', 404],
      ['/../secret.js', 404],
      ['/%2e%2e/secret.js', 404],
      ['/..%2fsecret.js', 404],
      ['/assets/..%2f..%2f..%2fsecret.js', 404],
      ['/..%5csecret.js', 404],
      ['/assets/....//secret.js', 404],
      ['/link.js', 404],
      ['/%00.js', 404],
      ['/%', 404],
      ['http://evil.example/index.html', 400],
      // A path without an extension is one of the page's own.
      ['//etc/passwd', 200],
      ['/assets/', 200],
    ] as const) {
      const { status, text } = await shell.request(path, { cookie })
      expect([path, status]).toEqual([path, expected])
      expect(text).not.toMatch(/^secret|root:/)
    }
    expect((await shell.request('/assets/app.js', { cookie })).text).toBe('export {}')
  })

  it('answers only GET and HEAD', async () => {
    const shell = await withShell()
    const { cookie } = await shell.enter()
    const head = await shell.request('/', { method: 'HEAD', cookie })
    expect([head.status, head.text]).toEqual([200, ''])
    for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) {
      expect((await shell.request('/', { method, cookie })).status).toBe(405)
    }
  })

  it('opens the bridge to its own page only', async () => {
    const shell = await withShell()
    const { cookie } = await shell.enter()
    const { port } = shell
    expect(await shell.openSocket({})).toEqual({ status: 403 })
    expect(await shell.openSocket({ cookie: 'sluice_session=guess' })).toEqual({ status: 403 })
    expect(await shell.openSocket({ cookie, origin: 'http://evil.example' })).toEqual({ status: 403 })
    expect(await shell.openSocket({ cookie, origin: null })).toEqual({ status: 403 })
    expect(await shell.openSocket({ cookie, host: `127.0.0.1:${port}` })).toEqual({ status: 403 })
    expect(await shell.openSocket({ cookie, path: '/other' })).toEqual({ status: 403 })
    const client = await shell.connect(cookie)
    expect(await client.app.describe()).toMatchObject({ platform: 'browser', workspace: shell.workspace })
  })

  it('refuses a browser after an idle hour, unless it holds a window open', async () => {
    let nowMs = 0
    const shell = await withShell({ now: () => nowMs })
    const [idle, used, open] = [await shell.enter(), await shell.enter(), await shell.enter()]
    const client = await shell.connect(open.cookie)
    nowMs += SESSION_IDLE_MS - 1
    expect((await shell.request('/', { cookie: used.cookie })).status).toBe(200)
    nowMs += 2
    expect((await shell.request('/', { cookie: idle.cookie })).status).toBe(401)
    expect(await shell.openSocket({ cookie: idle.cookie })).toEqual({ status: 403 })
    expect((await shell.request('/', { cookie: used.cookie })).status).toBe(200)
    expect((await shell.request('/', { cookie: open.cookie })).status).toBe(200)
    expect((await client.runs.list()).entries).toEqual([])
  })

  it('ends every session and its windows after a day', async () => {
    let nowMs = 0
    const shell = await withShell({ now: () => nowMs })
    const { cookie } = await shell.enter()
    const opened = await shell.openSocket({ cookie })
    if (!('socket' in opened)) throw new Error('refused')
    const closed = once(opened.socket, 'close')
    nowMs += SESSION_LIFE_MS + 1
    expect((await shell.request('/', { cookie })).status).toBe(401)
    await closed
  })

  it('ends requests that are never sent in full, and stalled uploads', async () => {
    const limits = { ...LISTENER_LIMITS, headMs: 50, stallMs: 200, checkEveryMs: 20 }
    const shell = await withShell({ limits })
    const { cookie } = await shell.enter()
    const base = `http://127.0.0.1:${shell.port}`
    expect((await sendRaw(base, 'GET / HTTP/1.1\r\nHost: ')).status).toBe(408)
    const { host } = new URL(shell.origin)
    const head = `host: ${host}\r\norigin: ${shell.origin}\r\ncookie: ${cookie}\r\ncontent-length: 9\r\n\r\n`
    expect((await sendRaw(base, `PUT /files/uploads?name=a.csv HTTP/1.1\r\n${head}half`)).status).toBe(0)
    expect((await sendRaw(base, `POST /session HTTP/1.1\r\n${head}half`)).status).toBe(0)
    // A window, however, may stay silent for as long as it likes.
    const client = await shell.connect(cookie)
    await sendRaw(base, 'GET / HTTP/1.1\r\nHost: ')
    await sendRaw(base, `PUT /files/uploads?name=b.csv HTTP/1.1\r\n${head}half`)
    expect((await client.runs.list()).entries).toEqual([])
  })

  it('ends unread downloads', async () => {
    const limits = { ...LISTENER_LIMITS, stallMs: 100 }
    const sizeBytes = 64 * 1024 * 1024
    const server = createBoundedServer(limits)
    const downloads = createDownloads(createTemporaryFolder())
    const place = await downloads.place('large.csv')
    writeFileSync(place.file, '')
    truncateSync(place.file, sizeBytes)
    const exported = place.publish({ file: place.file, rows: 1, sizeBytes })
    server.on('request', ({ url }, response) => void downloads.send(url ?? '', response))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void server.close())
    const socket = await openSocket(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    const ended = once(server, 'connection').then(async ([connection]: Socket[]) => {
      await once(connection as Socket, 'close')
      return connection?.bytesWritten
    })
    const other = await openSocket(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
    for (const each of [socket, other]) {
      each.write(`GET ${'url' in exported ? exported.url : ''} HTTP/1.1\r\nhost: x\r\n\r\n`)
    }
    expect(await ended).toBeLessThan(sizeBytes)
    await downloads.clear()
  })

  it('says that a port is taken', async () => {
    const server = createServer()
    onTestFinished(() => {
      server.close()
    })
    const port = await new Promise<number>((resolve) => {
      server.listen(0, '127.0.0.1', () => {
        const address = server.address()
        resolve(typeof address === 'object' && address !== null ? address.port : 0)
      })
    })
    await expect(withShell({ port })).rejects.toMatchObject({
      code: 'BAD_USAGE',
      message: expect.stringContaining(String(port)),
    })
  })
})
