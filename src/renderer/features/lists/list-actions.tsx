import { Menu } from '@mantine/core'
import { IconChevronDown } from '@tabler/icons-react'
import type { ComponentProps } from 'react'
import { LIST_FORMATS } from '../../../shared/bridge/lists.ts'
import type { ChosenSource } from '../../../shared/bridge/source.ts'
import {
  findLedgerOperation,
  LEDGER_STATES,
  type Ledger,
  type LedgerEffect,
  type LedgerService,
  type LedgerState,
} from '../../../shared/lookback/ledger.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import type { OperationKind } from '../../../shared/operations/operations.ts'
import { ROW_EXPORT_FORMATS } from '../../../shared/run/export-formats.ts'
import { ActionButton, PrimaryButton } from '../../ui/controls.tsx'
import { ADDABLE_STATES, LIST_LOOKS, REMOVABLE_STATES } from './list-looks.ts'
import styles from './lists.module.css'

/** A run that is to be prepared: what it does with the entries that were written to a file. */
export interface ListDraft {
  kind: OperationKind
  /** The index or watchlist; null for appeals. */
  list: string | null
  service: LedgerService
  /** Whether the service is the sandbox. */
  isSandbox: boolean
  source: ChosenSource
}

/** Writes what is shown to a file in one of the formats. */
export function ExportMenu(props: {
  busy: boolean
  blocked: boolean
  onFormat: (format: (typeof LIST_FORMATS)[number]) => void
}) {
  return (
    <Menu position="bottom-end" shadow="md">
      <Menu.Target>
        <ActionButton
          label="Export"
          loading={props.busy}
          disabled={props.blocked}
          rightSection={<IconChevronDown size="1rem" aria-hidden />}
        />
      </Menu.Target>
      <Menu.Dropdown>
        {LIST_FORMATS.map((format) => (
          <Menu.Item key={format} onClick={() => props.onFormat(format)}>
            {ROW_EXPORT_FORMATS.find(({ ending }) => ending === format)?.label ?? format}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

/** What can be sent back of what is shown: items to be removed, terms to be added, appeals to be checked again. */
export function ListAction(props: {
  ledger: Ledger
  states: readonly LedgerState[]
  search: string
  busy: boolean
  onDraft: (kind: OperationKind, states: readonly LedgerState[], search: string) => void
}) {
  const { ledger, states, search, busy, onDraft } = props
  const shown = formatCounted(ledger.total, LIST_LOOKS[ledger.of].noun)
  const areAll = (known: readonly LedgerState[]) => states.every((state) => known.includes(state))
  const draft = (effect: LedgerEffect, ...of: [readonly LedgerState[], string]) => {
    const kind = findLedgerOperation(ledger.of, effect)
    if (kind !== null) onDraft(kind, ...of)
  }
  switch (ledger.of) {
    case 'index':
      return (
        <WithReason
          busy={busy}
          blocked={
            ledger.total === 0
              ? 'No item is shown'
              : areAll(REMOVABLE_STATES)
                ? undefined
                : 'Choose known items, or those whose removal is unknown'
          }
          onPress={() => draft('removes', states, search)}
        >
          {areAll(REMOVABLE_STATES) ? `Remove ${shown}…` : 'Remove items…'}
        </WithReason>
      )
    case 'watchlist':
      return (
        <WithReason
          busy={busy}
          blocked={
            ledger.total === 0
              ? 'No term is shown'
              : areAll(ADDABLE_STATES)
                ? undefined
                : 'Choose absent, failed or unknown terms'
          }
          onPress={() => draft('adds', states, search)}
        >
          {areAll(ADDABLE_STATES) ? `Add ${shown} again…` : 'Add terms again…'}
        </WithReason>
      )
    case 'appeals': {
      const inReview = ledger.counts['in_review'] ?? 0
      const isFiltered = search !== '' || states.length < LEDGER_STATES.appeals.length
      return (
        <>
          {isFiltered && ledger.total > 0 && (
            <ActionButton
              label={`Check the ${formatCount(ledger.total)} shown…`}
              disabled={busy}
              onClick={() => draft('reads', states, search)}
            />
          )}
          <WithReason
            busy={busy}
            blocked={inReview === 0 ? 'No appeal is in review' : undefined}
            onPress={() => draft('reads', ['in_review'], '')}
          >
            Check {formatCount(inReview)} in review again…
          </WithReason>
        </>
      )
    }
  }
}

/** The main action, and in words why it cannot be done. */
function WithReason(props: ComponentProps<typeof PrimaryButton>) {
  return (
    <>
      {props.blocked !== undefined && (
        <span className={`small text-right ${styles.reason}`}>{props.blocked}</span>
      )}
      <PrimaryButton {...props} />
    </>
  )
}
