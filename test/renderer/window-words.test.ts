import { expect, it } from 'vitest'
import { toWindowWords } from '../../src/renderer/bridge/window-words.ts'
import type { ErrorCode } from '../../src/shared/messages/errors.ts'

const inWindow = (code: ErrorCode, hint: string) =>
  toWindowWords({ code, message: 'something failed', hint, exitCode: 2 }).hint

it.each<[ErrorCode, string, string]>([
  [
    'BAD_SOURCE',
    'Name the file that holds the rows; if that one line is a row, say that there is no header (--no-header).',
    'Choose the file that holds the rows; if that one line is a row, say that there is no header.',
  ],
  [
    'BAD_SOURCE',
    'Name a CSV or TSV file. If it is text in an unusual encoding, say which one, such as --encoding utf-16le.',
    'Choose a CSV or TSV file. If it is text in an unusual encoding, choose it under Encoding.',
  ],
  [
    'WORKSPACE_UNUSABLE',
    'Check that the workspace folder exists and is writable, or choose another with --workspace DIR.',
    'Check that the workspace folder exists and is writable.',
  ],
  [
    'INTERNAL',
    'Its journal is intact: sluice resume 20260301-x1',
    'Its journal is intact; resume it on its own screen',
  ],
  [
    'RUN_NOT_FOUND',
    'List the runs there are with: sluice runs (a run of another workspace needs --workspace DIR).',
    'It may have been deleted. Go back to Runs.',
  ],
  [
    'BAD_PLAN',
    'Say where it comes from: --map user_id=COLUMN for a column, or --set user_id=VALUE for the same value in every row.',
    'Say where it comes from in Mapping.',
  ],
  [
    'RECEIVER_UNAVAILABLE',
    'End that program: callbacks of earlier runs go to port 4101. Or use another port this time, with --callback-port PORT.',
    'End that program: callbacks of earlier runs go to port 4101.',
  ],
  [
    'RECEIVER_UNAVAILABLE',
    'Choose another address with --callback-host and --callback-port.',
    'Take the answers at once (sync), or close what else uses the address.',
  ],
  [
    'RECEIVER_UNAVAILABLE',
    'Leave --callback-host out for this machine alone, or give 0.0.0.0 for every address it has.',
    'Take the answers at once (sync), or close what else uses the address.',
  ],
  [
    'RECEIVER_UNAVAILABLE',
    'Open it there again: --callback-port 4101',
    'Close what else uses the port 4101, and start Sluice again.',
  ],
  [
    'RECEIVER_UNAVAILABLE',
    'Use that one (--callback-host 127.0.0.1 --callback-port 4101), end that process, or take another workspace with --workspace DIR.',
    'Use that one, or end that process.',
  ],
  [
    'CONNECTION_NOT_FOUND',
    'None is stored in this workspace. Store it with: sluice connection add NAME --base-url URL',
    'None is stored in this workspace.',
  ],
  [
    'BAD_SOURCE',
    'Name another sheet (--sheet); if that one row is data, say that there is no header (--no-header).',
    'Choose another sheet; if that one row is data, say that there is no header.',
  ],
  [
    'FILE_UNWRITABLE',
    'See that the folder can be written, or start Sluice with another --workspace.',
    'See that the folder can be written.',
  ],
  ['DISK_FULL', 'Free some space, then resume.', 'Free some space, then resume.'],
])('%s: a hint for the command line asks for nothing that the window has not', (code, hint, shown) => {
  expect(inWindow(code, hint)).toBe(shown)
  expect(shown).not.toMatch(/--[a-z]|sluice [a-z]/)
})
