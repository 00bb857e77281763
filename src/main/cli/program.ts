import { Command, InvalidArgumentError } from 'commander'
import { quoteForShell } from '../../shared/shell-command.ts'
import { APP_VERSION } from '../../shared/version.ts'
import type { CliContext } from './context.ts'
import { COMMAND_PREFIX } from './invocation.ts'
import { refuseRepeatedOptions } from './options/given-once.ts'
import { listTopics, sayTopics } from './topics.ts'

type AddCommand = (program: Command, context: CliContext) => void

/** The commands, each loaded when it is asked for. */
const COMMANDS = {
  task: async () => (await import('./commands/task.ts')).addTaskCommand,
  index: async () => (await import('./commands/index-items.ts')).addIndexCommand,
  watchlist: async () => (await import('./commands/watchlist.ts')).addWatchlistCommand,
  appeal: async () => (await import('./commands/appeal.ts')).addAppealCommand,
  load: async () => (await import('./commands/load.ts')).addLoadCommand,
  compare: async () => (await import('./commands/compare.ts')).addCompareCommand,
  baseline: async () => (await import('./commands/baseline.ts')).addBaselineCommand,
  trend: async () => (await import('./commands/trend.ts')).addTrendCommand,
  'import-k6': async () => (await import('./commands/import-k6.ts')).addImportK6Command,
  plan: async () => (await import('./commands/plan.ts')).addPlanCommand,
  resume: async () => (await import('./commands/resume.ts')).addResumeCommand,
  retry: async () => (await import('./commands/resume.ts')).addRetryCommand,
  'run-again': async () => (await import('./commands/run-again.ts')).addRunAgainCommand,
  runs: async () => (await import('./commands/runs/list.ts')).addRunsCommand,
  show: async () => (await import('./commands/show.ts')).addShowCommand,
  export: async () => (await import('./commands/export.ts')).addExportCommand,
  sql: async () => (await import('./commands/sql.ts')).addSqlCommand,
  report: async () => (await import('./commands/report.ts')).addReportCommand,
  evaluate: async () => (await import('./commands/evaluate.ts')).addEvaluateCommand,
  sample: async () => (await import('./commands/sample.ts')).addSampleCommand,
  verdict: async () => (await import('./commands/verdict.ts')).addVerdictCommand,
  ledger: async () => (await import('./commands/ledger.ts')).addLedgerCommand,
  delete: async () => (await import('./commands/delete.ts')).addDeleteCommand,
  wipe: async () => (await import('./commands/wipe.ts')).addWipeCommand,
  connection: async () => (await import('./commands/connection/connection.ts')).addConnectionCommand,
  mapping: async () => (await import('./commands/mapping.ts')).addMappingCommand,
  receiver: async () => (await import('./commands/receiver.ts')).addReceiverCommand,
  completion: async () => (await import('./commands/completion.ts')).addCompletionCommand,
  open: async () => (await import('./commands/open.ts')).addOpenCommand,
  sandbox: async () => (await import('./commands/sandbox.ts')).addSandboxCommand,
  demo: async () => (await import('./commands/demo.ts')).addDemoCommand,
} satisfies Record<string, () => Promise<AddCommand>>

type CommandName = keyof typeof COMMANDS

