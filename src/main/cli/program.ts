import { Command } from 'commander'
import { APP_VERSION } from '../../shared/version.ts'
import { addAppealCommand } from './commands/appeal.ts'
import { addCompareCommand } from './commands/compare.ts'
import { addConnectionCommand } from './commands/connection/connection.ts'
import { addDeleteCommand } from './commands/delete.ts'
import { addDemoCommand } from './commands/demo.ts'
import { addExportCommand } from './commands/export.ts'
import { addImportK6Command } from './commands/import-k6.ts'
import { addIndexCommand } from './commands/index-items.ts'
import { addLoadCommand } from './commands/load.ts'
import { addOpenCommand } from './commands/open.ts'
import { addPlanCommand } from './commands/plan.ts'
import { addReceiverCommand } from './commands/receiver.ts'
import { addResumeCommand, addRetryCommand } from './commands/resume.ts'
import { addRunsCommand } from './commands/runs.ts'
import { addSandboxCommand } from './commands/sandbox.ts'
import { addShowCommand } from './commands/show.ts'
import { addTaskCommand } from './commands/task.ts'
import { addWatchlistCommand } from './commands/watchlist.ts'
import type { CliContext } from './context.ts'

/** Every command of the command line, reporting errors by throwing. */
export function createProgram(context: CliContext): Command {
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
  program.commandsGroup('Send:')
  addTaskCommand(program, context)
  addIndexCommand(program, context)
  addWatchlistCommand(program, context)
  addAppealCommand(program, context)
  program.commandsGroup('Measure:')
  addLoadCommand(program, context)
  addCompareCommand(program, context)
  addImportK6Command(program, context)
  program.commandsGroup('Again:')
  addPlanCommand(program, context)
  addResumeCommand(program, context)
  addRetryCommand(program, context)
  program.commandsGroup('Look back:')
  addRunsCommand(program, context)
  addShowCommand(program, context)
  addExportCommand(program, context)
  addDeleteCommand(program, context)
  program.commandsGroup('Set up:')
  addConnectionCommand(program, context)
  addReceiverCommand(program, context)
  program.commandsGroup('Screens:')
  addOpenCommand(program, context)
  program.commandsGroup('Try:')
  addSandboxCommand(program, context)
  addDemoCommand(program, context)
  program.commandsGroup('Help:')
  program.helpCommand('help [command]', 'show what a command takes')
  return program
}
