import { Command } from 'commander'
import { APP_VERSION } from '../../shared/version.ts'
import type { CliContext } from './context.ts'

/** A command as the list of commands shows it; the rest of it is loaded where it is asked for. */
interface ListedCommand {
  term: string
  summary: string
  load(): Promise<(program: Command, context: CliContext) => void>
}

const list = (term: string, summary: string, load: ListedCommand['load']): ListedCommand => ({
  term,
  summary,
  load,
})

const GROUPS: Readonly<Record<string, readonly ListedCommand[]>> = {
  'Send:': [
    list(
      'task [options] <source>',
      'submit each row of a source as content',
      async () => (await import('./commands/task.ts')).addTaskCommand,
    ),
    list(
      'index',
      'add items to a custom index, or remove them',
      async () => (await import('./commands/index-items.ts')).addIndexCommand,
    ),
    list(
      'watchlist',
      'add terms to a watchlist, or update their notes',
      async () => (await import('./commands/watchlist.ts')).addWatchlistCommand,
    ),
    list(
      'appeal [options] <source>',
      'read the status of each appeal of a source',
      async () => (await import('./commands/appeal.ts')).addAppealCommand,
    ),
  ],
  'Measure:': [
    list(
      'load [options] <source>',
      'measure how fast and how reliably a deployment answers',
      async () => (await import('./commands/load.ts')).addLoadCommand,
    ),
    list(
      'compare [options] <a> <b>',
      'say whether a run is slower than another',
      async () => (await import('./commands/compare.ts')).addCompareCommand,
    ),
    list(
      'import-k6 [options] <file...>',
      'take what k6 measured in as a run',
      async () => (await import('./commands/import-k6.ts')).addImportK6Command,
    ),
  ],
  'Again:': [
    list(
      'plan [options] <file>',
      'run a plan file',
      async () => (await import('./commands/plan.ts')).addPlanCommand,
    ),
    list(
      'resume [options] <run>',
      'go on with a run that was interrupted or stopped',
      async () => (await import('./commands/resume.ts')).addResumeCommand,
    ),
    list(
      'retry [options] <run>',
      'send only what did not succeed, as a run of its own',
      async () => (await import('./commands/resume.ts')).addRetryCommand,
    ),
  ],
  'Look back:': [
    list('runs [options]', 'list all runs', async () => (await import('./commands/runs.ts')).addRunsCommand),
    list(
      'show [options] <run>',
      'show a run, its problems, or one of its rows',
      async () => (await import('./commands/show.ts')).addShowCommand,
    ),
    list(
      'export [options] <run> <file>',
      'write the results to a file, its format by the ending',
      async () => (await import('./commands/export.ts')).addExportCommand,
    ),
    list(
      'delete [options] <run>',
      'remove a run for good',
      async () => (await import('./commands/delete.ts')).addDeleteCommand,
    ),
  ],
  'Set up:': [
    list(
      'connection',
      'store deployments: addresses, keys, certificates, proxy',
      async () => (await import('./commands/connection/connection.ts')).addConnectionCommand,
    ),
    list(
      'receiver [options]',
      'keep the callback receiver open, or test its public address',
      async () => (await import('./commands/receiver.ts')).addReceiverCommand,
    ),
  ],
  'Screens:': [
    list(
      'open [options]',
      'the same with screens, in the browser',
      async () => (await import('./commands/open.ts')).addOpenCommand,
    ),
  ],
  'Try:': [
    list(
      'sandbox [options]',
      'run the embedded service to try things on',
      async () => (await import('./commands/sandbox.ts')).addSandboxCommand,
    ),
    list(
      'demo [options]',
      'see it all at once: sandbox, samples, runs, report',
      async () => (await import('./commands/demo.ts')).addDemoCommand,
    ),
  ],
}

const toName = ({ term }: ListedCommand): string => term.split(' ', 1).join()

/** Names of all commands, in the order of the list. */
export const COMMAND_NAMES: readonly string[] = Object.values(GROUPS).flat().map(toName)

/**
 * The command line, reporting errors by throwing. Lists every command, and loads those that are among `words`, for it
 * can be none but these that the arguments name.
 */
export async function createProgram(context: CliContext, words: readonly string[]): Promise<Command> {
  const terms = new Map<string, string>()
  const program = new Command('sluice')
    .description(
      'Sends spreadsheets and folders in bulk to a content moderation service, and measures how fast and how reliably it answers.',
    )
    .version(APP_VERSION, '-V, --version', 'print the version')
    .exitOverride()
    .configureOutput({
      // Errors are thrown, and said in one place.
      outputError: () => {},
      writeOut: (text) => void context.out.write(text),
      writeErr: (text) => void context.err.write(text),
      getOutHelpWidth: () => Math.min(110, context.outTerminal.columns()),
      getErrHelpWidth: () => Math.min(110, context.errTerminal.columns()),
    })
    .showSuggestionAfterError()
  for (const [group, commands] of Object.entries(GROUPS)) {
    program.commandsGroup(group)
    for (const listed of commands) {
      const name = toName(listed)
      if (!words.includes(name)) {
        terms.set(name, listed.term)
        program.command(name)
      } else {
        const add = await listed.load()
        add(program, context)
      }
      program.commands.at(-1)?.summary(listed.summary)
    }
  }
  program.commandsGroup('Help:')
  program.helpCommand('help [command]', 'show what a command takes')
  const help = program.createHelp()
  // Set last: the commands' own commands are not in this list.
  program.configureHelp({
    subcommandTerm: (command) => terms.get(command.name()) ?? help.subcommandTerm(command),
  })
  return program
}
