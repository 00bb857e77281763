import { SluiceError } from '../../../shared/messages/errors.ts'
import type { StoredConnection } from '../../../shared/plan/stored-connection.ts'
import type { CliContext } from '../context.ts'
import type { YesFlags } from '../options/shared-options.ts'

/**
 * The connection that a person has to be asked about before anything is sent there, since it is marked as production;
 * null where there is nothing to ask. Throws `BAD_USAGE` without a terminal: what goes there unattended says so
 * with `--yes`.
 */
export function findGuarded(
  context: CliContext,
  stored: StoredConnection | null,
  flags: YesFlags,
): StoredConnection | null {
  if (stored === null || !stored.isProduction || flags.yes) return null
  if (context.canAsk) return stored
  throw new SluiceError({ id: 'production_unconfirmed', connection: stored.name })
}

/** Asks once more before something is sent to a connection that is marked as production. */
export function confirmProduction(
  context: CliContext,
  stored: StoredConnection,
  baseUrl: string,
  what: string,
): Promise<boolean> {
  return context.ask(`Send ${what} to PRODUCTION, ${baseUrl} (connection ${stored.name})?`)
}
