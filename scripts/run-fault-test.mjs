// npm run test:faults -- [STRIDE]: fails every file call of each scenario once, or every STRIDE-th call.
import { spawnSync } from 'node:child_process'

const [stride = '1'] = process.argv.slice(2)
if (!/^[1-9]\d*$/.test(stride)) {
  process.stderr.write('usage: npm run test:faults -- [STRIDE], a whole number\n')
  process.exit(2)
}
const { status } = spawnSync(process.execPath, ['node_modules/vitest/vitest.mjs', 'run', 'test/faults'], {
  stdio: 'inherit',
  env: { ...process.env, SLUICE_FAULT_STRIDE: stride },
})
process.exitCode = status ?? 1
