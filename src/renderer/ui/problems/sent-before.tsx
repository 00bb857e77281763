import { useMutation } from '@tanstack/react-query'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { OPERATIONS, type Operation } from '../../../shared/operations/operations.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { countSendable } from '../../../shared/run/counts.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { listSentBefore } from '../../../shared/run/sent-before.ts'
import { RadioField } from '../controls.tsx'
import { ErrorNotice } from '../layout/screen.tsx'

type OnlyNew = NonNullable<Plan['onlyNew']>

type Choice = 'all' | 'new' | 'surely_new'

/**
 * What of the rows earlier runs sent, and whether that is sent again: the rows are read anew with each choice. Null if there
 * is nothing to tell.
 */
export function SentBefore(props: {
  summary: RunSummary | undefined
  operation: Operation
  /** Null while all rows are to be sent. */
  onlyNew: OnlyNew | null
  /** Absent if the choice was made before. */
  onOnlyNew?: (onlyNew: OnlyNew | null) => Promise<void>
  disabled: boolean
}) {
  const { summary, operation, onlyNew, onOnlyNew, disabled } = props
  const by = findChosenKey(summary?.sent_before?.by ?? [], operation)
  const choose = useMutation({ mutationFn: async (choice: Choice) => onOnlyNew?.(toOnlyNew(choice, by)) })
  if (summary?.sent_before === undefined) return null
  const { rows, sent_before: sentBefore, only_new: isOnlyNew = false } = summary
  const sendable = countSendable(rows)
  const { skipped = 0 } = rows
  const lines = listSentBefore(sentBefore, { skipped, sendable, isOnlyNew }, 'window')
  const choice: Choice = onlyNew === null ? 'all' : onlyNew.unknown === 'skip' ? 'surely_new' : 'new'
  const isOffered = onOnlyNew !== undefined && by !== null && (sentBefore.rows > 0 || onlyNew !== null)
  return (
    <section>
      <p className="mb-1 bold">Sent before</p>
      <p>{lines.join(' ')}</p>
      {isOffered && (
        <RadioField<Choice>
          mt="sm"
          aria-label="Rows that were sent before"
          value={choose.isPending ? (choose.variables ?? choice) : choice}
          onValue={(chosen) => choose.mutate(chosen)}
          choices={[
            {
              value: 'all',
              label: `Send all ${formatCounted(sendable + skipped, 'row')}`,
              disabled: disabled || choose.isPending,
            },
            {
              value: 'new',
              label: 'Send only what is new',
              description: 'Skips what the service took before',
              disabled: disabled || choose.isPending,
            },
            ...(sentBefore.unknown === 0
              ? []
              : [
                  {
                    value: 'surely_new' as const,
                    label: 'Send only what is certainly new',
                    description: `Skips the ${formatCounted(sentBefore.unknown, 'row')} without a usable answer, too`,
                    disabled: disabled || choose.isPending,
                  },
                ]),
          ]}
        />
      )}
      {choose.error !== null && <ErrorNotice error={choose.error} />}
    </section>
  )
}

/** What the plan has to name, so that rows are recognized as they were told: nothing for ids; null if it cannot. */
function findChosenKey(by: readonly string[], { kind }: Operation): OnlyNew | null {
  const { contents = [] } = OPERATIONS[kind].recognizedBy ?? {}
  const isContent = by.some((key) => contents.some((names) => names.join('+') === key))
  if (!isContent) return {}
  const [key] = by
  return key === undefined || by.length > 1 ? null : { by: key.split('+') }
}

function toOnlyNew(choice: Choice, key: OnlyNew | null): OnlyNew | null {
  if (choice === 'all' || key === null) return null
  return choice === 'new' ? key : { ...key, unknown: 'skip' }
}
