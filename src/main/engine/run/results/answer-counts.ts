import { isAsync } from '../../../../shared/plan/operation.ts'
import { toCallbackCounts } from '../../../../shared/run/row-counts.ts'
import {
  FAILED_TERMS_MAX,
  type RowCounts,
  type RunSummary,
  type TermCounts,
} from '../../../../shared/run/run.ts'
import { findTakersOf, type RunFamily } from '../../journal/run-family.ts'
import type { RunView } from '../../journal/run-view.ts'
import { resolveMapping } from '../../mapping/resolve-mapping.ts'
import { createRowMapper } from '../../mapping/row-mapper.ts'
import { type Counts, pickRows } from './family-counts.ts'

/** What a run's operation has beyond success and error: terms, items, appeals, callbacks. */
export function toAnswerCounts(
  family: RunFamily,
  counts: Counts,
  rows: RowCounts,
): Pick<RunSummary, 'terms' | 'items' | 'appeals' | 'callbacks'> {
  const { operation } = family.record.plan
  const answers = counts.get('answer')
  const of = (answer: string) => answers?.get(answer) ?? 0
  const callbacks = isAsync(operation)
    ? { callbacks: toCallbackCounts(counts.get('callback') ?? new Map()) }
    : {}
  switch (operation.kind) {
    case 'task':
      return callbacks
    case 'index-add':
      return { ...callbacks, items: { added: rows.succeeded, removed: 0 } }
    case 'index-remove':
      return { ...callbacks, items: { added: 0, removed: rows.succeeded } }
    case 'watchlist-add':
    case 'watchlist-update': {
      const terms: TermCounts = {
        added: of('added'),
        pre_existing: of('pre_existing'),
        ...(of('added_or_pre_existing') > 0 && {
          added_or_pre_existing: of('added_or_pre_existing'),
        }),
        updated: of('updated'),
        non_existent: of('non_existent'),
        failed: of('failed') === 0 ? [] : readFailedTerms(family),
      }
      return { terms }
    }
    case 'appeal-status': {
      const appeals = {
        in_review: of('in_review'),
        reviewed: of('reviewed'),
        overturned: of('overturned'),
        upheld: of('upheld'),
        other_status: of('other_status'),
      }
      return { appeals }
    }
  }
}

function readFailedTerms(family: RunFamily): TermCounts['failed'] {
  const { record, members } = family
  const mapping = resolveMapping(record.plan, record.columns)
  const mapRow = createRowMapper({ ...record.plan, mapping }, record.columns, record.runToken)
  return members
    .flatMap((member) => readFailedRows(member, findTakersOf(member, members)))
    .sort((a, b) => a.row - b.row)
    .slice(0, FAILED_TERMS_MAX)
    .map(({ row, cells }) => {
      const { term, notes } = mapRow(row, cells).body
      return { term: String(term ?? ''), notes: typeof notes === 'string' ? notes : null, row }
    })
}

/** The first failed terms of one run that no retry has taken. */
function readFailedRows({ db }: RunView, takers: readonly RunView[]): { row: number; cells: string[] }[] {
  const page = db.prepare(
    `SELECT row.id, row.cells FROM result INDEXED BY result_by_answer CROSS JOIN row ON row.id = result.row
     WHERE answer = 'failed' AND result.row > ? ORDER BY result.row LIMIT ${FAILED_TERMS_MAX}`,
  )
  const failed: { row: number; cells: string[] }[] = []
  for (let rows = page.all(0); rows.length > 0; rows = page.all(Number(rows.at(-1)?.['id']))) {
    const ids = rows.map(({ id }) => Number(id))
    const taken = new Set(takers.flatMap((taker) => pickRows(taker, ids)))
    for (const { id, cells } of rows) {
      if (taken.has(Number(id))) continue
      failed.push({ row: Number(id), cells: JSON.parse(String(cells)) as string[] })
      if (failed.length === FAILED_TERMS_MAX) return failed
    }
  }
  return failed
}
