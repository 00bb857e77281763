import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, utimesSync } from 'node:fs'
import { request as send } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, inject, it } from 'vitest'
import { createUploads, toUploadName } from '../../../src/main/web/uploads.ts'
import { uploadedFolderSchema } from '../../../src/shared/bridge/browser-files.ts'
import { parseBridgeError } from '../../../src/shared/bridge/errors.ts'
import { chosenSourceSchema } from '../../../src/shared/bridge/source.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { type TestShell, withShell } from './with-shell.ts'

const MIB = 1024 * 1024

/** Size of the large file, in steps of 20 MiB. */
const STEPS = inject('isLong') ? 8 : 3

setFlagsFromString('--expose-gc')
const collectGarbage = runInNewContext('gc') as () => void

async function enter(shell: TestShell) {
  const { cookie } = await shell.enter()
  const put = async (name: string, body: string | Readable) => {
    const path = `/files/uploads?name=${encodeURIComponent(name)}`
    return shell.request(path, { method: 'PUT', cookie, body })
  }
  return { cookie, put, client: await shell.connect(cookie) }
}

describe('a folder that is chosen in the browser', () => {
  const open = async (shell: TestShell, cookie: string) => {
    const path = `/files/folders?name=${encodeURIComponent('my pictures')}`
    const answer = await shell.request(path, { method: 'PUT', cookie, body: '' })
    const opened = uploadedFolderSchema.parse(JSON.parse(answer.text))
    return { ...opened, path: join(shell.workspace, 'uploads', opened.folder, opened.name) }
  }

  it('is assembled file by file, each under its own path and name', async () => {
    const shell = await withShell()
    const { cookie, client } = await enter(shell)
    const { path, sourceId, name, folder } = await open(shell, cookie)
    expect(name).toBe('my pictures')
    for (const file of ['a.txt', 'sub/grüße, alle.txt', 'sub/.hidden']) {
      const target = `/files/uploads?folder=${folder}&name=${encodeURIComponent(file)}`
      const answer = await shell.request(target, { method: 'PUT', cookie, body: file })
      expect(answer.status).toBe(201)
      expect(readFileSync(join(path, file), 'utf8')).toBe(file)
    }
    const preview = await client.source.preview({ source: { sourceId } })
    expect(preview.format).toBe('folder')
    expect(preview.rows.map(({ cells }) => cells[0])).toEqual(['a.txt', 'sub/grüße, alle.txt'])
  })

  it.each([
    '../outside.txt',
    'sub/../../outside.txt',
    '/etc/outside.txt',
    'sub//outside.txt',
    '.',
    'sub/..',
    'sub\\outside.txt',
    'C:outside.txt',
    'a\0.txt',
    '',
  ])('refuses a file that would lie elsewhere: %j', async (file) => {
    const shell = await withShell()
    const { cookie } = await enter(shell)
    const { path, folder } = await open(shell, cookie)
    const target = `/files/uploads?folder=${folder}&name=${encodeURIComponent(file)}`
    const answer = await shell.request(target, { method: 'PUT', cookie, body: 'x' })
    expect(answer.status).toBe(400)
    expect(JSON.parse(answer.text)).toEqual({ id: 'upload_name_unusable', name: file })
    expect(readdirSync(path)).toEqual([])
  })

  it('must be begun first, and its files are written once', async () => {
    const shell = await withShell()
    const { cookie } = await enter(shell)
    const { path, folder } = await open(shell, cookie)
    const put = (id: string, body: string) =>
      shell.request(`/files/uploads?folder=${id}&name=a.txt`, { method: 'PUT', cookie, body })
    expect((await put('../uploads', 'x')).status).toBe(400)
    expect((await put(folder, 'first')).status).toBe(201)
    expect((await put(folder, 'second')).status).toBe(500)
    expect(readFileSync(join(path, 'a.txt'), 'utf8')).toBe('first')
  })
})

