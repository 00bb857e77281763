import { randomInt } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { runSeeds } from './run-seeds.ts'

/** `npm run test:sim -- SEEDS [--seed FIRST]`: simulates SEEDS runs, starting with the first seed. */
const { values, positionals } = parseArgs({
  options: { seed: { type: 'string' } },
  allowPositionals: true,
})
const [count = '1000'] = positionals
if (!/^[1-9]\d{0,6}$/.test(count) || !/^\d{1,9}$/.test(values.seed ?? '0')) {
  process.stderr.write('usage: npm run test:sim -- [SEEDS] [--seed FIRST], both whole numbers\n')
  process.exit(2)
}
const first = values.seed === undefined ? randomInt(1e9) : Number(values.seed)
process.stdout.write(`${count} seeds from ${first}\n`)
const startedMs = performance.now()
const report = await runSeeds(first, Number(count), (line) => process.stdout.write(`${line}\n`))
const tookS = ((performance.now() - startedMs) / 1000).toFixed(1)
const { failed, sessions, kills, requests, simulatedMs } = report
process.stdout.write(
  `${requests} requests, ${sessions} sessions, ${kills} kills, ${Math.round(simulatedMs / 1000)} simulated seconds in ${tookS} s\n` +
    `${Number(count) - failed.length} passed, ${failed.length} failed\n`,
)
process.exitCode = failed.length > 0 ? 1 : 0
