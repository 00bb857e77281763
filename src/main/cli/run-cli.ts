import { CommanderError } from 'commander'
import { EXIT, type ExitCode } from '../../shared/messages/error-entry.ts'
import { COMPLETE_COMMAND } from './completion/shell-scripts.ts'
import { type CliContext, createCliContext } from './context.ts'
import { COMMAND_NAMES, createProgram } from './program.ts'
import { showTopic } from './topics.ts'

const SHOWN_ON_PURPOSE = new Set(['commander.helpDisplayed', 'commander.version'])

/** Runs the command that the arguments name, and returns what the process exits with. Never throws. */
export async function runCli(
  args: readonly string[],
  context: CliContext = createCliContext(),
): Promise<ExitCode> {
  try {
    const [first, second] = args
    if (first === 'help' && second !== undefined && !COMMAND_NAMES.includes(second)) {
      if (await showTopic(context, second)) return EXIT.ok
      if (!second.startsWith('-')) {
        throw new CommanderError(EXIT.badInput, 'sluice.unknownTopic', `unknown command or topic '${second}'`)
      }
    }
    if (first === COMPLETE_COMMAND) {
      const { completeWords } = await import('./completion/complete-words.ts')
      await context.out.write(
        await completeWords(context, args.slice(1, -1), args.at(-1)?.slice(0, -1) ?? ''),
      )
      return EXIT.ok
    }
    const program = await createProgram(context, args)
    await program.parseAsync(args, { from: 'user' })
    return context.exitCode
  } catch (error) {
    if (error instanceof CommanderError) {
      if (SHOWN_ON_PURPOSE.has(error.code)) return EXIT.ok
      // `sluice` or `sluice index` alone, or `sluice help`: the help is on the screen already.
      if (error.code === 'commander.help') return args.includes('help') ? EXIT.ok : EXIT.badInput
    }
    // Loaded only where it is needed, as the commands are.
    const { reportError } = await import('./report-error.ts')
    return await reportError(context, error, args.includes('--json'))
  }
}
