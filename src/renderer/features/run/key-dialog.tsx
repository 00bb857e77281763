import { Button, Group, Modal, Radio, Stack } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { ConnectionEntry, ConnectionKeyEntry } from '../../../shared/bridge/connections.ts'
import { bridge } from '../../bridge/client.ts'
import { isAtHand } from '../../ui/connection/destination.ts'
import { KeyInput } from '../../ui/connection/key-input.tsx'
import { ErrorNotice } from '../../ui/layout/notice.tsx'

const TYPED = 'typed'
const STORED = 'stored:'

/** Has a run send with another key from now on: another of its connection's, or one that is typed. */
export function KeyDialog(props: {
  runId: string
  /** The run's stored connection, if any. */
  entry: ConnectionEntry | null
  /** Gets the name of the new key, and the key itself if it was typed. */
  onChanged: (name: string, typed: string | null) => void
  onClose: () => void
}) {
  const { runId, entry, onChanged, onClose } = props
  const [choice, setChoice] = useState(TYPED)
  const [apiKey, setApiKey] = useState('')
  const change = useMutation({
    mutationFn: async () => {
      if (choice === TYPED) {
        const typed = apiKey.trim()
        await bridge.runs.setApiKey({ runId, apiKey: typed })
        onChanged('the typed key', typed)
      } else if (entry !== null) {
        const label = choice.slice(STORED.length)
        await bridge.connections.use({ name: entry.name, key: label })
        onChanged(`key ${label} of ${entry.name}`, null)
      }
      onClose()
    },
  })
  return (
    <Modal opened onClose={onClose} title="Another API key" closeButtonProps={{ 'aria-label': 'Close' }}>
      <Stack
        component="form"
        gap="md"
        onSubmit={(event) => {
          event.preventDefault()
          change.mutate()
        }}
      >
        <p>New requests use the new key. Requests in flight keep the old one.</p>
        {entry !== null && (
          <Radio.Group label={`API keys of ${entry.name}`} value={choice} onChange={setChoice}>
            <Stack gap="xs" mt="xs">
              {entry.keys.map((key) => (
                <Radio
                  key={key.label}
                  value={STORED + key.label}
                  disabled={!isAtHand(key)}
                  label={key.label === entry.activeKey ? `${key.label} (active)` : key.label}
                  description={sayWhere(key)}
                />
              ))}
              <Radio value={TYPED} label="Type a key" description="For this run only." />
            </Stack>
          </Radio.Group>
        )}
        {choice === TYPED && <KeyInput hasFocus value={apiKey} onValue={setApiKey} />}
        {change.error !== null && <ErrorNotice error={change.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            loading={change.isPending}
            disabled={choice === TYPED && apiKey.trim() === ''}
          >
            Use this key
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/** Where a key comes from, or why it is not at hand. */
function sayWhere({ env, place, state }: ConnectionKeyEntry): string {
  if (state === 'asking') return 'typed under Connections; the system may ask you to unlock it'
  if (state === 'locked') return 'cannot be read: unlock it, or type it again under Connections'
  const isSet = state === 'ready'
  if (place !== undefined) return isSet ? 'typed under Connections' : 'to be typed again under Connections'
  if (env === undefined) return 'not typed yet: see Connections'
  return isSet ? `from ${env}` : `${env} is not set here`
}
