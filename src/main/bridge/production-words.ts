import type { OperationKind } from '../../shared/plan/operation.ts'
import type { ProductionQuestion } from './production-gate.ts'

const VERBS: Record<OperationKind, string> = {
  task: 'submits content of',
  'index-add': 'adds',
  'index-remove': 'removes',
  'watchlist-add': 'adds',
  'watchlist-update': 'updates',
  'appeal-status': 'reads appeals of',
}

/** Longest name of a run that is shown, in characters. */
const NAME_MAX = 80

/** The question before production in words. Names are shown bare, since they come from files and pages. */
export function describeProduction(question: ProductionQuestion): { title: string; lines: string[] } {
  const { connection, baseUrl, run, operation, rows } = question
  const count = rows === null ? 'its rows' : `${rows.toLocaleString('en')} ${rows === 1 ? 'row' : 'rows'}`
  return {
    title: `Send to production connection ${connection}?`,
    lines: [
      `Run: ${toBare(run)}`,
      `It ${VERBS[operation]} ${count}.`,
      `Address: ${baseUrl}`,
      'What is sent there is real and cannot be taken back.',
    ],
  }
}

/** Text on one line that can neither hide nor imitate what is next to it. */
function toBare(text: string): string {
  const bare = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\u{fffd}')
  const characters = Array.from(bare)
  return characters.length <= NAME_MAX ? bare : `${characters.slice(0, NAME_MAX).join('')}…`
}
