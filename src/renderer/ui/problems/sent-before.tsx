import { Group, MultiSelect } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { OPERATIONS, type Operation } from '../../../shared/operations/operations.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import { countSendable } from '../../../shared/run/counts.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import { listSentBefore, sayKey } from '../../../shared/run/sent-before.ts'
import { ActionButton, RadioField } from '../controls.tsx'
import { ErrorNotice } from '../layout/screen.tsx'

type OnlyNew = NonNullable<Plan['onlyNew']>

type Choice = 'all' | 'new' | 'surely_new'

export interface KeyNames {
  fields: readonly string[]
  columns: readonly string[]
}

/**
 * What earlier runs sent of the rows, and whether to send that again; each choice reads the rows again. Null
 * if there is nothing to say.
 */
export function SentBefore(props: {
  summary: RunSummary | undefined
  operation: Operation
  /** Null to send all rows. */
  onlyNew: OnlyNew | null
  /** Names by which rows may be recognized: sent fields and source columns. */
  names?: KeyNames
  /** Absent if the choice was already made. */
  onOnlyNew?: (onlyNew: OnlyNew | null) => Promise<void>
  disabled: boolean
}) {
  const { summary, operation, onlyNew, names, onOnlyNew, disabled } = props
  const by =
    onlyNew?.by === undefined ? findChosenKey(summary?.sent_before?.by ?? [], operation) : { by: onlyNew.by }
  const choose = useMutation({ mutationFn: async (choice: Choice) => onOnlyNew?.(toOnlyNew(choice, by)) })
  const recognize = useMutation({
    mutationFn: async (chosen: readonly string[]) => {
      const { by: _before, ...rest } = onlyNew ?? {}
      await onOnlyNew?.({ ...rest, ...(chosen.length > 0 && { by: [...chosen] }) })
    },
  })
  if (summary === undefined || (summary.sent_before === undefined && onlyNew === null)) return null
  const { rows, sent_before: told, only_new: isOnlyNew = false } = summary
  const sentBefore = told ?? { ...NOTHING, by: [onlyNew?.by?.join('+') ?? 'id'] }
  const isBusy = choose.isPending || recognize.isPending
  const sendable = countSendable(rows)
  const { skipped = 0 } = rows
  const lines =
    told === undefined
      ? [`No row was sent before (same ${sentBefore.by.map(sayKey).join(', or ')}).`]
      : listSentBefore(told, { skipped, sendable, isOnlyNew }, 'window')
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
              disabled: disabled || isBusy,
            },
            {
              value: 'new',
              label: 'Send only what is new',
              description: 'Skips what the service took before',
              disabled: disabled || isBusy,
            },
            sentBefore.unknown > 0 && {
              value: 'surely_new',
              label: 'Send only what is certainly new',
              description: `Skips the ${formatCounted(sentBefore.unknown, 'row')} without a usable answer, too`,
              disabled: disabled || isBusy,
            },
          ]}
        />
      )}
      {isOffered && onlyNew !== null && names !== undefined && (
        <KeyChoice
          // Resets to the applied choice.
          key={sentBefore.by.join(' ')}
          names={names}
          by={onlyNew.by ?? []}
          isBusy={isBusy}
          disabled={disabled}
          onChoose={(chosen) => recognize.mutate(chosen)}
        />
      )}
      {choose.error !== null && <ErrorNotice error={choose.error} />}
      {recognize.error !== null && <ErrorNotice error={recognize.error} />}
    </section>
  )
}

/** What earlier runs sent of a run's rows, without a choice. */
export function SentBeforeNote({ summary }: { summary: RunSummary }) {
  const { rows, sent_before: told, only_new: isOnlyNew } = summary
  const counts = { skipped: rows.skipped, sendable: countSendable(rows), isOnlyNew: true }
  return (
    <section>
      <p className="mb-1 bold">Sent before</p>
      <p>
        {listSentBefore(told, counts, 'window').join(' ')}
        {!isOnlyNew &&
          told !== undefined &&
          told.rows > 0 &&
          ` ${formatCounted(told.rows, 'row is', 'rows are')} sent a second time.`}
      </p>
    </section>
  )
}

/** Shown if nothing was sent before. */
const NOTHING = { rows: 0, unknown: 0, not_taken: 0, runs: [] }

/** Selects the fields or columns that together identify a row; the source is read again with them. */
function KeyChoice(props: {
  names: KeyNames
  /** Empty for the row's own id. */
  by: readonly string[]
  isBusy: boolean
  disabled: boolean
  onChoose: (by: readonly string[]) => void
}) {
  const { names, by, isBusy, disabled, onChoose } = props
  const [chosen, setChosen] = useState<readonly string[]>(by)
  const isChanged = [...chosen].sort().join('\n') !== [...by].sort().join('\n')
  const columns = names.columns.filter((name) => name !== '' && !names.fields.includes(name))
  return (
    <Group gap="xs" align="end" mt="sm">
      <MultiSelect
        miw="18rem"
        maw="32rem"
        label="Recognize rows by"
        placeholder={chosen.length === 0 ? 'the id of the row' : ''}
        searchable
        disabled={disabled || isBusy}
        data={[
          { group: 'Fields that are sent', items: [...names.fields] },
          { group: 'Columns of the source', items: [...new Set(columns)] },
        ]}
        value={[...chosen]}
        onChange={setChosen}
      />
      <ActionButton
        label="Look again"
        loading={isBusy}
        disabled={disabled || !isChanged}
        onClick={() => onChoose(chosen)}
      />
    </Group>
  )
}

/** The plan's setting for recognizing rows in the reported way: empty for ids; null if there is none. */
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