describe('media of rows', () => {
  it('are sent, whole or in part, only to a browser that was let in, and to no other site', async () => {
    const sandbox = await withSandbox()
    const shell = await withShell()
    const { cookie, client } = await enter(shell)
    const opening = await shell.request('/files/folders?name=pictures', { method: 'PUT', cookie, body: '' })
    const { folder, sourceId } = uploadedFolderSchema.parse(JSON.parse(opening.text))
    const gif = 'GIF89a\x01\0\x01\0\0\0\0;'
    const target = `/files/uploads?folder=${folder}&name=sub/a%20b.gif`
    await shell.request(target, { method: 'PUT', cookie, body: gif })
    const { runId } = await client.runs.start({
      request: {
        destination: { kind: 'service', baseUrl: sandbox.baseUrl },
        source: { sourceId },
        operation: { kind: 'task' },
      },
      apiKey: sandbox.key,
    })
    await client.runs.awaitReady({ runId })
    const [media] = await client.media.ofRow({ runId, row: 1 })
    if (media?.kind !== 'file') return expect.fail('no file')
    const whole = await shell.request(media.url, { cookie })
    expect([whole.status, whole.headers['content-type'], whole.text]).toEqual([200, 'image/gif', gif])
    const part = await shell.request(media.url, { cookie, headers: { range: 'bytes=0-5' } })
    expect([part.status, part.text]).toEqual([206, 'GIF89a'])
    expect((await shell.request(media.url)).status).toBe(401)
    const site = { 'sec-fetch-site': 'cross-site' }
    expect((await shell.request(media.url, { cookie, headers: site })).status).toBe(403)
    for (const path of ['/files/media/', '/files/media/a.gif', '/files/media/..%2f..%2fetc%2fpasswd']) {
      expect((await shell.request(path, { cookie })).status).toBe(404)
    }
  })
})

describe('a file that is chosen in the browser', () => {
  it('becomes a source that can be previewed unchanged', async () => {
    const shell = await withShell()
    const { put, client } = await enter(shell)
    const bytes = '\ufefftext_data,user_id\r\n"grüße, alle",007\r\n'
    const answer = await put('meine posts.csv', bytes)
    expect(answer.status).toBe(201)
    const uploaded = chosenSourceSchema.parse(JSON.parse(answer.text))
    expect(uploaded).toMatchObject({ name: 'meine posts.csv', sizeBytes: Buffer.byteLength(bytes) })
    const [place = ''] = readdirSync(join(shell.workspace, 'uploads'))
    expect(readFileSync(join(shell.workspace, 'uploads', place, 'meine posts.csv'), 'utf8')).toBe(bytes)
    expect(answer.text).not.toContain(shell.workspace)
    const preview = await client.source.preview({ source: { sourceId: uploaded.sourceId } })
    expect(preview).toMatchObject({ columns: ['text_data', 'user_id'], encodingBy: 'bom' })
    expect(preview.rows[0]?.cells).toEqual(['grüße, alle', '007'])
  })

  it('is streamed to disk in constant memory, whatever its size', async () => {
    onlyInLongForm()
    const shell = await withShell()
    const { put } = await enter(shell)
    const chunk = Buffer.alloc(MIB / 4, 'x')
    const held: number[] = []
    const chunks = function* () {
      for (let i = 0; i < STEPS * 80; i += 1) {
        if (i % 80 === 79) held.push(measureHeldBytes())
        yield chunk
      }
    }
    const answer = await put('big.csv', Readable.from(chunks()))
    expect(chosenSourceSchema.parse(JSON.parse(answer.text)).sizeBytes).toBe(STEPS * 20 * MIB)
    // After 20 MiB and at the end, the same amount is in progress.
    const [early = 0, ...later] = held
    expect(later).toHaveLength(STEPS - 1)
    expect(Math.max(...later) - early).toBeLessThan(8 * MIB)
  })

  it('leaves nothing behind if it does not arrive in full', async () => {
    const shell = await withShell()
    const { cookie } = await enter(shell)
    const { host } = new URL(shell.origin)
    const headers = { host, origin: shell.origin, cookie, 'content-length': '1000' }
    const path = '/files/uploads?name=half.csv'
    const call = send({ host: '127.0.0.1', port: shell.port, path, method: 'PUT', headers, agent: false })
    const failed = new Promise((resolve) => call.once('error', resolve))
    call.write('half')
    const folder = join(shell.workspace, 'uploads')
    await waitUntil(() => existsSync(folder) && readdirSync(folder).length === 1)
    call.destroy()
    await failed
    await waitUntil(() => readdirSync(folder).length === 0)
    expect(readdirSync(shell.workspace, { recursive: true })).not.toContainEqual(
      expect.stringMatching(/half/),
    )
  })

  it('is the only kind of file that a browser may have read, besides the sample', async () => {
    const shell = await withShell()
    const { client, put } = await enter(shell)
    const { text } = await put('mine.csv', 'text_data\nhello\n')
    const { sourceId: own } = chosenSourceSchema.parse(JSON.parse(text))
    expect((await client.source.preview({ source: { sourceId: own } })).columns).toEqual(['text_data'])
    const [place = ''] = readdirSync(join(shell.workspace, 'uploads'))
    const guesses = [
      '/etc/passwd',
      join(shell.workspace, 'uploads', place, 'mine.csv'),
      place,
      `${own}0`,
      'x',
    ]
    for (const sourceId of guesses) {
      const error = await client.source.preview({ source: { sourceId } }).catch(parseBridgeError)
      expect(error).toMatchObject({ code: 'BAD_SOURCE', hint: expect.stringContaining('Choose the file') })
      const request = {
        destination: { kind: 'service' as const, baseUrl: 'http://127.0.0.1:9' },
        source: { sourceId },
        operation: { kind: 'task' as const },
      }
      expect(await client.runs.start({ request, apiKey: 'k' }).catch(parseBridgeError)).toMatchObject({
        code: 'BAD_SOURCE',
      })
    }
    expect((await client.runs.list()).entries).toEqual([])
  })

  it('is deleted when the shell closes; the next shell deletes the leftovers of a killed one', async () => {
    const shell = await withShell()
    const { put } = await enter(shell)
    await put('a.csv', 'a')
    expect(readdirSync(join(shell.workspace, 'uploads'))).toHaveLength(1)
    await shell.close()
    expect(readdirSync(join(shell.workspace, 'uploads'))).toEqual([])

    const workspace = createTemporaryFolder()
    const [old, recent] = [join(workspace, 'uploads/old'), join(workspace, 'uploads/recent')]
    for (const folder of [old, recent]) mkdirSync(folder, { recursive: true })
    const twoDaysAgo = Date.now() / 1000 - 2 * 86_400
    utimesSync(old, twoDaysAgo, twoDaysAgo)
    await createUploads(workspace)
    expect([existsSync(old), existsSync(recent)]).toEqual([false, true])
  })

  it.each([
    ['posts.csv', 'posts.csv'],
    ['../../../etc/passwd', 'passwd'],
    ['C:\\Users\\me\\posts.csv', 'posts.csv'],
    ['.hidden', 'hidden'],
    ['..', 'upload.csv'],
    ['', 'upload.csv'],
    ['a\u0000b\u202Egpj.csv', 'a-b-gpj.csv'],
    ['CON.csv', '_CON.csv'],
    ['what?<now>|"so"*.tsv', 'what--now---so--.tsv'],
    [`${'语'.repeat(200)}.csv`, `${'语'.repeat(65)}.csv`],
    ['lone \ud800.csv', 'lone \ufffd.csv'],
  ])('named %j is kept as %j', (name, expected) => {
    expect(toUploadName(name)).toBe(expected)
    expect(Buffer.byteLength(toUploadName(name))).toBeLessThanOrEqual(200)
  })
})

