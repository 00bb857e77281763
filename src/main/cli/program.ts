import { Command } from 'commander'
import { APP_VERSION } from '../../shared/version.ts'
import type { CliContext } from './context.ts'
import { listTopics } from './topics.ts'

/** A command as the list of commands shows it; the rest of it is loaded where it is asked for. */
interface ListedCommand {
  name: string
  summary: string
  load(): Promise<(program: Command, context: CliContext) => void>
}

const list = (name: string, summary: string, load: ListedCommand['load']): ListedCommand => ({
  name,
  summary,
  load,
})

const GROUPS: Readonly<Record<string, readonly ListedCommand[]>> = {
  'Send:': [
    list(
      'task',
      'submit content for moderation',
      async () => (await import('./commands/task.ts')).addTaskCommand,
    ),
    list(
      'index',
      'add or remove items of a custom index',
      async () => (await import('./commands/index-items.ts')).addIndexCommand,
    ),
    list(
      'watchlist',
      'add or update terms of a watchlist',
      async () => (await import('./commands/watchlist.ts')).addWatchlistCommand,
    ),
    list(
      'appeal',
      'read the status of each appeal',
      async () => (await import('./commands/appeal.ts')).addAppealCommand,
    ),
  ],
  'Measure:': [
    list('load', 'run a load test', async () => (await import('./commands/load.ts')).addLoadCommand),
    list(
      'compare',
      'compare the decisions and latency of two runs',
      async () => (await import('./commands/compare.ts')).addCompareCommand,
    ),
    list(
      'baseline',
      'set the run that others are compared with',
      async () => (await import('./commands/baseline.ts')).addBaselineCommand,
    ),
    list(
      'trend',
      'show all runs of one source over time',
      async () => (await import('./commands/trend.ts')).addTrendCommand,
    ),
    list(
      'import-k6',
      'import k6 results as a run',
      async () => (await import('./commands/import-k6.ts')).addImportK6Command,
    ),
  ],
  'Repeat:': [
    list('plan', 'run a plan file', async () => (await import('./commands/plan.ts')).addPlanCommand),
    list(
      'resume',
      'resume an interrupted or stopped run',
      async () => (await import('./commands/resume.ts')).addResumeCommand,
    ),
    list(
      'retry',
      'send unsuccessful rows again',
      async () => (await import('./commands/resume.ts')).addRetryCommand,
    ),
    list(
      'run-again',
      'start a new run with the plan of an earlier one',
      async () => (await import('./commands/run-again.ts')).addRunAgainCommand,
    ),
  ],
  'Results:': [
    list(
      'runs',
      'list, search, name and prune runs',
      async () => (await import('./commands/runs/list.ts')).addRunsCommand,
    ),
    list(
      'show',
      'show a run, its problems, or one row',
      async () => (await import('./commands/show.ts')).addShowCommand,
    ),
    list(
      'export',
      'export results to a file',
      async () => (await import('./commands/export.ts')).addExportCommand,
    ),
    list(
      'report',
      'write a report to share',
      async () => (await import('./commands/report.ts')).addReportCommand,
    ),
    list(
      'evaluate',
      'compare the rules of a run with labels',
      async () => (await import('./commands/evaluate.ts')).addEvaluateCommand,
    ),
    list(
      'sample',
      'draw rows to label or to send',
      async () => (await import('./commands/sample.ts')).addSampleCommand,
    ),
    list(
      'verdict',
      'record verdicts on rows',
      async () => (await import('./commands/verdict.ts')).addVerdictCommand,
    ),
    list(
      'ledger',
      'show items, terms and appeals across all runs',
      async () => (await import('./commands/ledger.ts')).addLedgerCommand,
    ),
    list(
      'delete',
      'delete a run permanently',
      async () => (await import('./commands/delete.ts')).addDeleteCommand,
    ),
    list(
      'wipe',
      'delete all runs permanently',
      async () => (await import('./commands/wipe.ts')).addWipeCommand,
    ),
  ],
  'Set up:': [
    list(
      'connection',
      'manage stored connections',
      async () => (await import('./commands/connection/connection.ts')).addConnectionCommand,
    ),
    list(
      'mapping',
      'manage saved mappings',
      async () => (await import('./commands/mapping.ts')).addMappingCommand,
    ),
    list(
      'receiver',
      'receive late callbacks, or test the public URL',
      async () => (await import('./commands/receiver.ts')).addReceiverCommand,
    ),
    list(
      'completion',
      'print a completion script for your shell',
      async () => (await import('./commands/completion.ts')).addCompletionCommand,
    ),
  ],
  'Window:': [
    list(
      'open',
      'open the window in a browser',
      async () => (await import('./commands/open.ts')).addOpenCommand,
    ),
  ],
  'Try:': [
    list(
      'sandbox',
      'run a local test service',
      async () => (await import('./commands/sandbox.ts')).addSandboxCommand,
    ),
    list(
      'demo',
      'run a demo against the sandbox',
      async () => (await import('./commands/demo.ts')).addDemoCommand,
    ),
  ],
}

/** Names of all commands, in the order of the list. */
export const COMMAND_NAMES: readonly string[] = Object.values(GROUPS)
  .flat()
  .map(({ name }) => name)

/**
 * The command line, reporting errors by throwing. Lists every command, and loads those that are among `words`, for it
 * can be none but these that the arguments name.
 */
export async function createProgram(context: CliContext, words: readonly string[]): Promise<Command> {
  const program = new Command('sluice')
    .description('Sends spreadsheets and folders in bulk to a content moderation service, and load tests it.')
    .version(APP_VERSION, '-V, --version', 'print the version')
    .exitOverride()
    // `runs edit` and `runs` have options of the same names, each its own.
    .enablePositionalOptions()
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
      if (!words.includes(listed.name)) {
        program.command(listed.name)
      } else {
        const add = await listed.load()
        add(program, context)
      }
      program.commands.at(-1)?.summary(listed.summary)
    }
  }
  program.commandsGroup('Help:')
  program.helpCommand('help [command-or-topic]', 'show the options of a command, or a topic')
  program.addHelpText('after', listTopics())
  // Set last: the commands' own commands are listed with their arguments.
  program.configureHelp({ subcommandTerm: (command) => command.name() })
  return program
}
