import { Button, Group } from '@mantine/core'
import { IconArrowBackUp, IconArrowForwardUp } from '@tabler/icons-react'
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
      <Button
        size="compact-xs"
        title={nameShortcut(['Mod', 'Z'])}
        disabled={!props.canUndo}
        leftSection={<IconArrowBackUp size="1rem" />}
        onClick={props.onUndo}
      >
        Undo
      </Button>
      <Button
        size="compact-xs"
        title={nameShortcut(['Mod', 'Shift', 'Z'])}
        disabled={!props.canRedo}
        leftSection={<IconArrowForwardUp size="1rem" />}
        onClick={props.onRedo}
      >
        Redo
      </Button>
    </Group>
  )
}
