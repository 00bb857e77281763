import { expect, inject, test } from 'vitest'
import { firstOf } from '../helpers/long-form.ts'
import {
  plantChangedBody,
  plantForgottenFixes,
  plantLateWatermark,
  plantReclaimedRow,
  plantRepeatedAdd,
  plantResentUnknown,
  plantSwappedAnswer,
} from './planted-faults.ts'
import { runSeeds } from './run-seeds.ts'
import type { Plant } from './simulated-session.ts'

const SEEDS = inject('isLong') ? 500 : 6
const AGAIN = inject('isLong') ? 6 : 3
const FIRST_SEED = inject('isLong') ? 3_000 : 1

test(`${SEEDS} simulated runs, killed and resumed at any step, keep every promise`, async () => {
  const lines: string[] = []
  const report = await runSeeds(FIRST_SEED, SEEDS, (line) => lines.push(line))
  expect(report.failed, lines.join('\n')).toEqual([])
  expect(report.kills).toBeGreaterThan(SEEDS / 4)
}, 1_200_000)

test('a corrected row that a kill interrupted is not settled by a late callback to its earlier content', async () => {
  const lines: string[] = []
  expect((await runSeeds(4_215, 1, (line) => lines.push(line))).failed, lines.join('\n')).toEqual([])
})

test('an overdue row whose resend was refused a connection may have been accepted', async () => {
  const lines: string[] = []
  expect((await runSeeds(5_111, 1, (line) => lines.push(line))).failed, lines.join('\n')).toEqual([])
})

test('a late callback that may belong to content sent before a correction leaves its row in doubt', async () => {
  const lines: string[] = []
  expect((await runSeeds(5_146, 1, (line) => lines.push(line))).failed, lines.join('\n')).toEqual([])
})

test('a row that its callback refused stays refused, whatever the answer to a later try', async () => {
  const lines: string[] = []
  expect((await runSeeds(21_647, 1, (line) => lines.push(line))).failed, lines.join('\n')).toEqual([])
})

test('the same seeds send the same requests in the same order at the same times', async () => {
  const [first, second] = [await runSeeds(40, AGAIN, () => {}), await runSeeds(40, AGAIN, () => {})]
  expect(first.kills).toBeGreaterThan(0)
  expect(second).toEqual(first)
  expect(new Set(first.wireHashes).size).toBe(AGAIN)
})

const PLANTED: readonly { what: string; plant: Plant; within: number; fault: RegExp }[] = [
  {
    what: 'a watermark that is written after the wire',
    plant: plantLateWatermark,
    within: 30,
    fault: /sent-twice/,
  },
  {
    what: 'an index add that is repeated without consent',
    plant: plantRepeatedAdd,
    within: 30,
    fault: /without-consent/,
  },
  {
    what: 'an unknown row that a resume sends in spite of skip',
    plant: plantResentUnknown,
    within: 30,
    fault: /without-consent/,
  },
  {
    what: 'an answer that is recorded for another row',
    plant: plantSwappedAnswer,
    within: 30,
    fault: /foreign-answer/,
  },
  {
    what: 'a settled row that a resume sends again',
    plant: plantReclaimedRow,
    within: 30,
    fault: /without-consent/,
  },
  {
    what: 'a corrected row that is sent as before',
    plant: plantForgottenFixes,
    within: 30,
    fault: /wrong-content/,
  },
  { what: 'a retry with another body', plant: plantChangedBody, within: 30, fault: /body-changed/ },
]

test.for(firstOf(2, PLANTED))(
  '$what is found, with its seed and the command that repeats it',
  async ({ plant, within, fault }) => {
    for (let seed = 1; seed <= within; seed += 1) {
      const lines: string[] = []
      const { failed } = await runSeeds(seed, 1, (line) => lines.push(line), plant)
      const text = lines.join('\n')
      if (!fault.test(text)) continue
      expect(failed).toEqual([seed])
      expect(text).toContain(`npm run test:sim -- 1 --seed ${seed}`)
      return
    }
    expect.fail(`not found within ${within} seeds`)
  },
)
