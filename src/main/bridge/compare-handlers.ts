import type { BaselineEntry, LabelChoice, RunPair } from '../../shared/bridge/compare.ts'
import { isSameSubject, toBaselineSubject } from '../../shared/lookback/baseline.ts'
import type { CompareOptions } from '../../shared/lookback/comparison.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import { listRunSources } from '../../shared/plan/source-paths.ts'
import { toExportResult } from '../../shared/run/written-rows.ts'
import type { Engine } from '../engine/engine.ts'
import type { Handlers } from './bridge-context.ts'
import { placeRunExport, prepareResults } from './results-handlers.ts'
import { createExcerpts } from './sources.ts'

/** Comparisons of runs. */
export const compareHandlers: Handlers<'compare'> = {
  decisions: async ({ context: { engine }, input }) => {
    const {
      listed: _listed,
      exported: _exported,
      labels: _labels,
      ...decisions
    } = await compare(engine, input)
    for (const runId of [input.a, input.b]) prepareResults(engine, runId)
    return decisions
  },
  byLabels: async ({ context: { engine }, input: { labels, ...pair } }) => {
    const compared = await compare(engine, pair, { labels: toLabelOptions(labels) })
    if (compared.labels === null) throw new SluiceError({ id: 'comparison_without_labels' })
    return { ...compared.labels, warnings: compared.warnings }
  },
  changes: async ({ context: { engine }, input }) => {
    const { a, b, by = null, list, offset, limit } = input
    const page = await engine.lookback.listChanges(a, b, { by, list, offset, limit })
    return {
      ...page,
      rows: page.rows.map((row) => ({
        ...row,
        ...createExcerpts(row.cells),
        key: row.key === null ? null : (createExcerpts([row.key]).cells[0] ?? ''),
        keyLength: row.key?.length ?? 0,
      })),
    }
  },
  exportChanges: async ({ context, input }) => {
    const { list, format, targetId, ...pair } = input
    const place = await placeRunExport(context, { runId: pair.b, format, targetId, title: 'changes ' })
    const { exported } = await compare(context.engine, pair, { list, exportFile: place.file })
    if (exported === null) throw new Error('a comparison with a file writes it')
    return place.publish(toExportResult(exported))
  },
  latency: async ({ context: { engine }, input: { runIds } }) => {
    const [first = '', ...others] = runIds
    return engine.lookback.compareLatencies(first, ...others)
  },
  trend: async ({ context: { engine }, input: { runId, labels, group } }) => {
    await engine.runs.settleLate()
    const run = await engine.runs.summarizeRun(runId)
    return engine.lookback.readTrend(
      group ?? { kind: 'sources', paths: listRunSources(run) },
      labels === undefined ? null : toLabelOptions(labels),
    )
  },
}

async function compare(engine: Engine, { a, b, by }: RunPair, more: Partial<CompareOptions> = {}) {
  await Promise.all([engine.runs.settleLate(a), engine.runs.settleLate(b)])
  return engine.lookback.compareDecisions(a, b, {
    by: by ?? null,
    list: { kind: 'changed' },
    offset: 0,
    limit: 0,
    labels: null,
    ...more,
  })
}

function toLabelOptions({ column, ...choice }: LabelChoice) {
  return { label: column, ...choice }
}

export const baselinesHandlers: Handlers<'baselines'> = {
  list: ({ context: { engine }, input }) => list(engine, input.runId),
  set: async ({ context: { engine }, input: { runId, name } }) => {
    await engine.lookback.setBaseline(runId, name)
    return list(engine, runId)
  },
  remove: async ({ context: { engine }, input: { runId, name } }) => {
    const found = (await list(engine, runId)).find((entry) => entry.name === name)
    if (found !== undefined) engine.lookback.removeBaselines(found.runId, name)
    return list(engine, runId)
  },
}

/** The baselines for the connection and source of a run. */
async function list(engine: Engine, runId: string): Promise<BaselineEntry[]> {
  const subject = toBaselineSubject(await engine.runs.summarizeRun(runId))
  const entries = engine.lookback
    .readBaselines()
    .filter((baseline) => isSameSubject(baseline, subject))
    .map(async ({ name, run_id, set_at }) => ({
      name,
      runId: run_id,
      setAt: set_at,
      runName: await readName(engine, run_id),
    }))
  return Promise.all(entries)
}

async function readName(engine: Engine, runId: string): Promise<string | null> {
  try {
    return (await engine.runs.summarizeRun(runId)).name
  } catch (error) {
    if (error instanceof SluiceError && error.code === 'RUN_NOT_FOUND') return null
    throw error
  }
}