describe('an export in the browser', () => {
  it('is downloaded once, under the name of its run, and then deleted', async () => {
    const shell = await withShell()
    const { cookie, put, client } = await enter(shell)
    const sandbox = await withSandbox()
    const { sourceId } = chosenSourceSchema.parse(
      JSON.parse((await put('März "1".csv', 'text_data,user_id\nhello,u1\n')).text),
    )
    const request = {
      destination: { kind: 'service' as const, baseUrl: sandbox.baseUrl },
      source: { sourceId },
      mapping: { post_id: { kind: 'template' as const, template: '{{run}}-{{row}}' } },
      operation: { kind: 'task' as const },
    }
    const { runId } = await client.runs.start({ request, apiKey: sandbox.key })
    await client.runs.awaitReady({ runId })

    const exported = await client.exports.create({ runId, format: 'csv' })
    if (exported.kind !== 'download') throw new Error('a browser downloads')
    expect(exported).toMatchObject({ name: `März-1-${runId}.csv`, rows: 1 })
    const folder = join(shell.workspace, 'downloads')
    expect(readdirSync(folder)).toHaveLength(1)
    if (process.platform !== 'win32') expect(statSync(folder).mode & 0o077).toBe(0)

    expect((await shell.request(exported.url)).status).toBe(401)
    expect((await shell.request(exported.url, { method: 'HEAD', cookie })).status).toBe(404)
    const answer = await shell.request(exported.url, { cookie })
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-length': String(exported.sizeBytes),
      'content-disposition': `attachment; filename="M_rz-1-${runId}.csv"; filename*=UTF-8''M%C3%A4rz-1-${runId}.csv`,
    })
    expect(answer.text).toContain('hello')
    await waitUntil(() => readdirSync(folder).length === 0)
    expect(readdirSync(shell.workspace, { recursive: true })).not.toContainEqual(
      expect.stringMatching(/half/),
    )
    expect((await shell.request(exported.url, { cookie })).status).toBe(404)
    const refused = client.exports
      .create({ runId, format: 'csv', targetId: 'guessed' })
      .catch(parseBridgeError)
    expect(await refused).toMatchObject({ code: 'BAD_USAGE' })
  })
})

/** Memory in use, without garbage. */
function measureHeldBytes(): number {
  // The first collection frees buffers in the background; the second waits for that.
  collectGarbage()
  collectGarbage()
  const { arrayBuffers, heapUsed } = process.memoryUsage()
  return arrayBuffers + heapUsed
}

/** Yields to other work until a condition holds; the test's timeout ends a wait in vain. */
async function waitUntil(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
}
