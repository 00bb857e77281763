import { randomInt } from 'node:crypto'
import { performance } from 'node:perf_hooks'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { FUZZ_TARGETS, runTargets } from './run-targets.ts'

/**
 * `npm run test:fuzz -- N [--seed S] [--target NAME]`: N drawn cases over all targets, or over those with
 * NAME in their name.
 */
const { values, positionals } = parseArgs({
  options: { seed: { type: 'string' }, target: { type: 'string' } },
  allowPositionals: true,
})
const [count = '100000'] = positionals
const { target = '', seed: givenSeed } = values
const targets = FUZZ_TARGETS.filter(({ name }) => name.includes(target))
if (!/^[1-9]\d{0,9}$/.test(count) || !/^\d{0,9}$/.test(givenSeed ?? '') || targets.length === 0) {
  process.stderr.write(
    `usage: npm run test:fuzz -- [N] [--seed S] [--target NAME], N and S whole numbers, NAME part of one of:\n${FUZZ_TARGETS.map(({ name }) => `  ${name}\n`).join('')}`,
  )
  process.exit(2)
}
const seed = givenSeed === undefined ? randomInt(1e9) : Number(givenSeed)
const startedMs = performance.now()
process.stdout.write(`seed ${seed}, ${count} cases over ${targets.length} targets\n`)
const { passed, failed, unhandled } = await runTargets(targets, Number(count), seed, (line) => {
  process.stdout.write(`${line}\n`)
})
const tookS = ((performance.now() - startedMs) / 1000).toFixed(1)
process.stdout.write(`seed ${seed}, ${tookS} s, ${unhandled} unhandled\n${passed} passed, ${failed} failed\n`)
process.exitCode = failed + unhandled > 0 ? 1 : 0
