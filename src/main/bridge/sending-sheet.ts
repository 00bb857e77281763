import { listNeeded } from '../../shared/messages/accept-messages.ts'
import { formatCounted } from '../../shared/messages/figure-text.ts'
import { PROBLEM_MESSAGES } from '../../shared/messages/problem-messages.ts'
import { findNeeds, isHint } from '../../shared/messages/problem-traits.ts'
import { hasGuess, sayReadAs } from '../../shared/messages/reading-messages.ts'
import { ACCEPT_WORDS, type AcceptCode } from '../../shared/run/accept-code.ts'
import { countSendable } from '../../shared/run/counts.ts'
import type { ProblemGroup } from '../../shared/run/problem.ts'
import type { ReadAs } from '../../shared/run/read-as.ts'
import { listSentBefore } from '../../shared/run/sent-before.ts'
import type { Engine } from '../engine/engine.ts'

const LINES_MAX = 5

/**
 * What a person must know before a run is sent, one per line: how its source is read if that is a guess,
 * warnings to accept, other warnings by cause, and the number of rows with errors. Quotes no content.
 */
export async function describeSending(
  engine: Pick<Engine, 'results' | 'runs'>,
  runId: string,
): Promise<string[]> {
  const [groups, summary] = await Promise.all([
    engine.results.readProblems(runId),
    engine.runs.summarizeRun(runId),
  ])
  const warnings = groups.filter((group) => group.severity === 'warning' && !isHint(group))
  const { invalid } = summary.rows
  return [
    ...sayGuesses(summary.source_read?.read_as ?? []),
    ...listNeeded(warnings).map(
      (code) => `${sayAccepted(code)} ${sayCauses(warnings.filter((group) => findNeeds(group) === code))}`,
    ),
    ...toLines(
      warnings.filter((group) => findNeeds(group) === null).map((group) => `Warning: ${sayCause(group)}.`),
      'more cause of warnings',
      'more causes of warnings',
    ),
    ...listSentBefore(
      summary.sent_before,
      {
        skipped: summary.rows.skipped,
        sendable: countSendable(summary.rows),
        isOnlyNew: summary.only_new === true,
      },
      'window',
    ),
    ...(invalid === 0 ? [] : [`Not sent, since they have errors: ${formatCounted(invalid, 'row')}.`]),
  ]
}

/** Tells a person that their answer accepts a kind of warning. */
export function sayAccepted(code: AcceptCode): string {
  return `You accept: ${ACCEPT_WORDS[code]}.`
}

function sayGuesses(files: readonly ReadAs[]): string[] {
  const guessed = files.filter(hasGuess).map((file) => {
    const of = file.file === undefined ? '' : `${file.file} `
    return `Read ${of}as ${sayReadAs(file, 'window')}.`
  })
  return toLines(guessed, 'more file with guesses', 'more files with guesses')
}

function sayCauses(groups: readonly ProblemGroup[]): string {
  return `${groups.map(sayCause).join('; ')}.`
}

function sayCause({ code, field, rows }: ProblemGroup): string {
  return `${formatCounted(rows, 'row')}: ${PROBLEM_MESSAGES[code].title}${field === null ? '' : ` (${field})`}`
}

function toLines(lines: readonly string[], one: string, several: string): string[] {
  const more = lines.length - LINES_MAX
  return more <= 0 ? [...lines] : [...lines.slice(0, LINES_MAX), `And ${formatCounted(more, one, several)}.`]
}
