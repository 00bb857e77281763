import { describe, expect, it, onTestFinished } from 'vitest'
import { WORKER_URLS } from '../../src/main/program-files.ts'
import { DEFAULT_SANDBOX_KEY, type SandboxOptions } from '../../src/main/sandbox/sandbox-options.ts'
import { startSandboxThread } from '../../src/main/sandbox/start-sandbox-thread.ts'
import { capacityReportSchema } from '../../src/shared/load/capacity-report.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'
import { spawnSluice } from '../main/cli/spawn-sluice.ts'
import { createRows, writeSource } from '../main/cli/write-source.ts'

const HOUR_MS = 3_600_000

/** A sandbox in a thread, and a command in a process of its own that loads it. */
async function prepare(sandboxOptions: SandboxOptions) {
  const sandbox = await startSandboxThread(WORKER_URLS.sandbox, sandboxOptions)
  onTestFinished(() => sandbox.close())
  const workspace = createTemporaryFolder()
  const source = writeSource(workspace, 'posts.csv', createRows(100))
  return (...args: string[]) =>
    spawnSluice(['load', source, '--base-url', sandbox.baseUrl, ...args, '--quiet', '--json'], {
      workspace,
      env: { SLUICE_API_KEY: DEFAULT_SANDBOX_KEY },
    })
}

// Takes about 20 minutes: `npm run test:capacity`.
describe.runIf(process.env['CAPACITY_TEST'] === 'full')('the capacity of a real sandbox', () => {
  it.each([80, 150, 210])(
    'is found within 10 % if it is a rate limit of 300 a second, starting at %i',
    async (start) => {
      const load = await prepare({ ratePerSecond: 300, latency: '5ms' })
      // A level 5 % above the limit takes 20 seconds to use up the burst of one second of requests.
      const result = await load(
        ...['--find-capacity', '--rate', String(start), '--warmup', '15s', '--duration', '8s'],
        ...['--cool-down', '1s', '--threshold', 'p(99)<1000', '--max-level', '2000'],
      )
      const report = capacityReportSchema.parse(JSON.parse(result.stdout))
      expect(report.end, result.stderr).toBe('found')
      expect(report.capacity).toBeGreaterThanOrEqual(270)
      expect(report.capacity).toBeLessThanOrEqual(330)
    },
    HOUR_MS,
  )

  it(
    'agrees with a manual sweep if the service slows down with load',
    async () => {
      const load = await prepare({ latency: '20ms', slots: 4 })
      const probe = ['--warmup', '3s', '--duration', '8s', '--threshold', 'response_time:p(95)<150']
      const found = await load('--find-capacity', '--rate', '50', ...probe, '--max-level', '800')
      const report = capacityReportSchema.parse(JSON.parse(found.stdout))
      expect(report.end, found.stderr).toBe('found')
      let sweep = 0
      for (let rate = 120; rate <= 240; rate += 10) {
        const { code } = await load('--rate', String(rate), ...probe)
        if (code !== 0) break
        sweep = rate
      }
      expect(sweep).toBeGreaterThan(0)
      expect(report.capacity).toBeGreaterThanOrEqual(sweep * 0.9)
      expect(report.capacity).toBeLessThanOrEqual((sweep + 10) * 1.1)
    },
    HOUR_MS,
  )
})
