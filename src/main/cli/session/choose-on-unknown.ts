import { SluiceError } from '../../../shared/messages/errors.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { sayDoubleAdds } from '../../../shared/messages/outcome-advice.ts'
import { ADD_TWICE, countDoubleAdds, isAddTwice } from '../../../shared/run/resend-consent.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import type { ResumeOptions } from '../../engine/engine-interface.ts'
import type { CliContext } from '../context.ts'
import type { UnknownFlags } from '../options/shared-options.ts'

/** What happens to rows of unknown outcome. */
type UnknownChoice = Pick<ResumeOptions, 'onUnknown' | 'resendIndexAdds'>

const SKIP: UnknownChoice = { onUnknown: 'skip' }

/**
 * Whether rows of unknown outcome are sent again: as `--on-unknown` says, else as the person answers. Where no one can
 * be asked they are skipped. Index adds need a typed word or `--resend-index-adds`. Throws `NOT_CONFIRMED`.
 */
export async function chooseOnUnknown(
  context: CliContext,
  run: RunSummary,
  flags: UnknownFlags,
  how: 'resume' | 'retry',
): Promise<UnknownChoice> {
  if (flags.onUnknown === 'skip') return SKIP
  if (run.operation === 'index-add') return chooseDoubleAdds(context, run, flags, how)
  if (flags.onUnknown === 'resend') return { onUnknown: 'resend' }
  if (run.rows.unknown === 0 || !context.canAsk) return SKIP
  const isResend = await context.ask(
    `Sent without a usable answer, may have been accepted: ${formatCounted(run.rows.unknown, 'row')}.\n` +
      'Send again, with the same post_id and body?',
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
