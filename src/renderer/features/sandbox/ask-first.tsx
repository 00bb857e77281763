import { Button, Group } from '@mantine/core'
import { useState } from 'react'

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
      <Button
        size="xs"
        loading={props.busy ?? false}
        onClick={() => (question === null ? onConfirm() : setAsking(true))}
      >
        {props.label}
      </Button>
    )
  }
  return (
    <Group gap="xs">
      <span>{question}</span>
      <Button size="xs" onClick={() => setAsking(false)}>
        Cancel
      </Button>
      <Button
        variant="filled"
        color="danger"
        size="xs"
        onClick={() => {
          setAsking(false)
          onConfirm()
        }}
      >
        {props.confirm}
      </Button>
    </Group>
  )
}
