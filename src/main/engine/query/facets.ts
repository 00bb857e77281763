import { toErrorGroups } from '../../../shared/error-groups.ts'
import type { Facet, ProblemGroup } from '../../../shared/results.ts'
import { toProblem } from './row-detail.ts'
import { readFacetCounts, summarizeCounts } from './run-summary.ts'
import type { RunView } from './run-view.ts'

/** Rows that illustrate a group of problems. */
const EXAMPLES = 10

/** Reads every facet of a run, most rows first within a kind. The counters answer; nothing is scanned. */
export function readFacets(view: RunView): Facet[] {
  const counts = readFacetCounts(view.db)
  const { rows, rules } = summarizeCounts(view, counts)
  const { read, not_sent, awaiting, ...others } = rows
  const states = { ...others, pending: not_sent, acknowledged: awaiting }
  const byCode = new Map<string, number>()
  for (const group of toErrorGroups(counts.get('error') ?? new Map())) {
    if (group.error_code !== null) {
      byCode.set(group.error_code, (byCode.get(group.error_code) ?? 0) + group.rows)
    }
  }
  return [
    ...toFacets('state', new Map(Object.entries(states)), (state) => state),
    ...rules.map(({ rule_id, rule_name, rows: n }) => ({
      kind: 'rule' as const,
      value: rule_id,
      label: rule_name,
      rows: n,
    })),
    ...toFacets('error', byCode, (code) => code),
    ...toFacets('answer', counts.get('answer') ?? new Map(), (answer) => answer),
  ]
}

/** Groups a run's problems by cause, errors first, most rows first, each with its first rows. */
export function readProblemGroups({ db }: RunView): ProblemGroup[] {
  const examples = db.prepare(
    `SELECT row, severity, code, field, message, found FROM problem
     WHERE severity = ? AND code = ? AND field IS ? AND (message = ? OR ? = 'not_unique') ORDER BY id LIMIT ${EXAMPLES}`,
  )
  return [...(readFacetCounts(db).get('problem') ?? [])]
    .map(([cause, rows]) => {
      const [severity, code, field, message] = JSON.parse(cause) as [
        ProblemGroup['severity'],
        ProblemGroup['code'],
        string | null,
        string,
      ]
      const found = examples.all(severity, code, field, message, code).map(toProblem)
      return { severity, code, field, message, rows, examples: found }
    })
    .sort((a, b) => (a.severity === b.severity ? b.rows - a.rows : a.severity === 'error' ? -1 : 1))
}

function toFacets(
  kind: Facet['kind'],
  counts: ReadonlyMap<string, number>,
  toLabel: (value: string) => string,
): Facet[] {
  return [...counts]
    .filter(([, rows]) => rows > 0)
    .map(([value, rows]) => ({ kind, value, label: toLabel(value), rows }))
    .sort((a, b) => b.rows - a.rows)
}
