import { hash } from 'node:crypto'
import { findColumn } from '../../../shared/mapping/match-columns.ts'
import { findPlaceholder, parseTemplate } from '../../../shared/mapping/templates.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { fieldsOf } from '../../../shared/operations/operations.ts'
import { isSameSource } from '../../../shared/plan/source-paths.ts'
import type { RunRecord } from '../journal/run-record.ts'
import { createPostIdMapper, createRowMapper, resolveMapping } from '../mapping/row-mapper.ts'
import { findColumnOrThrow } from './row-labels.ts'

/** What identifies a row across runs: its number, a cell, or a function of the row. */
export type RowKey =
  | { kind: 'row' }
  | { kind: 'cell'; column: number }
  | { kind: 'function'; read: (row: number, cells: readonly string[], kinds: string | null) => string | null }

/** How the rows of two runs are joined: its name, and the key of either side. */
export interface JoinKey {
  name: string
  a: RowKey
  b: RowKey
  /** Equal rows have equal keys, since both runs read them alike. */
  followsRow: boolean
}

/**
 * How the rows of two runs are joined: as requested, else by post_id if that is the same in every run, by row
 * if both have the same source and `agreeByRow`, and by content otherwise. Throws `BAD_USAGE` if a column
 * does not exist.
 */
export function chooseJoinKey(
  a: RunRecord,
  b: RunRecord,
  by: string | null,
  agreeByRow: () => boolean,
): JoinKey {
  const name = by ?? chooseName(a, b, agreeByRow)
  if (name === 'row') return { name, a: { kind: 'row' }, b: { kind: 'row' }, followsRow: true }
  const followsRow =
    (name !== 'post_id' || [a, b].every(hasLastingPostId)) &&
    [a, b]
      .map(({ columns, plan: { mapping, operation } }) => JSON.stringify([columns, mapping, operation]))
      .every((read, _, [first]) => read === first)
  return { name: nameColumn(b, name), a: createKey(a, name), b: createKey(b, name), followsRow }
}

function chooseName(a: RunRecord, b: RunRecord, agreeByRow: () => boolean): string {
  if ([a, b].every(hasLastingPostId)) return 'post_id'
  const isSame =
    isSameSource(a.plan.source.path, b.plan.source.path) && a.columns.join('\n') === b.columns.join('\n')
  return isSame && agreeByRow() ? 'row' : 'content'
}

/** Whether a row's post_id is the same in every run because it depends on the row alone. */
function hasLastingPostId({ plan, columns }: RunRecord): boolean {
  if (plan.operation.kind !== 'task') return false
  const source = resolveMapping(plan, columns)['post_id']
  if (source === undefined) return false
  if (source.kind === 'column') return true
  const meanings = parseTemplate(source.template).flatMap((part) =>
    part.kind === 'placeholder' ? [findPlaceholder(part.name, columns)?.kind] : [],
  )
  return meanings.length > 0 && !meanings.includes('run')
}

/** A column given by number is shown by its name. */
function nameColumn({ columns }: RunRecord, name: string): string {
  if (name === 'post_id' || name === 'content') return name
  const at = findColumn(columns, name)
  return at === null ? name : (columns[at] ?? name)
}

/** Creates a function that hashes a row's content as sent; null for a row without content. */
export function createContentReader({
  plan,
  columns,
  runToken,
}: RunRecord): (row: number, cells: readonly string[], kinds: string | null) => string | null {
  // Ids identify a row; they are not its content.
  const fields = fieldsOf(plan.operation)
    .filter((field) => field.required !== 'never' && field.name !== 'post_id' && field.name !== 'user_id')
    .map((field) => field.name)
  const mapRow = createRowMapper(plan, columns, runToken)
  return (row, cells, kinds) => {
    const { body } = mapRow(row, cells, kinds)
    const content = fields.flatMap((field) => (body[field] === undefined ? [] : [field, body[field]]))
    return content.length === 0 ? null : hash('sha256', JSON.stringify(content), 'base64url')
  }
}

function createKey(record: RunRecord, name: string): RowKey {
  const { plan, columns, runToken, runId } = record
  if (name === 'content') return { kind: 'function', read: createContentReader(record) }
  if (name !== 'post_id') {
    return { kind: 'cell', column: findColumnOrThrow(columns, name, '--by', plan.source.path) }
  }
  if (plan.operation.kind !== 'task') throw new SluiceError({ id: 'comparison_without_post_id', runId })
  const source = resolveMapping(plan, columns)['post_id']
  const column = source?.kind === 'column' ? findColumn(columns, source.column) : null
  if (column !== null) return { kind: 'cell', column }
  return { kind: 'function', read: createPostIdMapper(plan, columns, runToken) }
}
