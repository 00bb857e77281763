import { findColumn } from '../../../shared/mapping/match-columns.ts'
import { isAsync } from '../../../shared/plan/operation.ts'
import { readTaskFindings, type TaskFindings } from '../../../shared/service/answer-findings.ts'
import type { RunFamily, RunView } from '../journal/run-family.ts'
import { createRowMapper } from '../mapping/row-mapper.ts'
import { createExchangeReader } from '../run/journal/stored-bodies.ts'
import { parseJson } from '../service/judgement.ts'
import type { AnsweredRow } from './answered-rows.ts'
import { findColumnOrThrow } from './row-labels.ts'

/** Reads the values that a row is grouped by. */
type SliceReader = (row: AnsweredRow) => string

/** Slices that are no columns of the source; a column of that name goes before them. */
const SPECIAL: Record<string, (family: RunFamily) => SliceReader> = {
  // Said by the answer, so that each is read and parsed.
  language: () => createAnswerReader(({ languages }) => languages.join('; ')),
  model: () => createAnswerReader(({ models }) => models.map(({ model }) => model).join('; ')),
  variant: createVariantReader,
}

/** A reader for each of the named slices: columns of the source, or `language`, `model` or `variant`. */
export function createSliceReaders(family: RunFamily, names: readonly string[]): SliceReader[] {
  const { columns, plan } = family.record
  return names.map((name) => {
    const at = findColumn(columns, name)
    if (at !== null) return (row) => row.cell(at)
    const special = SPECIAL[name]
    if (special !== undefined) return special(family)
    const missing = findColumnOrThrow(columns, name, '--slice', plan.source.path)
    return (row) => row.cell(missing)
  })
}

function createVariantReader({ record: { plan, columns, runToken } }: RunFamily): SliceReader {
  const mapRow = createRowMapper(plan, columns, runToken)
  return ({ row, cells, kinds }) => {
    const { content_variant: variant } = mapRow(row, cells, kinds).body
    return typeof variant === 'string' ? variant : ''
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
