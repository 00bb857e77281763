import { expect, it } from 'vitest'
import { toWindowWords } from '../../src/renderer/bridge/window-words.ts'
import type { ErrorCode } from '../../src/shared/errors.ts'

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
  ['DISK_FULL', 'Free some space, then resume.', 'Free some space, then resume.'],
])('%s: a hint for the command line asks for nothing that the window has not', (code, hint, shown) => {
  expect(inWindow(code, hint)).toBe(shown)
  expect(shown).not.toMatch(/--[a-z]|sluice [a-z]/)
})
