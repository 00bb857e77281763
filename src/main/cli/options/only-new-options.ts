import { type Command, InvalidArgumentError, Option } from 'commander'
import type { Plan } from '../../../shared/plan/plan.ts'
import { joinAccepted } from '../../../shared/run/accept-code.ts'
import type { UnknownFlags } from './shared-options.ts'

/** Whether to send only rows that earlier runs have not sent, and what identifies a row. */
export interface OnlyNewFlags {
  onlyNew?: true
  newBy?: string[]
}

/** Declares `--only-new` and `--new-by`; a command that does not offer them explains why if given. */
export function addOnlyNewOptions(command: Command, isOffered = true): Command {
  const onlyNew = new Option(
    '--only-new',
    'skip rows that earlier runs of the workspace sent to this service, recognized by the id that is mapped',
  )
  const newBy = new Option(
    '--new-by <names>',
    'with --only-new: what rows are recognized by instead, fields or columns joined by +, such as user_id+text_data',
  ).argParser((text: string, before: string[] | undefined) => {
    if (before !== undefined) throw new InvalidArgumentError('give it once, with names joined by +.')
    const names = text.split('+').map((name) => name.trim())
    if (names.includes('')) {
      throw new InvalidArgumentError('expected names joined by +, such as user_id+text_data.')
    }
    return names
  })
  return command.addOption(onlyNew.hideHelp(!isOffered)).addOption(newBy.hideHelp(!isOffered))
}

/**
 * The plan with these options. `--on-unknown` also decides about rows that earlier runs may have sent: it
 * skips them or accepts sending them again.
 */
export function withOnlyNew<P extends Plan>(
  plan: P,
  { onlyNew, newBy, onUnknown }: OnlyNewFlags & UnknownFlags,
): P {
  if (newBy !== undefined && !onlyNew && plan.onlyNew === undefined) {
    throw new InvalidArgumentError('--new-by says what --only-new recognizes rows by; add --only-new.')
  }
  if (!onlyNew && plan.onlyNew === undefined) return plan
  const asked = {
    ...plan.onlyNew,
    ...(newBy !== undefined && { by: newBy }),
    ...(onUnknown === 'skip' && { unknown: 'skip' as const }),
  }
  const accept = joinAccepted(plan.accept, onUnknown === 'resend' ? ['sent_twice'] : [])
  return { ...plan, onlyNew: asked, ...(accept.length > 0 && { accept }) }
}
