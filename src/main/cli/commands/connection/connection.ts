import type { Command } from 'commander'
import type { CliContext } from '../../context.ts'
import { addConnectionListCommand, addConnectionShowCommand } from './look.ts'
import { addConnectionAddCommand, addConnectionSetCommand } from './store.ts'
import { addConnectionRemoveCommand, addConnectionUseCommand } from './use.ts'

/** Adds `connection add|set|list|show|use|remove`: the deployments that a workspace remembers. */
export function addConnectionCommand(program: Command, context: CliContext): void {
  const connection = program
    .command('connection')
    .description(
      'Stores the settings of a service (URL, timeouts, certificates, proxy) under a name, for --connection NAME. ' +
        'API keys stay in environment variables and are never stored.',
    )
  addConnectionAddCommand(connection, context)
  addConnectionSetCommand(connection, context)
  addConnectionListCommand(connection, context)
  addConnectionShowCommand(connection, context)
  addConnectionUseCommand(connection, context)
  addConnectionRemoveCommand(connection, context)
}
