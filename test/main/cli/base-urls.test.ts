import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

/** A service below a prefix that knows one path and records the requested ones. */
async function serveBelow(prefix: string) {
  const paths: string[] = []
  const server = createServer((request, response) => {
    const { url = '' } = request
    paths.push(url)
    request.resume()
    const isKnown = url === `${prefix}/api/v1/task/sync`
    response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' })
    response.end(isKnown ? '{"task_id":"t","triggered_rules":[]}' : '{"error":true,"error_code":"NOT_FOUND"}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
  })
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, paths }
}

function openWorkspace() {
  const folder = createTemporaryFolder()
  const source = writeSource(folder, 'posts.csv', createRows(1))
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'workspace'), env: { SLUICE_API_KEY: 'some-key' } })
  return { folder, source, sluice }
}

describe('a base URL with the path of an endpoint in it', () => {
  it('is used without the path, and the run says so', async () => {
    onlyInLongForm()
    const { source, sluice } = openWorkspace()
    const { origin, paths } = await serveBelow('/moderation')
    for (const path of ['/api/v1', '/api/v1/task/sync', '']) {
      const sent = await sluice('task', source, '--base-url', `${origin}/moderation${path}`)
      expect([path, sent.code]).toEqual([path, 0])
      if (path === '') expect(sent.stderr).not.toContain('as the base URL')
      else expect(sent.stderr).toContain(`Using ${origin}/moderation as the base URL, without ${path}:`)
    }
    expect(new Set(paths)).toEqual(new Set(['/moderation/api/v1/task/sync']))
  })

  it('is stored without the path, and the command says so', async () => {
    onlyInLongForm()
    const { folder, source, sluice } = openWorkspace()
    const { origin } = await serveBelow('')
    const added = await sluice('connection', 'add', 'a', '--base-url', `${origin}/api/v1`)
    expect(added.stderr).toContain(`Using ${origin} as the base URL, without /api/v1:`)
    expect(added.stdout).toContain(`Stored a, ${origin}. `)
    const changed = await sluice('connection', 'set', 'a', '--task-base-url', `${origin}/api/v2/task/sync`)
    expect(changed.stderr).toContain(`Using ${origin} as the base URL, without /api/v2/task/sync:`)
    // As an earlier version stored it.
    const file = join(folder, 'workspace', 'connections.json')
    writeFileSync(file, readFileSync(file, 'utf8').replaceAll(`${origin}"`, `${origin}/api/v1"`))
    const sent = await sluice('task', source)
    expect([sent.code, sent.stderr]).toEqual([0, expect.stringContaining(`Using connection a: ${origin}\n`)])
  })

  it('is refused in a plan file, which names the right one', async () => {
    const { folder, source, sluice } = openWorkspace()
    const plan = join(folder, 'posts.plan.json')
    await sluice('task', source, '--base-url', 'http://127.0.0.1:9', '--dry-run', '--save-plan', plan)
    writeFileSync(plan, readFileSync(plan, 'utf8').replace('127.0.0.1:9', '127.0.0.1:9/a/api/v1'))
    const refused = await sluice('plan', plan, '--dry-run')
    expect(refused.code).toBe(2)
    expect(refused.stderr.replaceAll(/\s+/g, ' ')).toContain(
      'connection.baseUrl: has the path of an endpoint in it, which Sluice adds itself; use http://127.0.0.1:9/a',
    )
  })
})

describe('a service that has no endpoint at any path that it is asked for', () => {
  it('is reported with its base URL as the cause', async () => {
    onlyInLongForm()
    const { source, sluice } = openWorkspace()
    const { origin } = await serveBelow('')
    const failed = await sluice('task', source, '--base-url', `${origin}/v1`)
    expect(failed.code).toBe(1)
    expect(failed.stdout.replaceAll(/\s+/g, ' ')).toContain(
      `The service has no endpoint at ${origin}/v1/api/…, so the base URL is probably wrong. Sluice adds the path of each endpoint to it. Submit the source again with another one, such as --base-url ${origin}`,
    )
  })
})
