// npm run test:capacity: searches the capacity of real sandboxes at full length, about 20 minutes on a quiet machine.
import { spawnSync } from 'node:child_process'

const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', 'test/capacity'], {
  stdio: 'inherit',
  env: { ...process.env, CAPACITY_TEST: 'full' },
})
process.exitCode = status ?? 1
