import { listNeeded } from '../../../shared/messages/accept-messages.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { sayDoubleAdds } from '../../../shared/messages/outcome-advice.ts'
import { findNeeds } from '../../../shared/messages/problem-traits.ts'
import { mayAddTwice, sendsKey } from '../../../shared/operations/operations.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import type { Connections, StoredConnection } from '../../../shared/plan/stored-connection.ts'
import type { AcceptCode } from '../../../shared/run/accept-code.ts'
import { ADD_TWICE, countDoubleAdds, isAddTwice } from '../../../shared/run/counts.ts'
import type { ProblemGroup } from '../../../shared/run/problem.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import type { ResumeOptions } from '../../engine/engine-interface.ts'
import { describeUntrusted } from '../../engine/workspace/plan-trust.ts'
import type { CliContext } from '../context.ts'
import type { UnknownFlags, YesFlags } from '../options/shared-options.ts'
import { formatOpenWarnings } from '../summary/open-warnings.ts'
import { toPrintable } from '../terminal/output.ts'
import { sayUnsupported } from '../unsupported-options.ts'

/**
 * The production connection that a person must confirm before anything is sent there; null if there is none.
 * Throws `BAD_USAGE` without a terminal: unattended commands pass `--yes`.
 */
export function findGuarded(
  context: CliContext,
  production: StoredConnection | null,
  flags: YesFlags,
): StoredConnection | null {
  if (production === null || flags.yes) return null
  if (context.canAsk) return production
  throw new SluiceError({ id: 'production_unconfirmed', connection: production.name })
}

/** Everything to ask a person before sending. */
interface SendingQuestion {
  /** What is sent, as in `3 rows`. */
  what: string
  baseUrl: string
  /** The production connection to ask about; null if there is none. */
  guarded: StoredConnection | null
  /** Causes of warnings that must be accepted. */
  open: readonly ProblemGroup[]
  /** What cannot be undone, a sentence each. */
  lasting?: readonly string[]
}

/**
 * Asks once about everything to confirm before sending: warnings and production. Returns the accepted codes
 * (none if there is nothing to ask), or null if declined. Throws `NOT_CONFIRMED` without a terminal.
 */
export async function confirmSending(
  context: CliContext,
  { what, baseUrl, guarded, open, lasting = [] }: SendingQuestion,
): Promise<AcceptCode[] | null> {
  const needed = listNeeded(open)
  if (needed.length === 0 && guarded === null) return []
  if (!context.canAsk) throw new SluiceError({ id: 'warnings_unaccepted', groups: open })
  if (needed.length > 0) await printOpenWarnings(context, open, lasting)
  const isGiven = await context.ask(
    guarded === null
      ? `Send ${what} as read?`
      : `Send ${what} to PRODUCTION, ${baseUrl} (connection ${guarded.name})?`,
  )
  return isGiven ? needed : null
}

/** The causes of warnings that would need a question if they had not been accepted beforehand. */
export function listAccepted(groups: readonly ProblemGroup[], open: readonly ProblemGroup[]): ProblemGroup[] {
  const toKey = ({ code, field, args }: ProblemGroup) => JSON.stringify([code, field, args])
  const isOpen = new Set(open.map(toKey))
  return groups.filter((group) => findNeeds(group) !== null && group.rows > 0 && !isOpen.has(toKey(group)))
}

/** Lists the warnings that options or a plan accepted beforehand, whose rows are sent. */
export async function printAccepted(
  { err, errTerminal }: CliContext,
  groups: readonly ProblemGroup[],
): Promise<void> {
  await err.writeLine(errTerminal.tone('strong', 'Accepted before'))
  for (const line of formatOpenWarnings(errTerminal, groups)) await err.writeLine(line)
}

/** Lists the warnings to accept, below their meaning, and what cannot be undone. */
export async function printOpenWarnings(
  { err, errTerminal, command }: CliContext,
  open: readonly ProblemGroup[],
  lasting: readonly string[] = [],
): Promise<void> {
  await err.writeLine(errTerminal.tone('strong', 'Before sending'))
  const lines = formatOpenWarnings(errTerminal, open)
  for (const line of lines) await err.writeLine(line)
  const unsupported = sayUnsupported(command, lines.join('\n'))
  if (unsupported !== '') await err.writeLine(`  ${unsupported}`)
  for (const sentence of lasting) await err.writeLine(`  ${toPrintable(sentence)}`)
}

