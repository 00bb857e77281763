import { isAsync } from '../../../shared/operation.ts'
import { toCallbackCounts } from '../../../shared/row-counts.ts'
import { FAILED_TERMS_MAX, type RowCounts, type RunSummary, type TermCounts } from '../../../shared/run.ts'
import type { RunRecord } from '../journal/run-record.ts'
import type { DatabaseSync } from '../journal/sqlite-types.ts'
import { resolveMapping } from '../mapping/resolve-mapping.ts'
import { createRowMapper } from '../mapping/row-mapper.ts'

type Counts = ReadonlyMap<string, ReadonlyMap<string, number>>

/** What a run's operation has beyond success and error: terms, items, appeals, callbacks (design §4). */
export function toAnswerCounts(
  db: DatabaseSync,
  record: RunRecord,
  counts: Counts,
  rows: RowCounts,
): Pick<RunSummary, 'terms' | 'items' | 'appeals' | 'callbacks'> {
  const { operation } = record.plan
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
        failed: of('failed') === 0 ? [] : readFailedTerms(db, record),
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

function readFailedTerms(db: DatabaseSync, record: RunRecord): TermCounts['failed'] {
  const mapping = resolveMapping(record.plan, record.columns)
  const mapRow = createRowMapper({ ...record.plan, mapping }, record.columns, record.runToken)
  return db
    .prepare(
      `SELECT row.id, row.cells FROM result INDEXED BY result_by_answer CROSS JOIN row ON row.id = result.row
       WHERE answer = 'failed' ORDER BY result.row LIMIT ${FAILED_TERMS_MAX}`,
    )
    .all()
    .map(({ id, cells }) => {
      const { term, notes } = mapRow(Number(id), JSON.parse(String(cells)) as string[]).body
      return { term: String(term ?? ''), notes: typeof notes === 'string' ? notes : null, row: Number(id) }
    })
}
