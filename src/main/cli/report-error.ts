import { CommanderError } from 'commander'
import type { ExitCode } from '../../shared/messages/error-entry.ts'
import { sayError } from '../../shared/messages/error-messages.ts'
import { SluiceError, toSluiceError } from '../../shared/messages/errors.ts'
import { joinSentences } from '../../shared/messages/join-sentences.ts'
import { SOURCE_OPTIONS } from '../../shared/options/source-options.ts'
import { annotate } from './annotations.ts'
import type { CliContext } from './context.ts'
import { writeDocument } from './documents/write-document.ts'
import { toPrintable } from './terminal/output.ts'

function toCommandError(error: unknown, command: string): SluiceError {
  if (error instanceof SluiceError && error.said.id === 'options_in_conflict') {
    return new SluiceError({ ...error.said, command }, { cause: error })
  }
  if (error instanceof CommanderError) {
    return new SluiceError({
      id: 'arguments_refused',
      command,
      // Commander repeats the whole argument, which may hold a password; what was found is said where it may be.
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

/** Options that say how a source is read and mapped. */
const SOURCE_FLAGS = [
  ...Object.values(SOURCE_OPTIONS).flatMap((option) => ('flag' in option ? [option.flag] : [])),
  ...['--map <field=column>', '--set <field=template>'],
].map((flag) => flag.replace(/ .*/, ''))

/** Commands that read and map a source as before, and what to do in the place of such an option. */
const INSTEAD: Readonly<Record<string, string>> = {
  plan: 'change the plan file, or write another one with --save-plan',
  'run-again': 'send the file by the command that sent the earlier run',
}

/** That a command does not take the options that a text names; empty if it names none. */
function sayNotTaken(command: string, text: string): string {
  const instead = INSTEAD[command]
  const named = SOURCE_FLAGS.filter((flag) => text.includes(`${flag} `))
  if (instead === undefined || named.length === 0) return ''
  const last = named.pop()
  const list = named.length === 0 ? last : `${named.join(', ')} or ${last}`
  return `\`${command}\` does not take ${list}: ${instead}.`
}

/**
 * Says what went wrong: message and hint on stderr, with `--json` a document on stdout as well, the stack only under
 * `SLUICE_DEBUG=1`. `command` is the one that arguments named. Returns what to exit with.
 */
export async function reportError(
  context: CliContext,
  error: unknown,
  { asJson, command = '' }: { asJson: boolean; command?: string },
): Promise<ExitCode> {
  const { said, exitCode } = toCommandError(error, command)
  const { errTerminal: terminal, err } = context
  const { code, message, title, causes, hint: advice } = sayError(said, 'terminal', terminal.commandPrefix)
  const hint = `${advice} ${sayNotTaken(command, `${message} ${advice}`)}`.trim()
  await err.writeLine(`${terminal.tone('bad', 'sluice:')} ${toPrintable(title)}`)
  for (const cause of causes) await err.writeLine(`          ${toPrintable(cause)}`)
  // Not broken into lines: hints hold commands to paste.
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
