import { readdirSync, readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { inflateRawSync } from 'node:zlib'
import { expect, it, onTestFinished } from 'vitest'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { connectWindow, withBridge } from '../bridge/connect.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

const KEY = 'echo/key+of"the"run-0123456789'
const LOGIN = 'clerk:echoed-proxy-password'
const env = { ECHO_KEY: KEY, ECHO_LOGIN: LOGIN, SLUICE_API_KEY: 'unused-key' }

/** Every encoding in which a secret could occur in bytes. */
const FORMS = [KEY, LOGIN].flatMap((secret) => [
  secret,
  secret.slice(secret.indexOf(':') + 1),
  JSON.stringify(secret).slice(1, -1),
  encodeURIComponent(secret),
  Buffer.from(secret).toString('base64').slice(0, -4),
  Buffer.from(`token ${secret}`).toString('base64').slice(8, -4),
])

/** A careless service's answer: everything it received, as it came and encoded. */
function echo({ headers }: IncomingMessage): string {
  const shown = `${headers.authorization} ${headers['proxy-authorization']} ${LOGIN}`
  const encoded = Buffer.from(String(headers.authorization)).toString('base64')
  return `${shown} ${encoded} ${encodeURIComponent(KEY)}`
}

function post(url: string, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-length': Buffer.byteLength(body), 'content-type': 'application/json' }
    send(url, { method: 'POST', headers }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode ?? 0))
    })
      .on('error', reject)
      .end(body)
  })
}

/** A proxy that answers itself, in every faulty way, and posts callbacks. */
async function startCarelessService() {
  const posted: Promise<number>[] = []
  let sent = 0
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const number = sent
      sent += 1
      const { post_id, user_id, callback_url } = JSON.parse(Buffer.concat(chunks).toString()) as Record<
        string,
        string
      >
      const said = echo(request)
      const result = { task_id: `task-${post_id}`, post_id, user_id, note: said }
      const rules = [{ rule_id: said.slice(0, 60), rule_name: said }]
      if (callback_url !== undefined) {
        response.writeHead(200).end(JSON.stringify({ task_id: `task-${post_id}`, message: said }))
        const error = { error: true, status: 400, error_code: 'BAD', message: said, show_alert: false }
        const callback = number % 2 === 0 ? { ...result, triggered_rules: rules } : error
        posted.push(post(callback_url, JSON.stringify(callback)))
        return
      }
      const headers = { 'retry-after': said, location: `/${encodeURIComponent(said)}`, 'content-type': said }
      const error = { error: true, status: 400, error_code: said, message: said, show_alert: false }
      const bodies = [
        [200, JSON.stringify({ ...result, triggered_rules: rules })],
        [400, JSON.stringify(error)],
        [400, `<h1>${said}</h1>`],
        [302, ''],
        [200, said],
        [503, JSON.stringify(error)],
      ] as const
      const [status, body] = bodies[number % bodies.length] ?? [200, '']
      response.writeHead(status, headers).end(body)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, posted, sent: () => sent }
}

/** The unpacked parts of a zip archive that Sluice wrote; empty for other files. */
function unzip(bytes: Buffer): string[] {
  const parts: string[] = []
  for (let at = bytes.indexOf('PK\x03\x04'); at >= 0; at = bytes.indexOf('PK\x03\x04', at + 4)) {
    const start = at + 30 + bytes.readUInt16LE(at + 26) + bytes.readUInt16LE(at + 28)
    if (bytes.readUInt16LE(at + 8) !== 8) continue
    parts.push(inflateRawSync(bytes.subarray(start), { finishFlush: 2 }).toString('latin1'))
  }
  return parts
}

function expectClean(text: string, where: string): void {
  for (const form of FORMS) expect(text.includes(form), `${where} holds ${FORMS.indexOf(form)}`).toBe(false)
}

it('keeps key and proxy credentials that a service repeats out of every file, output and page', async () => {
  const workspace = createTemporaryFolder()
  const service = await startCarelessService()
  const source = writeSource(createTemporaryFolder(), 'posts.csv', createRows(12))
  const options = { workspace, env }
  const where = ['--base-url', 'http://moderation.test', '--api-key-env', 'ECHO_KEY', '--retries', '1']
  const way = ['--proxy', service.url, '--proxy-credentials-env', 'ECHO_LOGIN', '--on-unknown', 'skip']
  const outputs = [
    await runInProcess(['task', source, ...where, ...way], options),
    await runInProcess(['task', source, '--async', '--callback-timeout', '5s', ...where, ...way], options),
    await runInProcess(
      ['load', source, ...where.slice(0, 4), ...way, '--concurrency', '2', '--requests', '20'],
      options,
    ),
  ]
  expect(service.sent()).toBeGreaterThan(40)
  expect(await Promise.all(service.posted)).toEqual(Array.from({ length: 12 }, () => 200))
  const listed = await runInProcess(['runs', '--json'], options)
  const runIds = [...new Set(listed.stdout.match(/\d{8}-\d{6}-[0-9a-z]+/g))]
  expect(runIds).toHaveLength(3)
  const [load = '', asynchronous = '', tasks = ''] = runIds
  const endings = { [load]: ['html', 'jsonl'], [asynchronous]: ['jsonl'], [tasks]: ['csv', 'xlsx', 'jsonl'] }
  for (const [runId, formats] of Object.entries(endings)) {
    outputs.push(await runInProcess(['show', runId], options))
    for (const ending of formats) {
      outputs.push(await runInProcess(['export', runId, join(workspace, `${runId}.${ending}`)], options))
    }
  }
  for (const row of ['2', '3', '4', '7']) {
    outputs.push(await runInProcess(['show', tasks, '--row', row], options))
  }
  outputs.push(await runInProcess(['show', asynchronous, '--row', '3', '--json'], options))
  expect(outputs.map(({ stdout }) => stdout).join()).toContain('[redacted]')
  for (const { stdout, stderr } of [...outputs, listed]) expectClean(stdout + stderr, 'an output')

  const bridge = withBridge(workspace)
  const { client, received } = await connectWindow('websocket', bridge.services)
  for (const runId of runIds) {
    await client.runs.summarize({ runId })
    await client.results.page({ runId, filter: {}, offset: 0, limit: 50 }).catch(() => null)
    for (let row = 1; row <= 12; row += 1) await client.results.row({ runId, row }).catch(() => null)
  }
  expect(received.join()).toContain('[redacted]')
  expectClean(received.join(), 'a page')
  await bridge.close()

  const files = readdirSync(workspace, { recursive: true, withFileTypes: true }).filter((one) => one.isFile())
  expect(files.length).toBeGreaterThan(10)
  for (const { parentPath, name } of files) {
    const bytes = readFileSync(join(parentPath, name))
    for (const text of [bytes.toString('latin1'), ...unzip(bytes)]) expectClean(text, name)
  }
}, 180_000)
