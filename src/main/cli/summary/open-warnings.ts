import { listNeeded, sayOpenWarning } from '../../../shared/messages/accept-messages.ts'
import { findNeeds } from '../../../shared/messages/problem-traits.ts'
import { ACCEPT_WORDS } from '../../../shared/run/accept-code.ts'
import type { ProblemGroup } from '../../../shared/run/problem.ts'
import { hang } from '../terminal/layout.ts'
import { toPrintable } from '../terminal/output.ts'
import type { Terminal } from '../terminal/terminal.ts'

/** The warnings to accept before anything is sent: each code with its meaning, causes and their rows. */
export function formatOpenWarnings(terminal: Terminal, groups: readonly ProblemGroup[]): string[] {
  const columns = terminal.columns() - 2
  return listNeeded(groups).flatMap((code) => [
    ...hang(`  ${terminal.glyphs.failed} `, `${ACCEPT_WORDS[code]} (${code})`, columns).map((line) =>
      terminal.tone('warn', line),
    ),
    ...groups
      .filter((group) => findNeeds(group) === code)
      .flatMap((group) => hang('      ', toPrintable(sayOpenWarning(group, 'terminal')), columns)),
  ])
}