/** What happens to rows with an unknown outcome. */
type UnknownChoice = Pick<ResumeOptions, 'onUnknown' | 'resendIndexAdds'>

const SKIP: UnknownChoice = { onUnknown: 'skip' }

/**
 * Whether to resend rows with an unknown outcome: as `--on-unknown` says, else as the person answers; skipped
 * if nobody can be asked. Index adds need a typed word or `--resend-index-adds`. Throws `NOT_CONFIRMED`.
 */
export async function chooseOnUnknown(
  context: CliContext,
  run: RunSummary,
  flags: UnknownFlags,
  how: 'resume' | 'retry',
): Promise<UnknownChoice> {
  if (flags.onUnknown === 'skip') return SKIP
  if (mayAddTwice(run.operation)) return chooseDoubleAdds(context, run, flags, how)
  if (flags.onUnknown === 'resend') return { onUnknown: 'resend' }
  if (run.rows.unknown === 0 || !context.canAsk) return SKIP
  const rows = formatCounted(run.rows.unknown, 'row')
  const isResend = await context.ask(
    run.operation === 'appeal-status'
      ? `Sent without a usable answer: ${rows}.\nAsk again? A look-up changes nothing.`
      : `Sent without a usable answer, may have been accepted: ${rows}.\nSend again, with the same post_id and body?`,
  )
  return isResend ? { onUnknown: 'resend' } : SKIP
}

async function chooseDoubleAdds(
  context: CliContext,
  { run_id: runId, rows }: RunSummary,
  flags: UnknownFlags,
  how: 'resume' | 'retry',
): Promise<UnknownChoice> {
  const items = countDoubleAdds(rows, how)
  if (items === 0) return SKIP
  const accepted: UnknownChoice = { onUnknown: 'resend', resendIndexAdds: true }
  if (flags.resendIndexAdds) return accepted
  if (!context.canAsk && flags.onUnknown === 'ask') return SKIP
  if (!context.canAsk) throw new SluiceError({ id: 'index_adds_unconfirmed', runId, items })
  const typed = await context.askWord(
    `${formatCounted(items, 'item')} may then be in the index twice. ${sayDoubleAdds(items)}\n` +
      `Type "${ADD_TWICE}" to send them again, or press Enter to leave them alone:`,
  )
  if (isAddTwice(typed)) return accepted
  if (flags.onUnknown === 'resend') throw new SluiceError({ id: 'index_adds_unconfirmed', runId, items })
  return SKIP
}

/** Whether a person has already agreed to what a plan file sends, and where. */
export interface TrustFlags {
  trustPlan?: true
}

/** What is known about where a plan's secrets go. */
interface Trust extends TrustFlags {
  /** Options alone name the service, so nothing of the plan's connection counts. */
  isConnectionGiven?: boolean
}

/** Why a plan file is refused without a terminal and without `--trust-plan`; null if it is not. */
export function findUntrusted(
  plan: Plan,
  connections: Connections,
  { trustPlan, isConnectionGiven = false }: Trust,
): SluiceError | null {
  const found = trustPlan ? null : describeUntrusted(plan, connections, { isConnectionGiven })
  if (found === null) return null
  const apiKeyEnv = sendsKey(plan.operation) ? plan.connection.apiKeyEnv : null
  return new SluiceError({ id: 'plan_untrusted', sent: toPrintable(found), apiKeyEnv })
}

/**
 * Asks about a plan file that sends secrets or ids of appeals to where no stored connection sends them; false
 * if declined. Throws `BAD_PLAN` without a terminal: unattended runs of such plans pass `--trust-plan`.
 */
export async function confirmTrust(
  context: CliContext,
  plan: Plan,
  connections: Connections,
  flags: Trust,
): Promise<boolean> {
  const untrusted = findUntrusted(plan, connections, flags)
  if (untrusted === null) return true
  if (context.canAsk && untrusted.said.id === 'plan_untrusted') {
    return context.ask(`This plan sends ${untrusted.said.sent}. Trust it?`)
  }
  throw untrusted
}
