import { Modal } from '@mantine/core'
import { useState } from 'react'
import { TextArea } from '../controls.tsx'
import { Form, FormActions } from '../form.tsx'
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
      <Form onSubmit={() => props.onNote(note)}>
        <TextArea
          data-autofocus
          label="Note"
          description={
            props.hasVerdict
              ? `Stored with your verdict. ${nameShortcut(['Mod', 'Enter'])} saves.`
              : `The row counts as unsure until you give another verdict. ${nameShortcut(['Mod', 'Enter'])} saves.`
          }
          value={note}
          onValue={setNote}
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
        <FormActions submit="Save" onCancel={props.onClose} />
      </Form>
    </Modal>
  )
}
