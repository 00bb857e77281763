import { Button, Group } from '@mantine/core'
import { IconArrowBackUp, IconArrowForwardUp } from '@tabler/icons-react'

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
        variant="default"
        size="compact-xs"
        title="Ctrl or Cmd with Z"
        disabled={!props.canUndo}
        leftSection={<IconArrowBackUp size="1rem" />}
        onClick={props.onUndo}
      >
        Undo
      </Button>
      <Button
        variant="default"
        size="compact-xs"
        title="Ctrl or Cmd with Shift and Z"
        disabled={!props.canRedo}
        leftSection={<IconArrowForwardUp size="1rem" />}
        onClick={props.onRedo}
      >
        Redo
      </Button>
    </Group>
  )
}
