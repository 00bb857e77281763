import { useMemo } from 'react'
import type { OperationKind } from '../../../shared/operations/operations.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import type { ColumnEntry } from '../../../shared/run/choose-columns.ts'
import { type FacetList, parseBand } from '../../../shared/run/row-filters.ts'
import { toScoreScale } from '../../../shared/run/score-bands.ts'
import { findContent } from '../../ui/content/content-columns.ts'
import { listTableColumns, listTextColumns, orderColumns, toUsualColumns } from './result-columns.tsx'
import type { ScoreScale } from './score-bars.tsx'
import { useResultView } from './use-result-view.ts'

/** The columns that a run's rows can have, those that are shown, and the scale of the scores that are drawn. */
export function useShownColumns(options: {
  run: { operation: OperationKind; isAsync: boolean }
  names: readonly string[]
  /** The columns to choose from, as the run has them. */
  entries: readonly ColumnEntry[]
  plan: Plan | null
  found: FacetList | undefined
  /** Whether anybody has judged a row. */
  hasVerdicts: boolean
}) {
  const { run, names, plan, found, hasVerdicts } = options
  const { operation, isAsync } = run
  const views = useResultView(operation)
  const scale = useScale(options.entries, found)
  const entries = useMemo(
    () => listTableColumns({ entries: options.entries, names, classes: scale.classes, hasVerdicts }),
    [options.entries, names, scale, hasVerdicts],
  )
  const chosen = views.view?.columns ?? null
  const hasScores = scale.classes.length > 0
  const hasFiles = entries.some(({ name }) => name === 'sluice_file')
  const shown = useMemo(
    () =>
      chosen ??
      toUsualColumns({
        ...{ operation, isAsync, names, hasScores, hasVerdicts, hasFiles },
        order: orderColumns(names.length, findContent(plan, names)),
      }),
    [chosen, operation, isAsync, names, plan, hasScores, hasVerdicts, hasFiles],
  )
  const texts = useStable(useMemo(() => listTextColumns(shown, entries), [shown, entries]))
  return {
    views,
    entries,
    shown,
    /** Names of the columns whose texts the pages are asked for. */
    texts,
    scale,
  }
}

/** The classes that rows have scores of, and the end of their scale: guessed until the bands are counted. */
function useScale(
  columns: readonly { name: string; title: string; group: string }[],
  found: FacetList | undefined,
): ScoreScale {
  const bands =
    found?.facets.filter(({ kind }) => kind === 'score').map(({ value }) => parseBand(value)) ?? []
  const listed = columns.filter(({ group }) => group === 'scores').map(({ title }) => title)
  const classes = [...new Set([...listed, ...bands.map(({ className }) => className)])].sort()
  const end = Math.max(1, ...bands.map(({ from, below }) => (below === null ? toEnd(from) : below)))
  const key = JSON.stringify([classes, end])
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says all of them
  return useMemo(() => ({ classes, end }), [key])
}

/** The end of a scale whose last band begins there: a whole number is a band of its own. */
function toEnd(from: number): number {
  return Number.isInteger(from) && from < 10 ? from : toScoreScale(from)
}

/** The same list as long as it holds the same texts. */
function useStable(list: string[]): string[] {
  const key = JSON.stringify(list)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key says all of it
  return useMemo(() => list, [key])
}
