import { join } from 'node:path'
import { ApiKey } from '../../src/main/engine/secrets/bound-secret.ts'
import { planSchema } from '../../src/shared/plan/plan.ts'
import { reportToParent } from '../lib/report-to-parent.ts'
import { createBenchEngine } from '../lib/workspace.ts'

type Task =
  | { kind: 'intake'; folder: string; path: string }
  | { kind: Question; folder: string; runId: string; laterRunId: string }

type Question =
  | 'evaluate'
  | 'evaluate with slices'
  | 'sample by rule'
  | 'sample by score'
  | 'compare by row'
  | 'compare by content'
  | 'export'
  | 'export of all columns'
  | 'report'

const task = JSON.parse(process.argv[2] ?? '') as Task
reportToParent(task.kind === 'intake' ? await readIntoJournal(task) : await ask(task))

/** A run that is held before it sends anything; the parent then writes its answers. */
async function readIntoJournal({
  folder,
  path,
}: {
  folder: string
  path: string
}): Promise<{ runId: string }> {
  const engine = createBenchEngine(folder)
  const plan = planSchema.parse({
    connection: { baseUrl: 'http://127.0.0.1:9' },
    source: { path },
    operation: { kind: 'task' },
  })
  const run = await engine.startRun(plan, {
    apiKey: ApiKey.create('key', plan.connection, 'of the benchmark'),
    hold: true,
  })
  await run.ready
  run.stop()
  await run.ended
  await engine.close()
  return { runId: run.runId }
}

async function ask({
  kind,
  folder,
  runId,
  laterRunId,
}: {
  kind: Question
  folder: string
  runId: string
  laterRunId: string
}) {
  const engine = createBenchEngine(folder)
  const startMs = performance.now()
  if (kind === 'sample by rule' || kind === 'sample by score') {
    const by = kind === 'sample by rule' ? 'rule' : 'score-band'
    const file = join(folder, 'sample.csv')
    await engine.sampleRun(runId, { size: 500, by, allocation: 'proportional', seed: 1, file })
  } else if (kind === 'compare by row' || kind === 'compare by content') {
    const by = kind === 'compare by row' ? 'row' : 'content'
    const { joined } = await engine.compareDecisions(runId, laterRunId, {
      ...{ by, list: { kind: 'changed' }, offset: 0, limit: 50, labels: null },
    })
    if (joined.rows === 0 || joined.changed === 0) throw new Error('the runs are not compared')
  } else if (kind === 'export' || kind === 'export of all columns') {
    const columns = kind === 'export' ? {} : { columns: ['all'] }
    await engine.exportRun(runId, { file: join(folder, 'export.csv'), ...columns })
  } else if (kind === 'report') {
    const file = join(folder, 'report.html')
    await engine.reportRun(runId, { file, withContent: false, evaluation: null })
  } else {
    await engine.evaluateRun(runId, {
      ...{ label: 'label', useVerdicts: false, separator: null, list: [], seed: 1 },
      ...{ positives: [{ value: 'spam', rule: 'Likely spam' }], scores: [], assertions: [] },
      ...{ wantedPrecisions: [0.9], whatIf: [] },
      slices: kind === 'evaluate' ? [] : ['label', 'user_id'],
    })
  }
  const ms = performance.now() - startMs
  await engine.close()
  return { ms }
}
