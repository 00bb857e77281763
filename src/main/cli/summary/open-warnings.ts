import { ACCEPT_WORDS, listNeeded, sayOpenWarning } from '../../../shared/messages/accept-messages.ts'
import { findNeeds } from '../../../shared/messages/problem-traits.ts'
import type { ProblemGroup } from '../../../shared/run/problem.ts'
import { wrapWords } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** What has to be accepted before anything is sent: each code with what it means, and its causes with their rows. */
export function formatOpenWarnings(terminal: Terminal, groups: readonly ProblemGroup[]): string[] {
  return listNeeded(groups).flatMap((code) => [
    ...toLines(terminal, `${terminal.glyphs.failed} `, `${ACCEPT_WORDS[code]} (${code})`).map((line) =>
      terminal.tone('warn', line),
    ),
    ...groups
      .filter((group) => findNeeds(group) === code)
      .flatMap((group) => toLines(terminal, '    ', sayOpenWarning(group, 'terminal'))),
  ])
}

function toLines(terminal: Terminal, indent: string, text: string): string[] {
  const columns = terminal.columns() - indent.length - 2
  return wrapWords(toPrintable(text), columns).map(
    (line, index) => `  ${index === 0 ? indent : ' '.repeat(indent.length)}${line}`,
  )
}
