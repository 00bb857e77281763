import { Group } from '@mantine/core'
import { useState } from 'react'
import { ActionButton } from '../../ui/controls.tsx'

/** A button for what cannot be undone: it asks where the answer stands, unless nothing is lost (`question` is null). */
export function AskFirst(props: {
  label: string
  question: string | null
  confirm: string
  busy?: boolean
  onConfirm: () => void
}) {
  const { question, onConfirm } = props
  const [isAsking, setAsking] = useState(false)
  if (!isAsking || question === null) {
    return (
      <ActionButton
        label={props.label}
        size="xs"
        loading={props.busy ?? false}
        onClick={() => (question === null ? onConfirm() : setAsking(true))}
      />
    )
  }
  return (
    <Group gap="xs">
      <span>{question}</span>
      <ActionButton label="Cancel" size="xs" onClick={() => setAsking(false)} />
      <ActionButton
        label={props.confirm}
        variant="filled"
        color="danger"
        size="xs"
        onClick={() => {
          setAsking(false)
          onConfirm()
        }}
      />
    </Group>
  )
}
