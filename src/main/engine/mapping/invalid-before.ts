import {
  type FoundProblem,
  type ProblemCause,
  sayExpected,
} from '../../../shared/messages/problem-messages.ts'
import { isJsonLinesExport } from '../../../shared/run/export-columns.ts'

/** Problems that a reader found in a file, and that its exported cells no longer show. */
const LOST: readonly ProblemCause[] = [
  { code: 'below_other_header' },
  { code: 'nul_character', args: { character: 'NUL' } },
  ...(
    [
      ...['text_behind', 'may_be_escaped', 'space_before', 'may_take_in_rows'],
      ...['looks_like_rows', 'text_behind_to_end', 'never_closed', 'open_in_line'],
    ] as const
  ).map((effect) => ({ code: 'broken_quotes', args: { effect } }) as const),
]

const SENTENCES = LOST.flatMap((cause) => [sayExpected(cause, 'terminal'), sayExpected(cause, 'window')])

/**
 * Finds rows of our own exports that were invalid because their cells may be cut or belong to several rows:
 * only the export's message tells. Null if the columns are not those of an export.
 */
export function createBeforeCheck(
  columns: readonly string[],
): ((row: number, cells: readonly string[]) => FoundProblem | null) | null {
  const prefix = isJsonLinesExport(columns) ? '' : 'sluice_'
  const state = columns.indexOf(`${prefix}state`)
  const message = columns.indexOf(`${prefix}message`)
  if (state === -1 || message === -1) return null
  return (row, cells) => {
    if (cells[state] !== 'invalid') return null
    const said = cells[message] ?? ''
    if (!SENTENCES.some((sentence) => said.includes(sentence))) return null
    return { row, severity: 'warning', code: 'invalid_before' }
  }
}
