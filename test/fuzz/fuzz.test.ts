import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { createTarget } from './fuzz-target.ts'
import { FUZZ_TARGETS, runTargets } from './run-targets.ts'

const SEED = 14
const CASES = inject('isLong') ? 6_000 : 1_000

test(`${CASES} drawn inputs keep every promise, and leave nothing unhandled`, async () => {
  const lines: string[] = []
  const summary = await runTargets(FUZZ_TARGETS, CASES, SEED, (line) => lines.push(line))
  expect(summary, lines.join('\n')).toEqual({ passed: CASES, failed: 0, unhandled: 0 })
})

test('a broken promise is found, with its seed and its smallest input', async () => {
  const broken = createTarget('numbers below a hundred', 1, fc.nat(), (number) => {
    if (number >= 100) throw new Error('too many')
  })
  const lines: string[] = []
  const summary = await runTargets([broken], 1_000, SEED, (line) => lines.push(line))
  expect(summary).toMatchObject({ failed: 1, unhandled: 0 })
  expect(lines.join('\n')).toMatch(/seed: 14[\s\S]*Counterexample: \[100\]/)
})

test('a rejection that nobody handles is counted', async () => {
  const careless = createTarget('careless', 1, fc.constant(null), () => {
    void Promise.reject(new Error('left alone'))
  })
  expect(await runTargets([careless], 1, SEED, () => {})).toMatchObject({ unhandled: 1 })
})
