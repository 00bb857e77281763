import { CUT_OFF_MESSAGE } from '../../src/main/engine/run/journal/recovery.ts'
import type { IntendedDifference } from './intended-differences.ts'

/** The try of the golden run that was killed, without the phases that only `show --row` has. */
const LOST_TRY = {
  ...{ run_id: '20261125-232813-383ptc4', number: 1, sent_at: null, outcome: 'unknown', status: null },
  ...{ error_code: null, message: CUT_OFF_MESSAGE, duration_ms: null },
}

/** Differences about tries that were in flight when their process died. */
export const ABOUT_LOST_TRIES: readonly IntendedDifference[] = [
  {
    reason: 'the time of a try that was cut off is null, as in sql',
    apply(answer) {
      const { args, stdout } = answer
      if (args[0] !== 'export' || !Array.isArray(stdout)) return answer
      const lines = stdout.map((line) => String(line).replaceAll('"sent_at":""', '"sent_at":null'))
      return { ...answer, stdout: lines }
    },
  },
  {
    reason: 'a try that a killed process had in flight is listed before its run is resumed',
    apply: (answer, workspace) =>
      workspace === 'killed' ? { ...answer, stdout: addLostTries(answer.stdout) } : answer,
  },
  {
    reason: 'tries that a killed process had in flight count as requests before its run is resumed',
    apply: (answer, workspace) =>
      workspace === 'killed'
        ? (JSON.parse(JSON.stringify(answer, (_, value) => countLostTries(value))) as typeof answer)
        : answer,
  },
]

/** Tries that the golden run had in flight. */
const LOST_TRIES = 6

/** Adds them to the requests of a summary and of its only session, and to the line of the requests. */
function countLostTries(value: unknown): unknown {
  if (value === 'Requests         6 sent: 6 succeeded') {
    return `Requests         ${6 + LOST_TRIES} sent: 6 succeeded, ${LOST_TRIES} unknown`
  }
  if (typeof value !== 'object' || value === null || !('requests' in value)) return value
  const { sent, unknown } = value.requests as Record<string, number | undefined>
  if (sent === undefined || unknown === undefined) return value
  return {
    ...value,
    requests: { ...(value.requests as object), sent: sent + LOST_TRIES, unknown: unknown + LOST_TRIES },
  }
}

/** Adds it to the rows that were cut off, in the lines of an export and in the document of a row. */
function addLostTries(stdout: unknown): unknown {
  if (Array.isArray(stdout)) return stdout.map(addToLine)
  if (typeof stdout !== 'object' || stdout === null || !('attempts' in stdout)) return stdout
  if (!JSON.stringify(stdout).includes(CUT_OFF_MESSAGE)) return stdout
  return { ...stdout, attempts: [{ ...LOST_TRY, waiting_ms: null, connect_ms: null, tls_ms: null }] }
}

function addToLine(line: unknown): unknown {
  if (typeof line !== 'string' || !line.includes(CUT_OFF_MESSAGE)) return line
  return line.replace('"tries":[]', () => `"tries":[${JSON.stringify(LOST_TRY)}]`)
}
