import { Group, Modal, Select, Stack } from '@mantine/core'
import { IconPlus } from '@tabler/icons-react'
import { keepPreviousData, skipToken, useMutation, useQuery } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import {
  type NewAppeal,
  SANDBOX_PAGE_MAX,
  type SandboxLists,
  type ShownAppeal,
} from '../../../shared/bridge/sandbox.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import { ActionButton, NumberField, Pager, RowButton, TextArea, TextField } from '../../ui/controls.tsx'
import { Form, FormActions } from '../../ui/form.tsx'
import { Columns, ErrorNotice, Panel } from '../../ui/layout/screen.tsx'
import { Table } from '../../ui/table/table.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { RemovedNotice } from './behaviour-panels.tsx'
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
    const put = () => bridge.sandbox.putWatchlist({ name, terms, shown: null })
    change.mutate(() => bridge.sandbox.removeWatchlist({ name }), {
      onSuccess: () => setUndo({ what: `Watchlist ${name}`, put }),
    })
  }
  return (
    <>
      {lists.error !== null && <ErrorNotice error={lists.error} onRetry={lists.refetch} />}
      {change.error !== null && <ErrorNotice error={change.error} onDismiss={change.reset} />}
      {undo !== null && (
        <RemovedNotice
          title={<SafeText text={`${undo.what} removed`} max={160} />}
          onUndo={() => {
            change.mutate(undo.put)
            setUndo(null)
          }}
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
              name,
              entries: terms.length,
              kind: 'watchlist',
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
              name: id,
              entries: items,
              kind: 'index',
              onEdit: () => setOpened({ kind: 'index', id, items }),
              // The items of an index cannot be restored, so it is removed in its editor.
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

/** The edited list; a new one has no name yet. */
type EditedList =
  | { kind: 'watchlist'; name: string | null; terms: SandboxLists['watchlists'][number]['terms'] }
  | { kind: 'index'; id: string | null; items: number }

interface EditorProps<List> {
  list: List
  onSave: (make: () => Promise<SandboxLists>) => Promise<void>
  onClose: () => void
}

/** Shows and edits the terms of a watchlist or the items of an index; opening it reveals them. */
function ListEditor(props: EditorProps<EditedList>) {
  const { list, ...others } = props
  return list.kind === 'watchlist' ? (
    <WatchlistEditor list={list} {...others} />
  ) : (
    <IndexEditor list={list} {...others} />
  )
}

function WatchlistEditor({ list, onSave, onClose }: EditorProps<Extract<EditedList, { kind: 'watchlist' }>>) {
  const [name, setName] = useState(list.name ?? '')
  const [text, setText] = useState(() =>
    list.terms.map(({ term, notes }) => (notes === null ? term : `${term}\t${notes}`)).join('\n'),
  )
  return (
    <EditorDialog
      title={list.name === null ? 'Add a watchlist' : 'Edit the watchlist'}
      name={{ label: 'Name', value: name, isFixed: list.name !== null, onValue: setName }}
      text={{
        label: 'Terms',
        description: 'One on each line, its notes after a tab',
        value: text,
        onValue: setText,
      }}
      onSave={() => {
        const shown = list.name === null ? null : list.terms
        return onSave(() =>
          bridge.sandbox.putWatchlist({ name: name.trim(), terms: parseTerms(text), shown }),
        )
      }}
      onClose={onClose}
    />
  )
}

/** Terms in the format of a file for `--watchlist NAME=FILE`. */
function parseTerms(text: string): { term: string; notes: string | null }[] {
  return toLines(text).map((line) => {
    const [term = '', ...notes] = line.split('\t')
    return { term: term.trim(), notes: notes.length === 0 ? null : notes.join('\t') }
  })
}

function toLines(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== '')
}

function IndexEditor({ list, onSave, onClose }: EditorProps<Extract<EditedList, { kind: 'index' }>>) {
  const [id, setId] = useState(list.id ?? '')
  const [typed, setTyped] = useState<{ text: string; shown: string[] | null } | null>(null)
  const found = useQuery({
    queryKey: [...ask.sandbox.indexItems.key(), list.id],
    queryFn: list.id === null ? skipToken : () => readAddresses(list.id ?? ''),
  })
  // Typing keeps what it began with: the items may be read again meanwhile.
  const shown = typed === null ? (found.data ?? null) : typed.shown
  const text = typed?.text ?? found.data?.join('\n') ?? ''
  // Items that are not loaded must not be replaced by an empty list.
  const isWhole = list.id === null || found.data !== undefined
  return (
    <EditorDialog
      title={list.id === null ? 'Add an index' : 'Edit the index'}
      name={{ label: 'Custom index id', value: id, isFixed: list.id !== null, onValue: setId }}
      text={{
        label: 'Items',
        description: isWhole
          ? 'One address on each line. Saving replaces all items; new ones match by address.'
          : `Reading ${formatCounted(list.items, 'item')}`,
        isDisabled: !isWhole,
        value: text,
        onValue: (text) => setTyped({ text, shown }),
      }}
      error={found.error}
      canSave={isWhole}
      onSave={() => onSave(() => bridge.sandbox.putIndex({ indexId: id.trim(), urls: toLines(text), shown }))}
      onRemove={
        list.id === null ? null : () => onSave(() => bridge.sandbox.removeIndex({ indexId: list.id ?? '' }))
      }
      onClose={onClose}
    />
  )
}

/** The addresses of all items of an index, read a page at a time. */
async function readAddresses(indexId: string): Promise<string[]> {
  const urls: string[] = []
  for (;;) {
    const page = { indexId, offset: urls.length, limit: SANDBOX_PAGE_MAX }
    const { total, items } = await bridge.sandbox.indexItems(page)
    urls.push(...items.map(({ url }) => url))
    if (items.length === 0 || urls.length >= total) return urls
  }
}

function EditorDialog(props: {
  title: string
  name: { label: string; value: string; isFixed: boolean; onValue: (value: string) => void }
  text: {
    label: string
    description: string
    isDisabled?: boolean
    value: string
    onValue: (value: string) => void
  }
  error?: Error | null
  canSave?: boolean
  onSave: () => Promise<void>
  onRemove?: (() => Promise<void>) | null
  onClose: () => void
}) {
  const { name, text, onRemove = null } = props
  const save = useMutation({ mutationFn: (make: () => Promise<void>) => make() })
  const error = props.error ?? save.error
  return (
    <Modal opened size="lg" onClose={props.onClose} title={props.title}>
      <Form onSubmit={() => save.mutate(props.onSave)}>
        <TextField
          label={name.label}
          readOnly={name.isFixed}
          data-autofocus={!name.isFixed}
          value={name.value}
          onValue={name.onValue}
        />
        <TextArea
          label={text.label}
          description={text.description}
          rows={12}
          spellCheck={false}
          disabled={text.isDisabled === true}
          value={text.value}
          onValue={text.onValue}
        />
        <FormActions
          submit="Save"
          onCancel={props.onClose}
          sent={{ error, isPending: save.isPending }}
          isBlocked={name.value.trim() === '' || props.canSave === false}
        >
          {onRemove !== null && (
            <ActionButton
              label="Remove the index"
              variant="subtle"
              color="danger"
              mr="auto"
              onClick={() => save.mutate(onRemove)}
            />
          )}
        </FormActions>
      </Form>
    </Modal>
  )
}

const PAGE_APPEALS = 25

/** The sandbox's appeals: the answer of each, and how often it was read. */
function AppealsPanel(props: { count: number; onChange: (make: () => Promise<SandboxLists>) => void }) {
  const { count, onChange } = props
  const [offset, setOffset] = useState(0)
  const [samples, setSamples] = useState(10)
  const page = useQuery({
    ...ask.sandbox.appeals.queryOptions({ input: { offset, limit: PAGE_APPEALS } }),
    placeholderData: keepPreviousData,
  })
  return (
    <Panel
      title={formatCounted(count, 'appeal')}
      aside={
        count > 0 && (
          <ActionButton
            label="Remove all appeals"
            variant="subtle"
            small
            onClick={() => onChange(() => bridge.sandbox.removeAppeals({ appealId: null }))}
          />
        )
      }
      flush
    >
      {count > 0 && (
        <Table
          className={styles.table}
          caption="Appeals of the sandbox"
          rows={page.data?.appeals ?? []}
          toKey={(appeal) => appeal.appeal_id}
          columns={[
            { title: 'Appeal', cell: (appeal) => <SafeText text={appeal.appeal_id} max={120} /> },
            { title: 'Status', cell: sayStatus },
            { title: 'Review', cell: sayReview },
            { title: 'Read', cell: (appeal) => formatCounted(appeal.reads, 'time') },
            {
              title: 'Actions',
              isActions: true,
              cell: (appeal) => (
                <RowButton
                  label="Remove"
                  name={`Remove appeal ${appeal.appeal_id}`}
                  onPress={() => onChange(() => bridge.sandbox.removeAppeals({ appealId: appeal.appeal_id }))}
                />
              ),
            },
          ]}
        />
      )}
      <Pager offset={offset} limit={PAGE_APPEALS} total={count} noun="appeal" onOffset={setOffset} />
      <div className="p-3-4">
        <AppealForm onAdd={(appeal) => onChange(() => bridge.sandbox.putAppeal(appeal))} />
        <Group gap="xs" align="flex-end">
          <NumberField
            label="Sample appeals"
            min={1}
            max={1_000_000}
            allowDecimal={false}
            clampBehavior="strict"
            value={samples}
            onValue={(value) => value !== null && setSamples(value)}
          />
          <ActionButton
            label={`Create appeal-1 to appeal-${samples}`}
            onClick={() => onChange(() => bridge.sandbox.addSampleAppeals({ samples }))}
          />
        </Group>
      </div>
    </Panel>
  )
}

function sayStatus({ status, reviewed_after_reads: reads, reviewed_after_ms: ms }: ShownAppeal): string {
  if (reads !== null) return `${status}, Reviewed after ${formatCounted(reads, 'read')}`
  return ms === null ? status : `${status}, Reviewed after ${ms / 1000} s`
}

function sayReview({ judgment }: ShownAppeal): string {
  if (judgment.overturned === undefined) return 'does not say'
  return judgment.overturned ? 'overturns the decision' : 'upholds the decision'
}

const REVIEWS = [
  { value: 'upheld', label: 'upholds the decision' },
  { value: 'overturned', label: 'overturns the decision' },
  { value: 'silent', label: 'does not say' },
]

function AppealForm({ onAdd }: { onAdd: (appeal: NewAppeal) => void }) {
  const [appealId, setAppealId] = useState('')
  const [status, setStatus] = useState<NewAppeal['status']>('In Review')
  const [reads, setReads] = useState<number | null>(null)
  const [review, setReview] = useState('upheld')
  return (
    <form
      className={`flex flex-wrap items-end gap-3 p-0 border-0 ${styles.fields}`}
      onSubmit={(event) => {
        event.preventDefault()
        onAdd({
          appealId: appealId.trim(),
          status,
          reviewedAfterReads: status === 'Reviewed' ? null : reads,
          isOverturned: review === 'silent' ? null : review === 'overturned',
        })
        setAppealId('')
      }}
    >
      <TextField label="Id of the new appeal" value={appealId} onValue={setAppealId} />
      <Select
        label="Status"
        data={['In Review', 'Reviewed']}
        value={status}
        onChange={(value) => value !== null && setStatus(value)}
      />
      {status === 'In Review' && (
        <NumberField
          label="Reviewed after reads"
          placeholder="never"
          min={1}
          allowDecimal={false}
          value={reads}
          onValue={(value) => setReads(value)}
        />
      )}
      <Select
        label="The review"
        data={REVIEWS}
        value={review}
        onChange={(value) => setReview(value ?? 'upheld')}
      />
      <ActionButton label="Add the appeal" type="submit" disabled={appealId.trim() === ''} />
    </form>
  )
}
