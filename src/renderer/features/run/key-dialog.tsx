import { Modal } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ConnectionEntry, ConnectionKeyEntry } from '../../../shared/bridge/connections.ts'
import { findActiveKey } from '../../../shared/plan/stored-connection.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { showConnections } from '../../bridge/connections.ts'
import { isAtHand, isTypeable } from '../../ui/connection/destination.ts'
import { KeepKey, KeyInput, sayKept } from '../../ui/connection/key-input.tsx'
import { RadioField } from '../../ui/controls.tsx'
import { Form, FormActions } from '../../ui/form.tsx'

const TYPED = 'typed'
const STORED = 'stored:'

/** Switches a run to another key: another one of its connection, or a typed one. */
export function KeyDialog(props: {
  runId: string
  /** The stored connection whose active key the run follows, if any. */
  entry: ConnectionEntry | null
  /** Whether the service refused the current key. */
  isRefused: boolean
  /** Called with the name of the new key, and the key itself if it was typed. */
  onChanged: (name: string, typed: string | null) => void
  onClose: () => void
}) {
  const { runId, entry, onChanged, onClose } = props
  const [choice, setChoice] = useState(TYPED)
  const [apiKey, setApiKey] = useState('')
  const active = entry === null ? null : findActiveKey(entry)
  const replaced = entry !== null && active !== null && isTypeable(active) ? active.label : null
  const [isKept, setKept] = useState(props.isRefused && replaced !== null)
  const storage = useQuery(ask.connections.readStorage.queryOptions())
  const change = useMutation({
    mutationFn: async () => {
      const typed = apiKey.trim()
      if (choice === TYPED && isKept && entry !== null && replaced !== null) {
        // The run follows its connection's active key.
        showConnections(await bridge.connections.setKey({ name: entry.name, label: replaced, apiKey: typed }))
        onChanged(`the new key ${replaced} of ${entry.name}`, null)
      } else if (choice === TYPED) {
        await bridge.runs.setApiKey({ runId, apiKey: typed })
        onChanged('the typed key', typed)
      } else if (entry !== null) {
        const label = choice.slice(STORED.length)
        showConnections(await bridge.connections.use({ name: entry.name, key: label }))
        onChanged(`key ${label} of ${entry.name}`, null)
      }
      onClose()
    },
  })
  return (
    <Modal opened onClose={onClose} title="Another API key">
      <Form onSubmit={() => change.mutate()}>
        <p>New requests use the new key. Requests in flight keep the old one.</p>
        {entry !== null && (
          <RadioField
            label={`API keys of ${entry.name}`}
            value={choice}
            onValue={setChoice}
            choices={[
              ...entry.keys.map((key) => ({
                value: STORED + key.label,
                disabled: !isAtHand(key),
                label: key.label === entry.activeKey ? `${key.label} (active)` : key.label,
                description: sayWhere(key),
              })),
              {
                value: TYPED,
                label: 'Type a key',
                description: replaced === null ? 'For this run only.' : undefined,
              },
            ]}
          />
        )}
        {choice === TYPED && (
          <KeyInput
            hasFocus
            value={apiKey}
            onValue={setApiKey}
            description={isKept ? sayKept(storage.data ?? null) : undefined}
          />
        )}
        {choice === TYPED && entry !== null && replaced !== null && (
          <KeepKey connection={entry.name} label={replaced} value={isKept} onValue={setKept} />
        )}
        <FormActions
          submit="Use this key"
          onCancel={onClose}
          sent={change}
          isBlocked={choice === TYPED && apiKey.trim() === ''}
        />
      </Form>
    </Modal>
  )
}

/** Where a key comes from, or why it is not available. */
function sayWhere({ env, place, state }: ConnectionKeyEntry): string {
  if (state === 'asking') return 'typed under Connections; the system may ask you to unlock it'
  if (state === 'locked') return 'cannot be read: unlock it, or type it again under Connections'
  const isSet = state === 'ready'
  if (place !== undefined) return isSet ? 'typed under Connections' : 'to be typed again under Connections'
  if (env === undefined) return 'not typed yet: see Connections'
  return isSet ? `from ${env}` : `${env} is not set here`
}
