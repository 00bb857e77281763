import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'

/** What `k6 run --summary-export` writes by default: no p99. */
function toSummary(p95: number) {
  return JSON.stringify({
    metrics: {
      http_reqs: { count: 1000, rate: 100 },
      http_req_failed: { passes: 0, fails: 1000, value: 0 },
      http_req_duration: { avg: 50, min: 10, med: 48, max: 300, 'p(90)': p95 - 5, 'p(95)': p95 },
    },
    root_group: { name: '', path: '', groups: {}, checks: {} },
  })
}

test('summaries of k6 are compared by their percentiles, and exit with 99 where B is slower than allowed', async () => {
  const workspace = createTemporaryFolder()
  const sluice = (...args: string[]) => runInProcess(args, { workspace, env: {} })
  const ids: string[] = []
  for (const [name, p95] of [
    ['a', 100],
    ['b', 130],
  ] as const) {
    const file = join(workspace, `${name}.json`)
    writeFileSync(file, toSummary(p95))
    ids.push(JSON.parse((await sluice('import-k6', file, '--json')).stdout).run_id)
  }
  const [a = '', b = ''] = ids
  const compared = await sluice('compare', a, b)
  expect(compared).toMatchObject({ code: 0 })
  expect(compared.stdout).toContain("p95 at 1.30 times A's")
  const slower = await sluice('compare', a, b, '--fail-if-slower', '10%')
  expect(slower).toMatchObject({ code: 99 })
  expect(slower.stderr).toMatch(/slower than A by more than 10 %: .*http_req_duration p95 30/)
  expect((await sluice('compare', a, b, '--fail-if-slower', '50%')).code).toBe(0)
  expect((await sluice('compare', a, b, '--fail-if-slower', 'much')).code).toBe(2)
})
