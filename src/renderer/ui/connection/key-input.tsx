import { PasswordInput } from '@mantine/core'
import type { KeyStorageEntry } from '../../../shared/bridge/connections.ts'
import { CheckField } from '../controls.tsx'

/** What becomes of a key that is typed for one run, or for the addresses of one. */
const KEPT_IN_WINDOW = 'Kept in memory until this window closes; written to no file.'

const SHOWN_NEVER = 'The key is sent only to this address and never shown again.'

/** What becomes of a key that is typed for a stored connection. `storage` is null until that is known. */
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

/** The field that an API key is typed into. */
export function KeyInput(props: {
  value: string
  onValue: (value: string) => void
  /** Default: `API key`. */
  label?: string
  /** What becomes of the key (default: it is kept until the window closes). */
  description?: string | undefined
  /** What is wrong with it. */
  error?: string | undefined
  /** Whether it takes the focus where its dialog opens. */
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

/** Whether a key that is typed for a run is kept for its connection, too. */
export function KeepKey(props: {
  connection: string
  /** The key that it replaces. */
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
