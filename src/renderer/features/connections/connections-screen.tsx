import { IconPlugConnected, IconPlus } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { showConnections } from '../../bridge/connections.ts'
import { isAtHand } from '../../ui/connection/destination.ts'
import { ActionButton, PrimaryButton } from '../../ui/controls.tsx'
import { Empty, ErrorNotice, Notice, Screen } from '../../ui/layout/screen.tsx'
import { showToast } from '../../ui/layout/toasts.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { ConnectionDialog } from './connection-dialog.tsx'
import { ConnectionPanel } from './connection-panel.tsx'

/** The form over the list, for a new or a known connection. */
type Opened = { kind: 'add' } | { kind: 'change'; entry: ConnectionEntry }

/** The stored services: where they are, which keys they have, and whether they answer. */
export function ConnectionsScreen(props: {
  /** Destination of the new run's checked rows, if it is not the connection in use. */
  draftPlace: string | null
  /** Called with the connection that the person put in use. */
  onUse: (name: string, entries: readonly ConnectionEntry[]) => void
  onDraft: () => void
}) {
  const list = useQuery(ask.connections.list.queryOptions())
  const left = useQuery(ask.connections.listKeysLeft.queryOptions())
  const [opened, setOpened] = useState<Opened | null>(null)
  const close = () => setOpened(null)
  const keep = (entries: ConnectionEntry[]) => {
    showConnections(entries)
    close()
  }
  const entries = list.data ?? null
  const add = () => setOpened({ kind: 'add' })
  return (
    <Screen
      title="Connections"
      subtitle={toSubtitle(entries)}
      actions={
        entries !== null && entries.length > 0 ? (
          <PrimaryButton onPress={add} icon={<IconPlus size="1rem" />}>
            Add a connection
          </PrimaryButton>
        ) : null
      }
    >
      {list.error !== null && <ErrorNotice error={list.error} onRetry={list.refetch} />}
      {left.data?.map(({ connection, label, place }) => (
        <Notice
          key={`${connection} ${label}`}
          kind="warning"
          title={
            <>
              A removed key is still kept: <SafeText text={`${label} of ${connection}`} max={160} />
            </>
          }
        >
          {place === 'profile'
            ? 'The desktop app keeps it, and removes it the next time it opens this workspace.'
            : 'It is in the keyring, which did not answer. The next change of a key removes it.'}
        </Notice>
      ))}
      {props.draftPlace !== null && (
        <Notice
          kind="info"
          title={`The new run that you are preparing goes to ${props.draftPlace}`}
          actions={<ActionButton label="Open the new run" small onClick={props.onDraft} />}
        >
          Its rows were checked for that place. Change it on Review, under Connection.
        </Notice>
      )}
      {entries !== null && entries.length === 0 && (
        <Empty
          icon={IconPlugConnected}
          title="No connections yet"
          actions={
            <PrimaryButton onPress={add} icon={<IconPlus size="1rem" />}>
              Add a connection
            </PrimaryButton>
          }
        >
          A connection is the address of a service with its API keys, under a name. Add one, and each run can
          go there with one click.
        </Empty>
      )}
      {entries?.map((entry) => (
        <ConnectionPanel
          key={entry.name}
          entry={entry}
          onEntries={keep}
          onUse={(known) => {
            props.onUse(entry.name, known)
            keep(known)
          }}
          onChange={() => setOpened({ kind: 'change', entry })}
          onRemove={() => removeConnection(entry)}
        />
      ))}
      {opened !== null && (
        <ConnectionDialog
          entry={opened.kind === 'change' ? opened.entry : null}
          onEntries={keep}
          onClose={close}
        />
      )}
    </Screen>
  )
}

function toSubtitle(entries: readonly ConnectionEntry[] | null): string {
  if (entries === null) return 'Reading the workspace'
  return entries.length === 0 ? 'Where rows can be sent' : formatCounted(entries.length, 'connection')
}

async function removeConnection({ name, keys }: ConnectionEntry): Promise<void> {
  showConnections(await bridge.connections.remove({ name }))
  const isTyped = keys.some((key) => key.place !== undefined && isAtHand(key))
  showToast({
    key: `connection-removed ${name}`,
    kind: 'good',
    title: (
      <>
        Removed the connection <SafeText text={name} max={120} />
      </>
    ),
    text: isTyped
      ? 'Its runs stay. Within ten minutes, Undo also restores its API keys; later you have to type them again.'
      : 'Its runs stay.',
    undo: async () => showConnections(await bridge.connections.restore({ name })),
  })
}
