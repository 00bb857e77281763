import { CommanderError } from 'commander'
import type { ExitCode } from '../../shared/messages/error-entry.ts'
import { sayError } from '../../shared/messages/error-messages.ts'
import { SluiceError, toSluiceError } from '../../shared/messages/errors.ts'
import { joinSentences } from '../../shared/messages/join-sentences.ts'
import { annotate } from './annotations.ts'
import type { CliContext } from './context.ts'
import { writeDocument } from './documents/write-document.ts'
import { toPrintable } from './terminal/output.ts'
import { sayUnsupported } from './unsupported-options.ts'

function toCommandError(error: unknown, command: string): SluiceError {
  if (error instanceof SluiceError && error.said.id === 'options_in_conflict') {
    return new SluiceError({ ...error.said, command }, { cause: error })
  }
  if (error instanceof CommanderError) {
    return new SluiceError({
      id: 'arguments_refused',
      command,
      // Commander repeats the whole argument, which may hold a password, so only harmless parts are kept.
      reason: error.message
        .replace(/^error: /, '')
        .replace(/\n\(Did you mean (.+)\?\)$/, '; did you mean $1?')
        .replace(
          /^option '(?:-\w, )?(--[\w-]+)[^']*' argument '(.*)' is invalid\. Allowed choices are (.*)\.$/s,
          '$1: expected one of $3, found `$2`',
        )
        .replace(/^option '(?:-\w, )?(--[\w-]+)[^']*' argument '.*' is invalid\. /s, '$1: ')
        .replace(/^command-argument value '.*' is invalid for argument '(\w+)'\. /, '$1: ')
        .replace(/\.$/, ''),
    })
  }
  return toSluiceError(error)
}

/**
 * Reports an error: message and hint on stderr, with `--json` also a document on stdout, the stack only with
 * `SLUICE_DEBUG=1`. `command` is the one that the arguments name. Returns the exit code.
 */
export async function reportError(
  context: CliContext,
  error: unknown,
  { asJson, command = '' }: { asJson: boolean; command?: string },
): Promise<ExitCode> {
  const { said, exitCode } = toCommandError(error, command)
  const { errTerminal: terminal, err } = context
  const { code, message, title, causes, hint: advice } = sayError(said, 'terminal', terminal.commandPrefix)
  const hint = `${advice} ${sayUnsupported(command, `${message} ${advice}`)}`.trim()
  await err.writeLine(`${terminal.tone('bad', 'sluice:')} ${toPrintable(title)}`)
  for (const cause of causes) await err.writeLine(`          ${toPrintable(cause)}`)
  // Not wrapped: hints hold commands to paste.
  if (hint !== '') await err.writeLine(`        ${toPrintable(hint)}`)
  if (context.env['SLUICE_DEBUG'] === '1' && error instanceof Error) {
    await err.writeLine(error.stack ?? String(error))
    for (
      let { cause } = error;
      cause !== undefined;
      cause = cause instanceof Error ? cause.cause : undefined
    ) {
      await err.writeLine(`cause: ${String(cause)}`)
    }
  }
  await annotate(context, [
    { level: 'error', title: 'sluice', message: joinSentences(hint === '' ? [message] : [message, hint]) },
  ])
  if (asJson) await writeDocument(context.out, { error: { code, message, hint } })
  return exitCode
}
