import { basename } from 'node:path'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import type { Connections } from '../../../shared/plan/stored-connection.ts'
import { toOrigins } from '../../engine/secrets/bound-secret.ts'
import { staysWithin } from '../../engine/workspace/connection-secrets.ts'
import type { CliContext } from '../context.ts'
import { toPrintable } from '../terminal/printable.ts'

/** Whether a person has said beforehand that a plan file may send what it names to where it names. */
export interface TrustFlags {
  trustPlan?: true
}

/**
 * What a plan file sends and where to, in a phrase: its secrets, and the ids of appeals, for which no key vouches. Null
 * where it keeps to a connection that the workspace stores.
 */
function describeUntrusted(plan: Plan, { connections }: Connections): string | null {
  const { connection, operation } = plan
  const { name, apiKeyEnv, proxy } = connection
  // The status of an appeal is read without a key (docs/interface.md §5.6).
  const sendsKey = operation.kind !== 'appeal-status'
  const login = proxy?.credentialsEnv
  const isKnown = connections.some(
    (stored) =>
      (name === undefined || stored.name === name) &&
      (!sendsKey || stored.keys.some(({ env }) => env === apiKeyEnv)) &&
      staysWithin(stored, connection),
  )
  if (isKnown) return null
  const by = proxy === undefined ? '' : ` through the proxy ${new URL(proxy.url).origin}`
  const sent = [
    `${sendsKey ? `the API key in ${apiKeyEnv}` : describeAppeals(plan)} to ${toOrigins(connection).join(' and ')}${by}`,
    ...(login === undefined || proxy === undefined
      ? []
      : [`the credentials in ${login} to ${new URL(proxy.url).origin}`]),
  ]
  return sent.join(', and ')
}

function describeAppeals({ source, mapping }: Plan): string {
  const from = mapping['appeal_id']
  const column = from?.kind === 'column' ? ` (column ${from.column})` : ''
  return toPrintable(`the appeal_id of each row of ${basename(source.path)}${column}`)
}

/**
 * Asks about a plan file that sends secrets or ids of appeals where no stored connection sends them; false where the
 * answer is no. Throws `BAD_PLAN` without a terminal: what runs such plans unattended passes `--trust-plan`.
 */
export async function confirmTrust(
  context: CliContext,
  plan: Plan,
  connections: Connections,
  { trustPlan }: TrustFlags,
): Promise<boolean> {
  const untrusted = trustPlan ? null : describeUntrusted(plan, connections)
  if (untrusted === null) return true
  if (context.canAsk) return context.ask(`This plan sends ${untrusted}. Trust it?`)
  const apiKeyEnv = plan.operation.kind === 'appeal-status' ? null : plan.connection.apiKeyEnv
  throw new SluiceError({ id: 'plan_untrusted', sent: untrusted, apiKeyEnv })
}
