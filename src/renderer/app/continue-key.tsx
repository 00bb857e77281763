import { useQuery } from '@tanstack/react-query'
import type { ConnectionEntry } from '../../shared/bridge/connections.ts'
import { formatCounted } from '../../shared/messages/figure-text.ts'
import type { RunSummary } from '../../shared/run/run.ts'
import { isKeyRefusal } from '../../shared/service/errors.ts'
import { ask } from '../bridge/client.ts'
import { findActiveEntry, isTypeable } from '../ui/connection/destination.ts'
import { KeepKey, KeyInput, sayKept } from '../ui/connection/key-input.tsx'
import { RadioField } from '../ui/controls.tsx'
import { Notice } from '../ui/layout/screen.tsx'

/** What a person may choose of the key that a run is taken up with. */
export interface KeySituation {
  /** Whether no stored key is at hand, so that one has to be typed. */
  isNeeded: boolean
  /** Rows whose newest answer refuses the key. */
  refusedRows: number
  /** The stored key that is sent unless another is typed. */
  stored: { connection: string; label: string; isTypeable: boolean } | null
  /** The key that was typed for these addresses before; empty where there is none. */
  remembered: string
}

/** The key that a run is taken up with. */
export interface KeyChoice {
  /** Null for the stored one. */
  typed: string | null
  /** Whether the typed one replaces the stored one. */
  isKept: boolean
}

/** Rows that ended because the service refused the key. */
export function countRefused({ errors }: Pick<RunSummary, 'errors'>): number {
  return errors
    .filter(({ status, error_code }) => isKeyRefusal(status, error_code))
    .reduce((sum, { rows }) => sum + rows, 0)
}

/** The stored key that a connection sends now. */
export function findSentKey(entry: ConnectionEntry | undefined): KeySituation['stored'] {
  const key = entry === undefined ? null : findActiveEntry(entry)
  if (entry === undefined || key === null) return null
  return { connection: entry.name, label: key.label, isTypeable: isTypeable(key) }
}

/** What is chosen at first: a refused key is not sent again without being asked about. */
export function toFirstKeyChoice({ isNeeded, refusedRows, stored, remembered }: KeySituation): KeyChoice {
  const isRefused = refusedRows > 0
  return {
    typed: isRefused ? '' : isNeeded ? remembered : null,
    isKept: isRefused && !isNeeded && stored?.isTypeable === true,
  }
}

/** Takes the key for a run that is taken up: where none is at hand, or where the service refused the one it had. */
export function ContinueKey(props: {
  situation: KeySituation
  choice: KeyChoice
  onChoice: (choice: KeyChoice) => void
}) {
  const { situation, choice, onChoice } = props
  const { isNeeded, refusedRows, stored, remembered } = situation
  const storage = useQuery(ask.connections.readStorage.queryOptions())
  if (!isNeeded && refusedRows === 0) return null
  const { typed } = choice
  return (
    <>
      {refusedRows > 0 && (
        <Notice
          kind="warning"
          title={`The service refused the API key for ${formatCounted(refusedRows, 'row')}`}
        />
      )}
      {!isNeeded && (
        <RadioField
          label="Send with"
          value={typed === null ? 'stored' : 'typed'}
          onValue={(value) => onChoice({ ...choice, typed: value === 'typed' ? '' : null })}
          choices={[
            { value: 'typed', label: 'Type another key' },
            {
              value: 'stored',
              label:
                stored === null
                  ? 'Use the stored key'
                  : `Use the key “${stored.label}” of ${stored.connection}`,
              description: 'If you have replaced it, or the service accepts it now.',
            },
          ]}
        />
      )}
      {typed !== null && (
        <KeyInput
          hasFocus
          value={typed}
          onValue={(value) => onChoice({ ...choice, typed: value })}
          description={
            choice.isKept
              ? sayKept(storage.data ?? null)
              : isNeeded && typed !== '' && typed === remembered
                ? 'The one you typed for this address before. It is kept in memory until this window closes.'
                : undefined
          }
        />
      )}
      {typed !== null && !isNeeded && stored?.isTypeable && (
        <KeepKey
          connection={stored.connection}
          label={stored.label}
          value={choice.isKept}
          onValue={(isKept) => onChoice({ ...choice, isKept })}
        />
      )}
    </>
  )
}
