import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { ReaderPool, readRunFamily } from '../../src/main/engine/journal/run-family.ts'
import { RowFindings } from '../../src/main/engine/run/results/row-findings.ts'
import { toFindingsFile, toJournalFile } from '../../src/main/engine/workspace/workspace-files.ts'
import { reportToParent } from '../lib/report-to-parent.ts'
import { createBenchEngine } from '../lib/workspace.ts'

interface Task {
  kind: Question
  folder: string
  runId: string
  laterRunId: string
}

type Question =
  | 'findings'
  | 'evaluate'
  | 'evaluate with slices'
  | 'sample by rule'
  | 'sample by score'
  | 'compare by row'
  | 'compare by content'
  | 'export'
  | 'export of all columns'
  | 'export to XLSX'
  | 'export to JSON lines'
  | 'export to Parquet'
  | 'report'

const EXPORTS = {
  export: { ending: 'csv' },
  'export of all columns': { ending: 'csv', columns: ['all'] },
  'export to XLSX': { ending: 'xlsx' },
  'export to JSON lines': { ending: 'jsonl' },
  'export to Parquet': { ending: 'parquet' },
} as const

reportToParent(await ask(JSON.parse(process.argv[2] ?? '') as Task))

async function ask({ kind, folder, runId, laterRunId }: Task) {
  const engine = createBenchEngine(folder)
  if (kind === 'findings')
    for (const id of [runId, laterRunId]) rmSync(toFindingsFile(folder, id), { force: true })
  const startMs = performance.now()
  const cpuBefore = process.cpuUsage()
  if (kind === 'findings') {
    storeFindings(toJournalFile(folder, runId))
    storeFindings(toJournalFile(folder, laterRunId))
  } else if (kind === 'sample by rule' || kind === 'sample by score') {
    const by = kind === 'sample by rule' ? 'rule' : 'score-band'
    const file = join(folder, 'sample.csv')
    await engine.lookback.sampleRun(runId, { size: 500, by, allocation: 'proportional', seed: 1, file })
  } else if (kind === 'compare by row' || kind === 'compare by content') {
    const by = kind === 'compare by row' ? 'row' : 'content'
    const { joined } = await engine.lookback.compareDecisions(runId, laterRunId, {
      by,
      list: { kind: 'changed' },
      offset: 0,
      limit: 50,
      labels: null,
    })
    if (joined.rows === 0 || joined.changed === 0) throw new Error('the runs are not compared')
  } else if (kind in EXPORTS) {
    const { ending, ...options } = EXPORTS[kind as keyof typeof EXPORTS]
    await engine.results.exportRun(runId, { file: join(folder, `export.${ending}`), ...options })
  } else if (kind === 'report') {
    const file = join(folder, 'report.html')
    await engine.results.reportRun(runId, { file, withContent: false, evaluation: null })
  } else {
    await engine.lookback.evaluateRun(runId, {
      label: 'label',
      useVerdicts: false,
      separator: null,
      list: [],
      positives: [{ value: 'spam', rule: 'Likely spam' }],
      scores: [],
      assertions: [],
      wantedPrecisions: [0.9],
      whatIf: [],
      slices: kind === 'evaluate' ? [] : ['label', 'user_id'],
    })
  }
  const ms = performance.now() - startMs
  const { user, system } = process.cpuUsage(cpuBefore)
  await engine.close()
  return { ms, cpuMs: (user + system) / 1000 }
}

/** As after the end of a run. */
function storeFindings(journal: string): void {
  const pool = new ReaderPool()
  const family = readRunFamily(pool, journal, () => false)
  if (family === null) throw new Error(`${journal} is no journal`)
  RowFindings.build(family)
  pool.close()
}
