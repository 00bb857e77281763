import { DEFAULT_POST_ID } from '../operations/task.ts'
import type { Plan } from '../plan/plan.ts'
import type { UsedMapping } from '../run/used-mapping.ts'
import { isEmpty } from './check-mapping.ts'
import { findColumn, isFolderColumns, isNameless, toWholeMapping } from './match-columns.ts'
import { listColumnsOf } from './templates.ts'

/** What fills each field of a plan's requests, and why; `columns` are those of the source. */
export function describeMapping(plan: Plan, columns: readonly string[]): UsedMapping {
  const whole = Object.entries(toWholeMapping(plan, columns)).filter(([, source]) => !isEmpty(source))
  const used = new Set(whole.flatMap(([, source]) => listColumnsOf(source, columns)))
  const findBy = (field: string): UsedMapping['fields'][number]['by'] => {
    if (plan.filledBy?.[field] !== undefined) return plan.filledBy[field]
    return plan.mapping[field] === undefined ? 'name' : 'stated'
  }
  const fields = whole.map(([field, source]): UsedMapping['fields'][number] => {
    if (source.kind === 'column') {
      const index = findColumn(columns, source.column) ?? -1
      const column = isNameless(columns, index) ? source.column : (columns[index] ?? source.column)
      return { field, column, by: findBy(field) }
    }
    const isDefault = field === 'post_id' && JSON.stringify(source) === JSON.stringify(DEFAULT_POST_ID)
    return { field, template: source.template, by: isDefault ? 'default' : findBy(field) }
  })
  const { media } = plan.source
  if (media !== undefined && isFolderColumns(columns)) {
    // Media files are sent by their addresses.
    used.add(columns.indexOf('media'))
    if (whole.every(([field]) => field !== 'url')) {
      const filler = media.kind === 'template' ? { template: media.template } : { column: 'media' }
      fields.push({ field: 'url', ...filler, by: 'stated' })
    }
  }
  return { fields, not_sent: columns.filter((_, index) => !used.has(index)) }
}
