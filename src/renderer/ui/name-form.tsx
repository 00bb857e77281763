import { Group, Stack } from '@mantine/core'
import { type FormEvent, useState } from 'react'
import { ActionButton, TextField } from './controls.tsx'

/** Asks for the name of what is saved, or a new one; Escape gives up. What goes wrong is shown by whoever asks. */
export function NameForm(props: {
  label: string
  name: string
  onName: (name: string) => Promise<void>
  onClose: () => void
}) {
  const [name, setName] = useState(props.name)
  const trimmed = name.trim()
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (trimmed !== '') props.onName(trimmed).catch(() => {})
  }
  return (
    <Stack component="form" gap="xs" my="xs" onSubmit={submit}>
      <TextField
        label={props.label}
        value={name}
        maxLength={80}
        data-autofocus
        autoFocus
        onValue={setName}
        onKeyDown={(event) => event.key === 'Escape' && props.onClose()}
      />
      <Group gap="xs">
        <ActionButton label="Save" variant="filled" type="submit" small disabled={trimmed === ''} />
        <ActionButton label="Cancel" small onClick={props.onClose} />
      </Group>
    </Stack>
  )
}
