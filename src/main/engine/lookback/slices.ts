import { findColumn } from '../../../shared/mapping/match-columns.ts'
import { isAsync } from '../../../shared/operations/operations.ts'
import { readTaskFindings, type TaskFindings } from '../../../shared/service/answer-findings.ts'
import type { RunFamily, RunView } from '../journal/run-family.ts'
import { createRowMapper } from '../mapping/row-mapper.ts'
import { createExchangeReader } from '../run/journal/stored-bodies.ts'
import { FOUND, FOUND_KINDS, type FoundKind } from '../run/results/journal-findings.ts'
import { parseJson } from '../service/judgement.ts'
import type { AnsweredRow } from './answered-rows.ts'
import { findColumnOrThrow } from './row-labels.ts'

/** Reads the values that a row is grouped by. */
type SliceReader = (row: AnsweredRow) => string

/** A reader for each of the named slices: columns of the source, or what answers and requests name, such as `language`. */
export function createSliceReaders(family: RunFamily, names: readonly string[]): SliceReader[] {
  const { columns, plan } = family.record
  return names.map((name) => {
    const at = findColumn(columns, name)
    if (at !== null) return (row) => row.cell(at)
    const kind = FOUND_KINDS.find((found) => found === name)
    if (kind !== undefined) return createFoundReader(family, FOUND[kind])
    const missing = findColumnOrThrow(columns, name, '--slice', plan.source.path)
    return (row) => row.cell(missing)
  })
}

function createFoundReader(
  { record }: RunFamily,
  { field = '', read }: (typeof FOUND)[FoundKind],
): SliceReader {
  // Each answer is read and parsed.
  if (read !== undefined) return createAnswerReader((found) => read(found).join('; '))
  const mapRow = createRowMapper(record.plan, record.columns, record.runToken)
  return ({ row, cells, kinds }) => {
    const value = mapRow(row, cells, kinds).body[field]
    return typeof value === 'string' ? value : ''
  }
}

function createAnswerReader(read: (findings: TaskFindings) => string): SliceReader {
  const exchanges = new Map<RunView, ReturnType<typeof createExchangeReader>>()
  return ({ row, member }) => {
    const exchange = exchanges.get(member) ?? createExchangeReader(member.db)
    exchanges.set(member, exchange)
    const settled = isAsync(member.record.plan.operation)
      ? exchange.readCallbacks(row).find(({ effect }) => effect === 'settled')?.body
      : undefined
    const body = parseJson(settled ?? exchange.readAnswer(row)?.text ?? '')
    return body === undefined ? '' : read(readTaskFindings(body))
  }
}
