import { type Command, CommanderError } from 'commander'
import { EXIT, type ExitCode } from '../../shared/messages/error-entry.ts'
import { COMPLETE_COMMAND } from './completion/shell-scripts.ts'
import { type CliContext, createCliContext } from './context.ts'
import { COMMAND_NAMES, createProgram } from './program.ts'

const SHOWN_ON_PURPOSE = new Set(['commander.helpDisplayed', 'commander.version'])

const HELP_FLAGS: readonly string[] = ['--help', '-h']

/** Runs the command that the arguments name, and returns the exit code. Never throws. */
export async function runCli(
  args: readonly string[],
  context: CliContext = createCliContext(),
): Promise<ExitCode> {
  let program: Command | null = null
  try {
    const [first] = args
    // `help --help` is about help itself, not about pages with that word.
    const words = first === 'help' ? args.slice(1).filter((word) => !HELP_FLAGS.includes(word)) : []
    const [second] = words
    if (second !== undefined && !COMMAND_NAMES.includes(second)) {
      const { listNearTopics, showHelp } = await import('./help-search.ts')
      if (await showHelp(context, words)) return await checkOutput(context)
      if (!second.startsWith('-')) {
        const { sayNear } = await import('./suggestions.ts')
        const near = sayNear(listNearTopics(second, COMMAND_NAMES))
        throw new CommanderError(
          EXIT.badInput,
          'sluice.unknownTopic',
          `unknown command or topic '${words.join(' ')}'${near}`,
        )
      }
    }
    if (first === COMPLETE_COMMAND) {
      const { completeWords } = await import('./completion/complete-words.ts')
      await context.out.write(
        await completeWords(context, args.slice(1, -1), args.at(-1)?.slice(0, -1) ?? ''),
      )
      return await checkOutput(context)
    }
    const asked = first === 'help' ? [first, ...words] : args
    program = await createProgram(context, asked)
    await program.parseAsync(asked, { from: 'user' })
    return await checkOutput(context)
  } catch (error) {
    if (error instanceof CommanderError) {
      if (SHOWN_ON_PURPOSE.has(error.code)) return await checkOutput(context)
      // `sluice` or `sluice index` alone, or `sluice help`: the help has already been printed.
      if (error.code === 'commander.help')
        return args.includes('help') ? await checkOutput(context) : EXIT.badInput
    }
    // Loaded only if it is needed, as the commands are.
    const { reportError } = await import('./report-error.ts')
    const { addSuggestion, nameCommand } = await import('./suggestions.ts')
    const asJson = args.includes('--json')
    if (program === null) return await reportError(context, error, { asJson })
    const command = nameCommand(program, args)
    return await reportError(context, addSuggestion(error, program, args), { asJson, command })
  }
}

/** The command's exit code, which is not 0 if its results could not be written, such as on a full disk. */
async function checkOutput({ out, err, errTerminal, exitCode }: CliContext): Promise<ExitCode> {
  const failure = await out.finish()
  if (failure === null) return exitCode
  await err.writeLine(`${errTerminal.tone('bad', 'sluice:')} the output is incomplete: ${failure.message}`)
  return exitCode === EXIT.ok ? EXIT.rowsFailed : exitCode
}
