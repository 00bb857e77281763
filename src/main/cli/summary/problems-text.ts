import { formatCounted } from '../../../shared/messages/figure-text.ts'
import {
  formatProblem,
  formatRowPlace,
  type Problem,
  type ProblemGroup,
} from '../../../shared/run/problem.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** Problems by cause, errors before warnings, each with up to `limit` examples and how many rows more have it. */
export function formatProblemGroups(
  terminal: Terminal,
  groups: readonly ProblemGroup[],
  limit: number,
): string[] {
  const ordered = groups.toSorted(
    (one, other) =>
      Number(one.severity === 'warning') - Number(other.severity === 'warning') || other.rows - one.rows,
  )
  return ordered.flatMap((group) => {
    const isError = group.severity === 'error'
    const sign = isError ? terminal.glyphs.rejected : terminal.glyphs.failed
    const field = group.field === null ? '' : `${group.field}: `
    const kind = isError ? '' : ' (warning, still sent)'
    const head = `${sign} ${formatCounted(group.rows, 'row')}${kind}  ${toPrintable(`${field}${group.message}`)}`
    const examples = group.examples.slice(0, limit)
    const more = group.rows - new Set(examples.map((example) => example.row)).size
    return [
      terminal.tone(isError ? 'bad' : 'warn', head),
      ...formatExamples(examples).map((example) => `    ${toPrintable(example)}`),
      ...(more > 0 && examples.length > 0
        ? [terminal.tone('quiet', `    and ${formatCounted(more, 'row')} more`)]
        : []),
    ]
  })
}

/** A line for each example, and one for those that have the same cause in the same words. */
function formatExamples(examples: readonly Problem[]): string[] {
  const alike = new Map<string, Problem[]>()
  for (const example of examples) {
    const key = `${example.message}\n${example.found ?? ''}`
    alike.set(key, [...(alike.get(key) ?? []), example])
  }
  return [...alike.values()].flatMap((same) => {
    const [first] = same
    if (first === undefined || same.length === 1) return same.map(formatProblem)
    const found = first.found === undefined ? '' : `: found \`${first.found}\``
    return [`rows ${same.map(formatRowPlace).join(', ')}${found}`]
  })
}
