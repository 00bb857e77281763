import { dropFraction } from '../../../shared/mapping/changed-ids.ts'
import { trimId, trimTerm } from '../../../shared/mapping/id-text.ts'
import type { ReadCell } from '../../../shared/mapping/templates.ts'
import type { FoundProblem } from '../../../shared/messages/problem-messages.ts'
import {
  type Correction,
  type Fix,
  getFixedRecord,
  listFixedFields,
  SPLIT_FIELDS,
  substitute,
  toSubstituted,
} from '../../../shared/plan/fixes.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import type { Problem } from '../../../shared/run/problem.ts'
import type { RequestField } from '../../../shared/service/request-field.ts'
import { toText } from './join-cells.ts'
import { compileFieldTemplate } from './json-template.ts'
import type { Body } from './json-text.ts'
import { createRowHash } from './row-hash.ts'
import { keepHalf, type RowHalf } from './split-row.ts'
import { createRowValidator } from './validate-row.ts'

export interface FixedField {
  kind: RequestField['kind']
  /** The text that the mapping reads for it; null if nothing is mapped to it. */
  read: ReadCell | null
  /** Sets another text, '' for none; returns what prevents it. */
  set: (body: Body, row: number, text: string) => FoundProblem | null
}

/** A row made from its cells alone. */
interface UnfixedRow {
  /** Changed in place. */
  body: Body
  problems: readonly FoundProblem[]
  row: number
  cells: readonly string[]
  /** The cells and kinds as in the source; in the other list, some cells may be joined. */
  source: { cells: readonly string[]; kinds: string | null }
  half: RowHalf | null
}

/** What fixes changed in a row, and the remaining problems of the values they wrote. */
export interface FixedRow {
  problems: readonly FoundProblem[]
  /** Absent if the fixes changed nothing. */
  corrections?: readonly Correction[]
  /** Cell fixes that were not applied. */
  unfit?: readonly UnfitCell[]
}

/** A cell fix that was not applied, because it is for another row or text, and the field's actual text. */
export interface UnfitCell {
  fix: CellFix
  why: 'other_row' | 'other_text'
  found: string
}

/** A cell fix, or a rule that gives a field a value. */
type CellFix = Extract<Fix, { kind: 'cell' }>
interface ValueRule {
  problem: string
  field: string
  read: ReadCell
}

/**
 * Compiles the fixes of a plan with a resolved mapping into a function that changes a row's body. Pure, like
 * the mapper it belongs to: a resumed run, a retry and a preview get the same body. Cells come first, then
 * removals from ids, then rules for what is still wrong, and last substitutes for ids.
 */
