import { Button, Group, Modal, Stack, Textarea } from '@mantine/core'
import { useState } from 'react'
import { hasMod, nameShortcut } from '../shortcuts.ts'

/** Asks for the note on a row; an empty one takes it away. */
export function NoteDialog(props: {
  /** The row as a person knows it. */
  row: string
  note: string | null
  /** Whether the row has a verdict; without one, a note makes it unsure. */
  hasVerdict: boolean
  onNote: (note: string) => void
  onClose: () => void
}) {
  const [note, setNote] = useState(props.note ?? '')
  return (
    <Modal opened onClose={props.onClose} title={`Note on row ${props.row}`}>
      <Stack
        component="form"
        gap="md"
        onSubmit={(event) => {
          event.preventDefault()
          props.onNote(note)
        }}
      >
        <Textarea
          data-autofocus
          label="Note"
          description={
            props.hasVerdict
              ? `Stored with your verdict. ${nameShortcut(['Mod', 'Enter'])} saves.`
              : `The row counts as unsure until you give another verdict. ${nameShortcut(['Mod', 'Enter'])} saves.`
          }
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !hasMod(event)) return
            event.preventDefault()
            props.onNote(note)
          }}
          autosize
          minRows={3}
          maxRows={10}
          maxLength={10_000}
        />
        <Group justify="flex-end" gap="xs">
          <Button onClick={props.onClose}>Cancel</Button>
          <Button variant="filled" type="submit">
            Save
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
