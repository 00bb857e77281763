import { Group } from '@mantine/core'
import { IconArrowBackUp, IconArrowForwardUp } from '@tabler/icons-react'
import { ActionButton } from '../controls.tsx'
import { nameShortcut } from '../shortcuts.ts'

/** Takes the last change back, or makes it again. */
export function UndoRedo(props: {
  canUndo: boolean
  canRedo: boolean
  onUndo: () => void
  onRedo: () => void
}) {
  return (
    <Group gap="xs" wrap="nowrap">
      <ActionButton
        label="Undo"
        small
        title={nameShortcut(['Mod', 'Z'])}
        disabled={!props.canUndo}
        icon={IconArrowBackUp}
        onClick={props.onUndo}
      />
      <ActionButton
        label="Redo"
        small
        title={nameShortcut(['Mod', 'Shift', 'Z'])}
        disabled={!props.canRedo}
        icon={IconArrowForwardUp}
        onClick={props.onRedo}
      />
    </Group>
  )
}
