import { SluiceError } from '../../../shared/errors.ts'
import type { StoredConnection } from '../../../shared/stored-connection.ts'
import type { CliContext } from '../context.ts'
import type { YesFlags } from '../options/shared-options.ts'
import { askYesNo } from './ask.ts'

/**
 * Whether a person has to be asked before something is sent to a connection that is marked as production.
 * Throws `BAD_USAGE` where nobody can be asked: what goes there unattended says so with `--yes`.
 */
export function mustConfirm(context: CliContext, stored: StoredConnection | null, flags: YesFlags): boolean {
  if (stored === null || !stored.isProduction || flags.yes) return false
  if (context.canAsk) return true
  throw new SluiceError({
    code: 'BAD_USAGE',
    message: `connection ${stored.name} is marked as production, and there is no terminal to ask on`,
    hint: 'Say that it is meant: add --yes. Nothing was sent.',
  })
}

/** Asks once more before something is sent to a connection that is marked as production. */
export function confirmProduction(stored: StoredConnection, baseUrl: string, what: string): Promise<boolean> {
  return askYesNo(`Send ${what} to PRODUCTION, ${baseUrl} (connection ${stored.name})?`)
}
