import { PasswordInput } from '@mantine/core'
import type { KeyStorageEntry } from '../../../shared/bridge/connections.ts'
import { CheckField } from '../controls.tsx'

/** Where a key goes that is typed for one run, or for a run's addresses. */
const KEPT_IN_WINDOW = 'Kept in memory until this window closes; written to no file.'

const SHOWN_NEVER = 'The key is sent only to this address and never shown again.'

/** Where a key goes that is typed for a stored connection. `storage` is null until known. */
export function sayKept(storage: KeyStorageEntry | null): string {
  switch (storage?.place) {
    case undefined:
      return SHOWN_NEVER
    case 'keyring':
      return `Kept in the keyring of this system. ${SHOWN_NEVER}`
    case 'profile':
      return `Kept encrypted in your profile, by the system's password store. ${SHOWN_NEVER}`
    case 'session':
      return `Kept in memory until Sluice is stopped, because ${storage.reason}. ${SHOWN_NEVER}`
  }
}

export function KeyInput(props: {
  value: string
  onValue: (value: string) => void
  /** Default: `API key`. */
  label?: string
  /** Where the key goes (default: kept until the window closes). */
  description?: string | undefined
  error?: string | undefined
  /** Whether it gets the focus when its dialog opens. */
  hasFocus?: boolean
}) {
  return (
    <PasswordInput
      {...(props.hasFocus && { 'data-autofocus': true })}
      label={props.label ?? 'API key'}
      description={props.description ?? KEPT_IN_WINDOW}
      value={props.value}
      onChange={(event) => props.onValue(event.currentTarget.value)}
      error={props.error}
      visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the key' }}
      autoComplete="off"
      spellCheck={false}
    />
  )
}

/** Whether a key typed for a run is also stored for its connection. */
export function KeepKey(props: {
  connection: string
  /** Label of the key that it replaces. */
  label: string
  value: boolean
  onValue: (value: boolean) => void
}) {
  return (
    <CheckField
      label={`Replace the key “${props.label}” of ${props.connection}`}
      description="Later runs send it, too. Otherwise it is used for this run only."
      value={props.value}
      onValue={props.onValue}
    />
  )
}
