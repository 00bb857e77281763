// npm run test:crash -- [KILLS] [SEED]: the crash test with the given number of kills (default 200).
import { spawnSync } from 'node:child_process'

const [kills = '200', seed] = process.argv.slice(2)
if (!/^[1-9]\d*$/.test(kills) || (seed !== undefined && !/^\d+$/.test(seed))) {
  process.stderr.write('usage: npm run test:crash -- [KILLS] [SEED], both whole numbers\n')
  process.exit(2)
}
const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', 'test/crash'], {
  stdio: 'inherit',
  env: { ...process.env, CRASH_KILLS: kills, ...(seed === undefined ? {} : { CRASH_SEED: seed }) },
})
process.exitCode = status ?? 1
