import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ReaderPool, readRunFamily } from '../../../../src/main/engine/journal/run-family.ts'
import {
  readVerdicts,
  removeVerdicts,
  storeVerdicts,
} from '../../../../src/main/engine/lookback/verdict-store.ts'
import { toJournalFile } from '../../../../src/main/engine/workspace/workspace-files.ts'
import type { NewVerdict } from '../../../../src/shared/lookback/verdict.ts'
import { withSandbox } from '../../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { runInProcess } from '../../cli/run-in-process.ts'
import { createRows, writeSource } from '../../cli/write-source.ts'

async function openRun() {
  const workspace = createTemporaryFolder()
  const sandbox = await withSandbox()
  const source = writeSource(workspace, 'posts.csv', createRows(3))
  const env = { SLUICE_API_KEY: sandbox.key }
  const { stdout } = await runInProcess(
    ['task', source, '--base-url', sandbox.baseUrl, '--json', '--quiet'],
    { workspace, env },
  )
  const file = toJournalFile(workspace, JSON.parse(stdout).run_id)
  const pool = new ReaderPool()
  onTestFinished(() => pool.close())
  const family = readRunFamily(pool, file, () => false)
  return { family: family ?? expect.fail('no run'), file }
}

function toVerdict(row: number, verdict: NewVerdict['verdict'], rule: string | null = null): NewVerdict {
  return { row, verdict, rule, note: null, stratum: null, stratum_rows: null }
}

describe('the verdicts on a run', () => {
  it('are kept in a file of their own, and the journal stays as it was', async () => {
    const { family, file } = await openRun()
    expect(readVerdicts(family)).toEqual([])
    const before = readFileSync(file)
    const noted = {
      ...toVerdict(2, 'should', 'Spam'),
      note: 'sells pills',
      stratum: 'none',
      stratum_rows: 90,
    }
    storeVerdicts(family, [toVerdict(1, 'agree'), noted], Date.UTC(2026, 10, 22))
    expect(readVerdicts(family)).toEqual([
      { ...toVerdict(1, 'agree'), given_at: '2026-11-22T00:00:00.000Z' },
      { ...noted, given_at: '2026-11-22T00:00:00.000Z' },
    ])
    expect(readFileSync(file)).toEqual(before)
  })

  it('replace each other on one row, unless they speak of different rules', async () => {
    const { family } = await openRun()
    const list = () => readVerdicts(family).map(({ row, verdict, rule }) => [row, verdict, rule])
    storeVerdicts(family, [toVerdict(1, 'agree')])
    storeVerdicts(family, [toVerdict(1, 'should', 'A'), toVerdict(1, 'should-not', 'B')])
    expect(list()).toEqual([
      [1, 'should', 'A'],
      [1, 'should-not', 'B'],
    ])
    storeVerdicts(family, [toVerdict(1, 'should-not', 'A')])
    expect(list()[0]).toEqual([1, 'should-not', 'A'])
    storeVerdicts(family, [toVerdict(1, 'unsure')])
    expect(list()).toEqual([[1, 'unsure', null]])
    removeVerdicts(family, 1)
    expect(list()).toEqual([])
  })

  it('are stored all or none: a row that the run does not have refuses them', async () => {
    const { family } = await openRun()
    expect(() => storeVerdicts(family, [toVerdict(1, 'agree'), toVerdict(4, 'agree')])).toThrow(/row 4/)
    expect(readVerdicts(family)).toEqual([])
  })
})
