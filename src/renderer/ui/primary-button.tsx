import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { useHotkey } from './use-hotkey.ts'

/** The one main action of a screen: filled, and on Ctrl or Cmd with Enter. `blocked` says why it cannot be done. */
export function PrimaryButton(props: {
  children: ReactNode
  onPress: () => void
  blocked?: string | undefined
  busy?: boolean
  icon?: ReactNode
}) {
  const off = props.blocked !== undefined || props.busy === true
  useHotkey({ key: 'Enter', mod: true }, off ? null : props.onPress)
  return (
    <Button
      onClick={props.onPress}
      disabled={props.blocked !== undefined}
      loading={props.busy ?? false}
      title={props.blocked ?? 'Ctrl or Cmd with Enter'}
      {...(props.icon !== undefined && { rightSection: props.icon })}
    >
      {props.children}
    </Button>
  )
}
