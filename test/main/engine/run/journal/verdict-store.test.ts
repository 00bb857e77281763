import { readFileSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { ReaderPool, readRunFamily } from '../../../../../src/main/engine/journal/run-family.ts'
import {
  placeVerdicts,
  readJudgedRows,
  readVerdicts,
  replaceVerdicts,
  storeVerdicts,
} from '../../../../../src/main/engine/run/journal/verdict-store.ts'
import { toJournalFile } from '../../../../../src/main/engine/workspace/workspace-files.ts'
import type { NewVerdict } from '../../../../../src/shared/lookback/verdict.ts'
import { onlyInLongForm } from '../../../../helpers/long-form.ts'
import { withSandbox } from '../../../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../../../helpers/temporary-folder.ts'
import { runInProcess } from '../../../cli/run-in-process.ts'
import { createRows, writeSource } from '../../../cli/write-source.ts'

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
  it('are stored in a separate file, and the journal is unchanged', async () => {
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

  it('replace each other on one row, unless they are about different rules', async () => {
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
    replaceVerdicts(family, 1, [])
    expect(list()).toEqual([])
  })

  it('are stored all or none: a row that the run does not have refuses them', async () => {
    const { family } = await openRun()
    expect(() => storeVerdicts(family, [toVerdict(1, 'agree'), toVerdict(4, 'agree')])).toThrow(/no record 4/)
    expect(readVerdicts(family)).toEqual([])
  })

  it('are replaced as a whole, and one that existed before keeps its time and its stratum', async () => {
    onlyInLongForm()
    const { family } = await openRun()
    const sampled = { ...toVerdict(1, 'should', 'A'), stratum: 'none', stratum_rows: 90 }
    storeVerdicts(family, [sampled], Date.UTC(2026, 10, 21))
    const next = [
      { verdict: 'should', rule: 'A', note: null },
      { verdict: 'should-not', rule: 'B', note: 'quotes it' },
    ] as const
    expect(replaceVerdicts(family, 1, next, { nowMs: Date.UTC(2026, 10, 22) }).after).toEqual([
      { ...sampled, given_at: '2026-11-21T00:00:00.000Z' },
      { ...sampled, ...next[1], given_at: '2026-11-22T00:00:00.000Z' },
    ])
    const stratum = { stratum: 'Spam', stratum_rows: 7 }
    expect(replaceVerdicts(family, 1, [next[0]], { stratum }).after).toMatchObject([{ row: 1, ...stratum }])
    expect(() => replaceVerdicts(family, 4, next)).toThrow(/no record 4/)
  })

  it('are restored with their time and stratum, unless the row has others by then', async () => {
    onlyInLongForm()
    const { family } = await openRun()
    const sampled = { ...toVerdict(1, 'should', 'A'), stratum: 'none', stratum_rows: 90 }
    const given = { ...sampled, given_at: '2026-11-21T00:00:00.000Z' }
    expect(replaceVerdicts(family, 1, [given], { before: [] })).toEqual({ before: [], after: [given] })
    placeVerdicts(family, new Map())
    const alone = { ...given, stratum: null, stratum_rows: null }
    expect(replaceVerdicts(family, 1, [{ ...given, note: 'sells pills' }]).after).toEqual([
      { ...alone, note: 'sells pills' },
    ])
    replaceVerdicts(family, 1, [])
    const drawn = { stratum: null, stratum_rows: null }
    expect(replaceVerdicts(family, 1, [given], { stratum: drawn }).after).toEqual([alone])
  })

  it('count for the strata of a new sample, and for their own rows if the sample has not drawn them', async () => {
    onlyInLongForm()
    const { family } = await openRun()
    const old = { stratum: 'old', stratum_rows: 90 }
    storeVerdicts(family, [
      { ...toVerdict(1, 'agree'), ...old },
      { ...toVerdict(2, 'unsure'), ...old },
    ])
    placeVerdicts(family, new Map([[2, { stratum: 'new', stratum_rows: 5 }]]))
    expect(readVerdicts(family)).toMatchObject([
      { row: 1, stratum: null, stratum_rows: null },
      { row: 2, stratum: 'new', stratum_rows: 5 },
    ])
  })

  it('say which rows were judged, and how', async () => {
    onlyInLongForm()
    const { family } = await openRun()
    storeVerdicts(family, [
      toVerdict(1, 'should', 'A'),
      toVerdict(1, 'should-not', 'B'),
      toVerdict(3, 'agree'),
    ])
    const { all, by } = readJudgedRows(family)
    expect([...all]).toEqual([1, 3])
    expect([by.get('should'), by.get('should-not'), by.get('agree'), by.get('unsure')]).toEqual([
      new Set([1]),
      new Set([1]),
      new Set([3]),
      undefined,
    ])
  })
})