export function createRowFixer(
  plan: Plan,
  columns: readonly string[],
  runToken: string,
  createField: (field: string) => FixedField | null,
): (row: UnfixedRow) => FixedRow {
  const { fixes = [] } = plan
  const fields = new Map<string, FixedField>()
  for (const name of listFixedFields(fixes)) {
    const field = createField(name)
    if (field !== null) fields.set(name, field)
  }
  const cellFixes = Map.groupBy(
    fixes.filter((fix): fix is CellFix => fix.kind === 'cell'),
    getFixedRecord,
  )
  const toHash = createRowHash(columns)
  const compileValue = ({ field, value }: Extract<Fix, { kind: 'value' }>) =>
    compileFieldTemplate(fields.get(field)?.kind ?? 'string', value, columns, runToken)
  const rules = fixes.flatMap((fix): ValueRule[] =>
    fix.kind === 'value' ? [{ problem: fix.problem, field: fix.field, read: compileValue(fix) }] : [],
  )
  const substituted = fixes.flatMap((fix) =>
    fix.kind === 'substitute'
      ? toSubstituted(fix.field).map((field) => ({ field, escapes: fix.escapes }))
      : [],
  )
  const cleaned = fixes.flatMap((fix) => {
    if (fix.kind !== 'trim' && fix.kind !== 'drop_fraction') return []
    const trim = fix.field === 'term' ? trimTerm : trimId
    return toSubstituted(fix.field).map((field) => ({
      field,
      clean: fix.kind === 'trim' ? trim : dropFraction,
    }))
  })
  const validate = rules.length === 0 ? () => [] : createRowValidator(plan)

  return ({ body, problems: found, row, cells, source, half }) => {
    let problems = found
    let corrections: Map<string, Correction> | null = null
    const record = half?.of ?? row
    const readText = (name: string) => {
      const text = fields.get(name)?.read?.(record, cells) ?? ''
      return text === '' ? toText(body[name]) : text
    }
    const note = (field: string, text: string, isSubstitute: boolean) => {
      const sent = toText(body[field])
      if (sent === text) return
      corrections ??= new Map()
      const { before = text, own = text } = corrections.get(field) ?? {}
      corrections.set(field, { field, before, own: isSubstitute ? own : sent, sent })
    }
    const set = (name: string, text: string) => {
      const before = readText(name)
      const problem = fields.get(name)?.set(body, row, text) ?? null
      problems = problems.filter(({ field }) => field !== name)
      if (problem !== null) problems = [...problems, problem]
      note(name, before, false)
    }

    const unfit: UnfitCell[] = []
    for (const fix of cellFixes.get(record) ?? []) {
      const { field, value, was, rowHash } = fix
      const text = readText(field)
      const isOfRow = rowHash === undefined || rowHash === toHash(source.cells, source.kinds)
      if (isOfRow && (was === undefined || was === text)) set(field, value)
      else unfit.push({ fix, why: isOfRow ? 'other_text' : 'other_row', found: text })
    }
    for (const { field, clean } of cleaned) {
      const id = body[field]
      if (typeof id === 'string' && clean(id) !== id) set(field, clean(id))
    }
    if (rules.length > 0) {
      const wrong = [...problems, ...validate(row, body)]
      for (const { problem, field, read } of rules) {
        if (wrong.some((one) => isAbout(one, problem, field))) set(field, read(record, cells))
      }
    }
    for (const { field, escapes } of substituted) {
      const id = body[field]
      if (typeof id !== 'string') continue
      body[field] = substitute(id, escapes)
      note(field, id, true)
    }
    if (half !== null) {
      const before = SPLIT_FIELDS.map((field) => [field, toText(body[field])] as const)
      keepHalf(body, half)
      for (const [field, own] of before) note(field, own, field === 'post_id')
    }
    return {
      problems,
      ...(corrections !== null && { corrections: [...corrections.values()] }),
      ...(unfit.length > 0 && { unfit }),
    }
  }
}

/** A problem without a field concerns the whole row, and so each of its fields. */
function isAbout(found: FoundProblem, code: string, field: string): boolean {
  return found.code === code && (found.field ?? field) === field
}

/** Decides whether a row is left out, given its problems. */
export type LeavesOut = (
  read: { row: number; cells: readonly string[]; kinds?: string | null },
  problems: readonly Pick<Problem, 'code' | 'field'>[],
) => boolean

export function createLeaveOut(fixes: readonly Fix[], columns: readonly string[]): LeavesOut {
  const toHash = createRowHash(columns)
  const rows = Map.groupBy(
    fixes.filter((fix) => fix.kind === 'leave_out_row'),
    getFixedRecord,
  )
  // Several fixes may name the same number; one that does not fit leaves the others in force.
  const isMeant = ({ row, cells, kinds = null }: Parameters<LeavesOut>[0]) =>
    rows.get(row)?.some(({ rowHash }) => rowHash === undefined || rowHash === toHash(cells, kinds)) ?? false
  const rules = fixes.filter((fix) => fix.kind === 'leave_out')
  if (rows.size === 0 && rules.length === 0) return () => false
  return (read, problems) =>
    isMeant(read) ||
    rules.some((rule) => problems.some(({ code, field }) => code === rule.problem && field === rule.field))
}
