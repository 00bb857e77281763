import { ACCEPT_CODES, type AcceptCode } from '../run/accept-code.ts'
import { formatProblemRow, type ProblemGroup } from '../run/problem.ts'
import type { Surface } from './error-entry.ts'
import { formatCounted } from './figure-text.ts'
import { sayExpected } from './problem-messages.ts'
import { findAdvice, findNeeds } from './problem-traits.ts'

/** The codes to accept for the causes of warnings. */
export function listNeeded(groups: readonly ProblemGroup[]): AcceptCode[] {
  return ACCEPT_CODES.filter((code) => groups.some((group) => findNeeds(group) === code))
}

/** A cause to accept: its rows, what is wrong, an example and, in a terminal, what to do. */
export function sayOpenWarning(group: ProblemGroup, surface: Surface): string {
  const field = group.field === null ? '' : `${group.field} `
  const [example] = group.examples
  const found = example?.found === undefined ? '' : `: \`${example.found}\``
  const such = example === undefined ? '' : ` (such as row ${formatProblemRow(example)}${found})`
  const toDo = surface === 'terminal' ? findAdvice(group) : null
  const advice = toDo === null ? '' : `; ${toDo}`
  // Details of the only row that does not fit.
  const { details, alsoAt } = group.code === 'unfit_fix' && group.rows === 1 ? (example ?? {}) : {}
  const one = { ...(details !== undefined && { details }), ...(alsoAt !== undefined && { alsoAt }) }
  const said = sayExpected({ ...group, ...one }, surface)
  return `${formatCounted(group.rows, 'row')}: ${field}${said}${such}${advice}`
}
