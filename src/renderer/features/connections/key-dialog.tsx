import { Modal } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import { findNameFault } from '../../../shared/plan/stored-connection.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { KeyInput, sayKept } from '../../ui/connection/key-input.tsx'
import { TextField } from '../../ui/fields.tsx'
import { useTriedForm } from '../../ui/first-fault.ts'
import { Form, FormActions } from '../../ui/form.tsx'

/** Takes a key of a connection: another text for a known label, or a key with a label of its own. */
export function KeyDialog(props: {
  connection: string
  /** Label of the key whose text is typed; null for a new key. */
  known: string | null
  /** Labels that the connection has already. */
  labels: readonly string[]
  onEntries: (entries: ConnectionEntry[]) => void
  onClose: () => void
}) {
  const { connection, known, labels } = props
  const [label, setLabel] = useState(known ?? '')
  const [apiKey, setApiKey] = useState('')
  const storage = useQuery(ask.connections.readStorage.queryOptions())
  const { place, isTried, showFirst } = useTriedForm()
  const tidy = label.trim().normalize('NFC')
  const labelFault = known === null ? findLabelFault(tidy, labels) : null
  const isKeyMissing = apiKey.trim() === ''
  const save = useMutation({
    mutationFn: async () => {
      const entries = await bridge.connections.setKey({ name: connection, label: known ?? tidy, apiKey })
      props.onEntries(entries)
    },
  })
  return (
    <Modal
      opened
      onClose={props.onClose}
      title={known === null ? `Add an API key to ${connection}` : `API key ${known} of ${connection}`}
    >
      <Form
        ref={place}
        onSubmit={() => {
          if (labelFault === null && !isKeyMissing) save.mutate()
          else showFirst()
        }}
      >
        {known === null && (
          <TextField
            data-autofocus
            label="Label"
            description="A name for the key, such as new or 2027."
            value={label}
            onValue={setLabel}
            error={labelFault !== null && (isTried || label !== '') ? labelFault : undefined}
            isLiteral
          />
        )}
        <KeyInput
          value={apiKey}
          onValue={setApiKey}
          hasFocus={known !== null}
          description={sayKept(storage.data ?? null)}
          error={isTried && isKeyMissing ? 'Type the key.' : undefined}
        />
        <FormActions submit="Save" onCancel={props.onClose} sent={save} />
      </Form>
    </Modal>
  )
}

/** What is wrong with the label of a new key, in a sentence; null if nothing is. */
function findLabelFault(label: string, known: readonly string[]): string | null {
  if (known.includes(label)) return 'The connection has a key with this label.'
  const fault = findNameFault(label)
  return fault === null ? null : `The label ${fault}.`
}