/** The list of commands, with a phrase for each. */
const GROUPS: Readonly<Record<string, Partial<Record<CommandName, string>>>> = {
  'Send:': {
    task: 'submit content for moderation',
    index: 'add or remove items of a custom index',
    watchlist: 'add or update terms of a watchlist',
    appeal: 'read the status of each appeal',
  },
  'Measure:': {
    load: 'run a load test',
    compare: 'compare the decisions and latency of two runs',
    baseline: 'set the run that others are compared with',
    trend: 'show all runs of one source over time',
    'import-k6': 'import k6 results as a run',
  },
  'Repeat:': {
    plan: 'run a plan file',
    resume: 'resume an interrupted or stopped run',
    retry: 'send unsuccessful rows again',
    'run-again': 'start a new run with the plan of an earlier one',
  },
  'Results:': {
    runs: 'list, search, name and prune runs',
    show: 'show a run, its problems, or one row',
    export: 'export results to a file',
    sql: 'answer an SQL statement about the rows of runs',
    report: 'write a report to share',
    evaluate: 'compare the rules of a run with labels',
    sample: 'draw rows to label or to send',
    verdict: 'record verdicts on rows',
    ledger: 'show items, terms and appeals across all runs',
    delete: 'delete a run permanently',
    wipe: 'delete all runs permanently',
  },
  'Set up:': {
    connection: 'manage stored connections',
    mapping: 'manage saved mappings',
    receiver: 'receive late callbacks, or test the public URL',
    completion: 'print a completion script for your shell',
  },
  'Window:': {
    open: 'open the window in a browser',
  },
  'Try:': {
    sandbox: 'run a local test service',
    demo: 'run a demo against the sandbox',
  },
}

/** Names of all commands, in the order of the list. */
export const COMMAND_NAMES: readonly string[] = Object.values(GROUPS).flatMap(Object.keys)

/** Makes `--workspace` before the command count like one after it, and keeps it for printed commands. */
function takeWorkspace(context: CliContext, program: Command, command: Command): void {
  const { workspace: before } = program.opts<{ workspace?: string }>()
  const { workspace: behind } = command.opts<{ workspace?: string }>()
  if (before !== undefined && behind !== undefined) {
    throw new InvalidArgumentError(
      '--workspace takes one value and was given twice. Leave one of the two out.',
    )
  }
  const workspace = before ?? behind
  if (before !== undefined) context.env['SLUICE_WORKSPACE'] = before
  if (workspace === undefined) return
  const prefix = `${COMMAND_PREFIX} --workspace ${quoteForShell(workspace)}`
  for (const terminal of [context.outTerminal, context.errTerminal]) terminal.commandPrefix = prefix
}

/**
 * The command line, which reports errors by throwing. It lists every command but loads only those in `words`,
 * since the arguments can name no other.
 */
export async function createProgram(context: CliContext, words: readonly string[]): Promise<Command> {
  const program = new Command('sluice')
    .description('Sends spreadsheets and folders in bulk to a content moderation service, and load tests it.')
    .version(APP_VERSION, '-V, --version', 'print the version')
    .exitOverride()
    // `runs edit` and `runs` have options of the same names, with separate values.
    .enablePositionalOptions()
    .configureOutput({
      // Errors are thrown, and reported in one place.
      outputError: () => {},
      writeOut: (text) => void context.out.write(text),
      writeErr: (text) => void context.err.write(text),
      getOutHelpWidth: () => Math.min(110, context.outTerminal.columns()),
      getErrHelpWidth: () => Math.min(110, context.errTerminal.columns()),
    })
    // Suggestions are made in one place, and only of similar names.
    .showSuggestionAfterError(false)
    .option('--workspace <folder>', 'folder for runs; also an option of each command')
    .hook('preAction', (_program, command) => takeWorkspace(context, program, command))
  for (const [group, commands] of Object.entries(GROUPS)) {
    program.commandsGroup(group)
    for (const [name, summary] of Object.entries(commands)) {
      if (!words.includes(name)) {
        program.command(name)
      } else {
        const add: AddCommand = await COMMANDS[name as CommandName]()
        add(program, context)
      }
      const added = program.commands.at(-1)?.summary(summary)
      if (added === undefined) continue
      refuseRepeatedOptions(added)
      const topics = sayTopics(name)
      if (topics !== null) added.addHelpText('after', topics)
    }
  }
  refuseRepeatedOptions(program)
  program.commandsGroup('Help:')
  program.helpCommand(
    'help [command-or-topic]',
    'show the options of a command, or a topic, or search the topics',
  )
  program.addHelpText('after', listTopics())
  // Set last: the commands' own commands are listed with their arguments.
  program.configureHelp({ subcommandTerm: (command) => command.name() })
  return program
}
