import type { ErrorCode, ErrorDocument } from '../../shared/messages/errors.ts'

/** What to do in the window, where the engine's own hint speaks to the command line alone. */
const BY_CODE: Partial<Record<ErrorCode, string>> = {
  RUN_NOT_FOUND: 'It may have been deleted. Go back to Runs.',
  NO_API_KEY:
    'Type the key, without quotes, spaces or line breaks around it, or use a stored connection whose key is set.',
}

const TAKE_SYNC = 'Take the answers at once (sync), or close what else uses the address.'

// Flags and commands, each with what does the same here; the most particular first.
const REPLACEMENTS: readonly [RegExp, string][] = [
  [/\s*\(-{2}[^)]*\)/g, ''],
  [
    /Lower --max-in-flight or --concurrency, or divide the load with --workers\./g,
    'Lower the number in flight.',
  ],
  [/,? or choose another(?: workspace)?(?: folder)? with --workspace DIR(?: or SLUICE_WORKSPACE)?/g, ''],
  [/, with --workspace DIR or SLUICE_WORKSPACE/g, ''],
  [/, or start Sluice with another --workspace(?=[,.])/g, ''],
  [/, end that process, or take another workspace with --workspace DIR/g, ', or end that process'],
  [/,? Or use another port this time, with --callback-port PORT\./g, ''],
  [/,? or choose another port with --callback-port PORT/g, ''],
  [
    /Choose (?:a port from 1024 on|another address),? with --callback-\S+(?: and --callback-port)?\./g,
    TAKE_SYNC,
  ],
  [/Leave --callback-host out .*?it has\./g, TAKE_SYNC],
  [
    /Open it there again: --callback-port (\S+)/g,
    'Close what else uses the port $1, and start Sluice again.',
  ],
  [/ Store it with: sluice connection .*/g, ''],
  [/ Add one with: sluice connection .*/g, ''],
  [/What it measured until then is kept: sluice show \S+\./g, 'What it measured until then is kept.'],
  [/go on with: sluice resume \S+/g, 'resume it on its own screen'],
  [/: sluice resume \S+/g, '; resume it on its own screen'],
  [/Remove it with: sluice delete \S+/g, 'Delete it from the list of runs'],
  [/List the runs there are with: sluice runs.*/g, 'Go back to Runs.'],
  [/ with --on-unknown resend/g, ' where that is chosen'],
  [/say which one, such as --encoding utf-16le/g, 'choose it under Encoding'],
  [/: --(?:map|set) [^.]*(?=\.|$)/g, ' in Mapping'],
  [/: --api v2/g, ', in Mapping'],
  [/\bName (the file|a CSV|the CSV|another sheet)/g, 'Choose $1'],
]

/** The same error for a person at the window: nothing of it asks for a flag or a command. */
export function toWindowWords(error: ErrorDocument): ErrorDocument {
  const hint = REPLACEMENTS.reduce((text, [pattern, words]) => text.replace(pattern, words), error.hint)
  return { ...error, hint: BY_CODE[error.code] ?? hint }
}
