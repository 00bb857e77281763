import { CommanderError } from 'commander'
import { type ErrorDocument, EXIT, type ExitCode, toErrorDocument } from '../../shared/messages/errors.ts'
import type { CliContext } from './context.ts'
import { COMMAND_PREFIX } from './invocation.ts'
import { ListedError } from './listed-error.ts'
import { toPrintable } from './terminal/printable.ts'

const OWN_COMMAND =
  /\bsluice (task|load|compare|index|watchlist|appeal|plan|connection|receiver|resume|retry|runs|show|export|delete|sandbox|demo|open)\b/g

/** The engine names commands without saying how they are started; here they are made to be pasted. */
function withPrefix(text: string): string {
  return text.replace(OWN_COMMAND, `${COMMAND_PREFIX} $1`)
}

function toDocument(error: unknown): ErrorDocument {
  if (error instanceof CommanderError) {
    return {
      code: 'BAD_USAGE',
      // Commander repeats the whole argument, which may hold a password; what was found is said where it may be.
      message: error.message
        .replace(/^error: /, '')
        .replace(/\n\(Did you mean (.+)\?\)$/, '; did you mean $1?')
        .replace(
          /^option '(?:-\w, )?(--[\w-]+)[^']*' argument '(.*)' is invalid\. Allowed choices are (.*)\.$/s,
          '$1: expected one of $3, found `$2`',
        )
        .replace(/^option '(?:-\w, )?(--[\w-]+)[^']*' argument '.*' is invalid\. /s, '$1: ')
        .replace(/^command-argument value '.*' is invalid for argument '(\w+)'\. /, '$1: ')
        .replace(/\.$/, ''),
      hint: 'Run the command with --help to list its options.',
      exitCode: EXIT.badInput,
    }
  }
  return toErrorDocument(error)
}

/**
 * Says what went wrong: message and hint on stderr, with `--json` a document on stdout as well, the stack only under
 * `SLUICE_DEBUG=1`. Returns what to exit with.
 */
export async function reportError(context: CliContext, error: unknown, asJson: boolean): Promise<ExitCode> {
  const document = toDocument(error)
  const { code, exitCode } = document
  const message = withPrefix(document.message)
  const hint = withPrefix(document.hint)
  const { errTerminal: terminal, err } = context
  const causes = error instanceof ListedError ? error.causes : []
  const title = error instanceof ListedError ? error.title : message
  await err.writeLine(`${terminal.tone('bad', 'sluice:')} ${toPrintable(title)}`)
  for (const cause of causes) await err.writeLine(`          ${toPrintable(cause)}`)
  // Not broken into lines: hints hold commands to paste.
  if (hint !== '') await err.writeLine(`        ${toPrintable(hint)}`)
  if (context.env['SLUICE_DEBUG'] === '1' && error instanceof Error) {
    await err.writeLine(error.stack ?? String(error))
    if (error.cause !== undefined) await err.writeLine(`cause: ${String(error.cause)}`)
  }
  if (asJson) await context.out.writeLine(JSON.stringify({ error: { code, message, hint } }, null, 2))
  return exitCode
}
