import { Button, Group, Modal, Stack } from '@mantine/core'
import { IconPlugConnected, IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import { PrimaryButton } from '../../ui/controls.tsx'
import { ErrorNotice } from '../../ui/layout/notice.tsx'
import { Empty, Screen } from '../../ui/layout/screen.tsx'
import { ConnectionDialog } from './connection-dialog.tsx'
import { ConnectionPanel } from './connection-panel.tsx'

/** What stands over the list: a form for a new or a known connection, or the question before one is removed. */
type Opened =
  | { kind: 'add' }
  | { kind: 'change'; entry: ConnectionEntry }
  | { kind: 'remove'; entry: ConnectionEntry }

/** The services that the workspace remembers: where they are, which keys they have, and whether they answer. */
export function ConnectionsScreen() {
  const list = useQuery(ask.connections.list.queryOptions())
  const [opened, setOpened] = useState<Opened | null>(null)
  const close = () => setOpened(null)
  const keep = (entries: ConnectionEntry[]) => {
    queryClient.setQueryData(ask.connections.list.queryKey(), entries)
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
          onChange={() => setOpened({ kind: 'change', entry })}
          onRemove={() => setOpened({ kind: 'remove', entry })}
        />
      ))}
      {(opened?.kind === 'add' || opened?.kind === 'change') && (
        <ConnectionDialog
          entry={opened.kind === 'change' ? opened.entry : null}
          onEntries={keep}
          onClose={close}
        />
      )}
      {opened?.kind === 'remove' && <RemoveDialog entry={opened.entry} onEntries={keep} onClose={close} />}
    </Screen>
  )
}

function toSubtitle(entries: readonly ConnectionEntry[] | null): string {
  if (entries === null) return 'Reading the workspace'
  return entries.length === 0 ? 'Where rows can be sent' : formatCounted(entries.length, 'connection')
}

/** Asks once more before a connection goes. */
function RemoveDialog(props: {
  entry: ConnectionEntry
  onEntries: (entries: ConnectionEntry[]) => void
  onClose: () => void
}) {
  const { name, isProduction } = props.entry
  const remove = useMutation({
    mutationFn: async () => props.onEntries(await bridge.connections.remove({ name })),
  })
  return (
    <Modal
      opened
      onClose={props.onClose}
      title="Remove the connection"
      closeButtonProps={{ 'aria-label': 'Close' }}
    >
      <Stack gap="md">
        <p>
          <strong>{name}</strong> and its typed keys are removed from this workspace. Its runs stay, and can
          be resumed with a typed key.
          {isProduction &&
            ' It is production: before it goes, Sluice asks you to confirm it outside of this page.'}
        </p>
        {remove.error !== null && <ErrorNotice error={remove.error} />}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" data-autofocus onClick={props.onClose}>
            Cancel
          </Button>
          <Button color="danger" loading={remove.isPending} onClick={() => remove.mutate()}>
            Remove
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}
