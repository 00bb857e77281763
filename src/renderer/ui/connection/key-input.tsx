import { PasswordInput } from '@mantine/core'

/** What becomes of a key that is typed for one run, or for the addresses of one. */
const KEPT_IN_WINDOW = 'Kept in memory until this window closes; written to no file.'

/** What becomes of a key that is typed for a stored connection. */
export const KEPT_WITH_CONNECTION =
  'Kept in memory until Sluice is stopped; written to no file, shown to nobody again.'

/** The field that an API key is typed into. */
export function KeyInput(props: {
  value: string
  onValue: (value: string) => void
  /** Default: `API key`. */
  label?: string
  /** What becomes of the key (default: it is kept until the window closes). */
  description?: string
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
      visibilityToggleButtonProps={{ 'aria-label': 'Show or hide the key' }}
      autoComplete="off"
      spellCheck={false}
    />
  )
}
