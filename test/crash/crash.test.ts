import { expect, inject, test } from 'vitest'
import { runCrashCampaign } from '../helpers/crash/crash-harness.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

const kills = Number(process.env['CRASH_KILLS'] ?? (inject('isLong') ? 40 : 1))
const seed = Number(process.env['CRASH_SEED'] ?? Date.now() % 1_000_000)

test(`kills lose no row (${kills} of them), and only rows listed as unknown are sent again`, {
  timeout: 240_000 + kills * 15_000,
}, async () => {
  const report = await runCrashCampaign(createTemporaryFolder(), kills, seed)
  process.stdout.write(
    `crash campaign, seed ${seed}: ${JSON.stringify({ ...report, violations: undefined })}\n`,
  )
  expect(report.violations).toEqual([])
  expect(report.kills).toBe(kills)
})
