import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { findFilesWith } from '../../helpers/find-secret.ts'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { createRows, writeSource } from './write-source.ts'

const RESULTS = fileURLToPath(new URL('../../fixtures/k6/v2', import.meta.url))

describe('k6', () => {
  it('gets a load as a project without sending a request or storing a run', async () => {
    const folder = createTemporaryFolder()
    const source = writeSource(folder, 'posts.csv', createRows(5))
    const options = { workspace: folder, env: {} }
    const exported = await runInProcess(
      [
        ...['load', source, '--base-url', 'http://127.0.0.1:9', '--rate', '20', '--duration', '3s'],
        ...['--threshold', 'p(99)<500', '--export-k6', join(folder, 'project')],
      ],
      options,
    )
    expect(exported).toMatchObject({ code: 0 })
    expect(exported.stdout).toContain('5 rows in ')
    expect(readdirSync(join(folder, 'project')).sort()).toEqual([
      'README.md',
      'rows-001.json',
      'script.js',
      'testrun.yaml',
    ])
    const script = readFileSync(join(folder, 'project', 'script.js'), 'utf8')
    expect(script).toContain('constant-arrival-rate')
    expect(script).toContain('p(99)<500')
    expect(JSON.parse((await runInProcess(['runs', '--json'], options)).stdout)).toEqual([])
  })

  it('reads the secrets of headers from variables', async () => {
    onlyInLongForm()
    const folder = createTemporaryFolder()
    const source = writeSource(folder, 'posts.csv', createRows(1))
    const options = { workspace: folder, env: { GATEWAY: 'gateway-token-0123456789' } }
    const project = join(folder, 'project')
    const exported = await runInProcess(
      [
        ...['load', source, '--base-url', 'http://moderation.test', '--rate', '5', '--duration', '1s'],
        ...['--header', 'X-Gateway: Bearer ${GATEWAY}', '--header', 'X-Tenant: acme', '--no-keepalive'],
        ...[
          '--traceparent',
          '--user-agent',
          'trial/1',
          '--resolve',
          'moderation.test:80:127.0.0.1',
          '--export-k6',
          project,
        ],
      ],
      options,
    )
    expect(exported).toMatchObject({ code: 0 })
    const script = readFileSync(join(project, 'script.js'), 'utf8')
    expect(script).toContain('"X-Gateway": "Bearer " + __ENV.GATEWAY, "X-Tenant": "acme"')
    expect(script).toContain('"userAgent": "trial/1"')
    expect(script).toContain(', traceparent: toTraceparent() }')
    expect(script).toContain('"noConnectionReuse": true')
    expect(script).toContain('"moderation.test:80": "127.0.0.1"')
    expect(findFilesWith(project, 'gateway-token-0123456789')).toEqual([])
  })

  it('returns its results as runs that are shown and compared', async () => {
    const options = { workspace: createTemporaryFolder(), env: {} }
    const importing = (file: string) =>
      runInProcess(['import-k6', join(RESULTS, file), '--name', file, '--json'], options)
    const whole = JSON.parse((await importing('plain-lines.k6')).stdout)
    expect(whole).toMatchObject({ state: 'completed', name: 'plain-lines.k6' })
    expect(whole.requests.sent).toBeGreaterThan(0)
    const told = (outcome: string) =>
      (whole.errors as { outcome: string; rows: number }[])
        .filter((group) => group.outcome === outcome)
        .reduce((sum, { rows }) => sum + rows, 0)
    expect([told('rejected'), told('unknown')]).toEqual([whole.requests.rejected, whole.requests.unknown])
    expect(whole.latency_ms.http_req_duration.count).toBe(whole.requests.sent)
    const summary = JSON.parse((await importing('handle-summary.k6')).stdout)
    expect(summary.requests.sent).toBeGreaterThan(0)
    const compared = await runInProcess(['compare', whole.run_id, whole.run_id], options)
    expect(compared).toMatchObject({ code: 0 })
    const shown = await runInProcess(['show', summary.run_id], options)
    expect(shown.stdout).toContain('measured by k6')
  })

  it('fails a test in which no request succeeded, even if its thresholds held', async () => {
    const folder = createTemporaryFolder()
    const options = { workspace: folder, env: {} }
    const importing = (failed: number, thresholds: object) => {
      const metrics = {
        http_reqs: { count: 12, rate: 6 },
        http_req_failed: { passes: failed, fails: 12 - failed, value: failed / 12 },
        http_req_duration: { avg: 5, min: 1, med: 4, max: 9, 'p(90)': 8, 'p(95)': 9, thresholds },
      }
      writeFileSync(join(folder, 'summary.json'), JSON.stringify({ root_group: {}, metrics }))
      return runInProcess(['import-k6', join(folder, 'summary.json')], options)
    }
    const none = await importing(12, { 'p(95)<500': false })
    expect(none.code).toBe(1)
    expect(none.stdout).toContain('None of 12 requests succeeded, which fails the test')
    expect((await importing(11, { 'p(95)<500': false })).code).toBe(0)
    // A failed threshold is more informative.
    expect((await importing(12, { 'p(95)<5': true })).code).toBe(99)
  })

  it('reports what is wrong with a file that is not a k6 result', async () => {
    const folder = createTemporaryFolder()
    const source = writeSource(folder, 'posts.csv', createRows(2))
    const refused = await runInProcess(['import-k6', source], { workspace: folder, env: {} })
    expect(refused.code).toBe(2)
    expect(refused.stderr).toContain('posts.csv')
    const none = await runInProcess(['runs', '--json'], { workspace: folder, env: {} })
    expect(JSON.parse(none.stdout)).toEqual([])
  })
})
