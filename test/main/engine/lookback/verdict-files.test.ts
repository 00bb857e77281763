import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, inject, test } from 'vitest'
import { type RunFamily, toFamily } from '../../../../src/main/engine/journal/run-family.ts'
import { exportVerdicts, importVerdicts } from '../../../../src/main/engine/lookback/verdict-files.ts'
import { exportRun } from '../../../../src/main/engine/results/export-run.ts'
import {
  readVerdicts,
  replaceVerdicts,
  storeVerdicts,
} from '../../../../src/main/engine/run/journal/verdict-store.ts'
import { OutcomeWriter } from '../../../../src/main/engine/run/recorder.ts'
import type { NewVerdict } from '../../../../src/shared/lookback/verdict.ts'
import { firstOf } from '../../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { openReadyJournal, readRecord, toAttempt } from '../journal/test-journal.ts'

const ROWS = 4

/** A run of a few rows with decisions of the service. */
function openRun(workspace: string): RunFamily {
  const journal = openReadyJournal(ROWS)
  const outcomes = new OutcomeWriter(journal)
  const records = Array.from({ length: ROWS }, (_, index) => toAttempt(index + 1))
  journal.transact('process', () => {
    for (const record of records) outcomes.count(record)
    outcomes.write(records)
  })
  const { db, file } = journal
  const record = { ...readRecord(journal), claimed: ROWS, claimedRows: ROWS }
  const view = { db, file, record, workspace, isHeld: false, isCutOff: false }
  return toFamily(view, [view])
}

const text = fc.constantFrom(
  ...['Spam', 'a; b', '["x"]', '=1+1', '-5', "'=x", '[]', 'ü, "q"', 'line\nbreak', '; ', '漢字'].map((one) =>
    one.trim(),
  ),
)

/** Verdicts on a row: none, one on the whole row, or one on each of several rules. */
const ofRow = fc.oneof(
  fc.constant([]),
  fc
    .tuple(fc.constantFrom('agree', 'unsure'), fc.option(text, { nil: null }))
    .map(([verdict, note]) => [{ verdict, rule: null, note }]),
  fc.uniqueArray(
    fc.record({
      verdict: fc.constantFrom('should', 'should-not'),
      rule: text,
      note: fc.option(text, { nil: null }),
    }),
    { selector: ({ rule }) => rule, minLength: 1, maxLength: 3 },
  ),
)

const EXPORTS = [
  ['rows.csv', {}],
  ['rows.csv', { lossless: true }],
  ['rows.csv', { delimiter: ';' }],
  ['rows.csv.gz', { delimiter: '\t' }],
  ['rows.xlsx', {}],
  ['rows.jsonl', {}],
  ['rows.jsonl.gz', {}],
] as const

test.each(
  firstOf(4, [
    ...EXPORTS.map(([name, options]) => [name, options, exportRun] as const),
    ...['verdicts.csv', 'verdicts.xlsx', 'verdicts.jsonl'].map(
      (name) =>
        [name, {}, (family: RunFamily, { file }: { file: string }) => exportVerdicts(family, file)] as const,
    ),
  ]),
)('verdicts come back from %s (%j) unchanged', async (name, options, write) => {
  await fc.assert(
    fc.asyncProperty(fc.array(ofRow, { minLength: ROWS, maxLength: ROWS }), async (said) => {
      if (said.every((verdicts) => verdicts.length === 0)) return
      const folder = createTemporaryFolder()
      mkdirSync(join(folder, 'runs'))
      const family = openRun(folder)
      const given = said.flatMap((verdicts, index) =>
        verdicts.map((verdict) => ({ row: index + 1, ...verdict, stratum: null, stratum_rows: null })),
      ) as NewVerdict[]
      storeVerdicts(family, given)
      const before = readVerdicts(family).map(({ given_at: _, ...verdict }) => verdict)
      const file = join(folder, name)
      await write(family, { file, ...options })
      for (let row = 1; row <= ROWS; row += 1) replaceVerdicts(family, row, [])
      expect(await importVerdicts(family, { path: file, header: true }, false)).toEqual({
        verdicts: before.length,
        differingRows: 0,
        differing: [],
        notes: [],
      })
      expect(readVerdicts(family).map(({ given_at: _, ...verdict }) => verdict)).toEqual(before)
    }),
    { numRuns: inject('isLong') ? 100 : 12, seed: 33, endOnFailure: true },
  )
})
