import { Stack } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import type { SandboxLists } from '../../../shared/bridge/sandbox.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import { ActionButton, RowButton } from '../../ui/controls.tsx'
import { Columns, ErrorNotice, Notice, Panel } from '../../ui/layout/screen.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { AppealsPanel } from './appeals-panel.tsx'
import { type EditedList, ListEditor } from './list-editor.tsx'
import styles from './sandbox.module.css'

/** The watchlists, custom indexes and appeals that the sandbox holds. */
export function ListPanels() {
  const lists = useQuery({ ...ask.sandbox.lists.queryOptions(), refetchInterval: 3_000 })
  const [opened, setOpened] = useState<EditedList | null>(null)
  const [undo, setUndo] = useState<{ what: string; put: () => Promise<SandboxLists> } | null>(null)
  const change = useMutation({
    mutationFn: (make: () => Promise<SandboxLists>) => make(),
    onSuccess: keepLists,
  })
  const { watchlists = [], indexes = [], appeals = 0 } = lists.data ?? {}
  const remove = (name: string, terms: SandboxLists['watchlists'][number]['terms']) => {
    const put = () => bridge.sandbox.putWatchlist({ name, terms })
    change.mutate(() => bridge.sandbox.removeWatchlist({ name }), {
      onSuccess: () => setUndo({ what: `Watchlist ${name}`, put }),
    })
  }
  return (
    <>
      {lists.error !== null && <ErrorNotice error={lists.error} onRetry={lists.refetch} />}
      {change.error !== null && <ErrorNotice error={change.error} onDismiss={change.reset} />}
      {undo !== null && (
        <Notice
          kind="info"
          title={<SafeText text={`${undo.what} removed`} max={160} />}
          actions={
            <ActionButton
              label="Undo"
              small
              onClick={() => {
                change.mutate(undo.put)
                setUndo(null)
              }}
            />
          }
        />
      )}
      <Columns least="48rem" areApart>
        <Stack gap="md">
          <NamedLists
            title={formatCounted(watchlists.length, 'watchlist')}
            add="Add a watchlist"
            noun="term"
            onAdd={() => setOpened({ kind: 'watchlist', name: null, terms: [] })}
            lists={watchlists.map(({ name, terms }) => ({
              ...{ name, entries: terms.length, kind: 'watchlist' },
              onEdit: () => setOpened({ kind: 'watchlist', name, terms }),
              onRemove: () => remove(name, terms),
            }))}
          />
          <NamedLists
            title={formatCounted(indexes.length, 'custom index', 'custom indexes')}
            add="Add an index"
            noun="item"
            onAdd={() => setOpened({ kind: 'index', id: null, items: 0 })}
            lists={indexes.map(({ custom_index_id: id, items }) => ({
              ...{ name: id, entries: items, kind: 'index' },
              onEdit: () => setOpened({ kind: 'index', id, items }),
              // What an index holds cannot be put back as it was, so its editor removes it.
              onRemove: null,
            }))}
          />
        </Stack>
        <AppealsPanel count={appeals} onChange={change.mutate} />
      </Columns>
      {opened !== null && (
        <ListEditor
          list={opened}
          onSave={async (make) => {
            keepLists(await make())
            setOpened(null)
          }}
          onClose={() => setOpened(null)}
        />
      )}
    </>
  )
}

function keepLists(now: SandboxLists): void {
  queryClient.setQueryData(ask.sandbox.lists.queryKey(), now)
  void queryClient.invalidateQueries({ queryKey: ask.sandbox.appeals.key() })
}

/** Lists with a name each, and how much is in them. */
function NamedLists(props: {
  title: string
  add: string
  noun: string
  onAdd: () => void
  lists: readonly {
    name: string
    kind: string
    entries: number
    onEdit: () => void
    onRemove: (() => void) | null
  }[]
}): ReactNode {
  return (
    <Panel
      title={props.title}
      aside={<ActionButton label={props.add} small icon={IconPlus} onClick={props.onAdd} />}
      flush
    >
      <Table
        className={styles.table}
        caption={props.title}
        hasNoHead
        rows={props.lists}
        toKey={({ name }) => name}
        columns={[
          { cell: ({ name }) => <SafeText text={name} max={160} /> },
          { cell: ({ entries }) => formatCounted(entries, props.noun) },
          {
            isActions: true,
            cell: ({ name, kind, onEdit, onRemove }) => (
              <>
                <RowButton label="Show and edit" name={`Show and edit ${kind} ${name}`} onPress={onEdit} />
                {onRemove !== null && (
                  <RowButton label="Remove" name={`Remove ${kind} ${name}`} onPress={onRemove} />
                )}
              </>
            ),
          },
        ]}
      />
    </Panel>
  )
}
