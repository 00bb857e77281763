import { z } from 'zod'
import { argsSchema, type ProblemGroup, problemCodeSchema } from './problem.ts'

/** A cause of warnings: what the problems of a group have in common. */
const acceptedCauseSchema = z.object({
  problem: problemCodeSchema,
  field: z.string().exactOptional(),
  args: argsSchema.exactOptional(),
})

/**
 * Causes that a person accepted for a source, and the source's columns. They also hold for a source that has
 * only some of these columns, since equal names mean equal things there, such as a header that looks like a
 * row.
 */
export const acceptedCausesSchema = z.object({
  columns: z.array(z.string()),
  causes: z.array(acceptedCauseSchema),
})

export type AcceptedCauses = z.infer<typeof acceptedCausesSchema>

type Cause = z.infer<typeof acceptedCauseSchema>
type FoundCause = Pick<ProblemGroup, 'code' | 'field' | 'args'>

/** Whether a cause in a source with these columns was accepted. */
export function isAcceptedCause(
  found: FoundCause,
  columns: readonly string[],
  accepted: AcceptedCauses | undefined,
): boolean {
  if (accepted === undefined || !columns.every((column) => accepted.columns.includes(column))) return false
  const key = toKey(toCause(found))
  return accepted.causes.some((cause) => toKey(cause) === key)
}

/** All accepted causes of a source, earlier and new; undefined if there are none. */
export function joinAcceptedCauses(
  before: AcceptedCauses | undefined,
  columns: readonly string[],
  found: readonly FoundCause[],
): AcceptedCauses | undefined {
  const isOfSource = before !== undefined && columns.every((column) => before.columns.includes(column))
  const causes = [...(isOfSource ? before.causes : []), ...found.map(toCause)]
  if (causes.length === 0) return undefined
  const each = new Map(causes.map((cause) => [toKey(cause), cause]))
  return { columns: [...columns], causes: [...each.values()] }
}

function toCause({ code, field, args }: FoundCause): Cause {
  return { problem: code, ...(field !== null && { field }), ...(args !== undefined && { args }) }
}

function toKey({ problem, field, args = {} }: Cause): string {
  return JSON.stringify([problem, field ?? null, Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1))])
}
