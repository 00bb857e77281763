import { Group } from '@mantine/core'
import type { ReactNode } from 'react'
import { ActionButton } from '../../ui/controls.tsx'
import { Panel } from '../../ui/layout/screen.tsx'

/** A panel with settings that are applied together, once one of them was changed. */
export function EditorPanel(props: {
  title: string
  aside?: ReactNode
  isChanged: boolean
  onApply: () => void
  onUndo: () => void
  children: ReactNode
}) {
  return (
    <Panel title={props.title} aside={props.aside}>
      {props.children}
      {props.isChanged && (
        <Group gap="xs" mt="sm">
          <ActionButton label="Apply" variant="filled" onClick={props.onApply} />
          <ActionButton label="Undo changes" onClick={props.onUndo} />
          <span role="status">Not applied yet</span>
        </Group>
      )}
    </Panel>
  )
}
