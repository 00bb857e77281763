import { Anchor, Group, Modal, Select, Stack } from '@mantine/core'
import { IconInbox } from '@tabler/icons-react'
import { skipToken, useMutation, useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { followReceiver } from '../../../shared/bridge/follow.ts'
import {
  formatBytes,
  formatCount,
  formatCounted,
  formatDuration,
  formatSpan,
} from '../../../shared/messages/figure-text.ts'
import { prettyJson } from '../../../shared/messages/pretty-json.ts'
import {
  type AwaitingRun,
  type CallbackEffect,
  type CallbackOverview,
  type LastRefusal,
  REFUSALS,
  type ReceiverState,
  type ReceiverTest,
  type StoredCallback,
  sayRefusal,
} from '../../../shared/run/callback-overview.ts'
import { askRequest } from '../../bridge/asked-request.ts'
import { ask, bridge, queryClient } from '../../bridge/client.ts'
import { useChangeSettings, useSettings } from '../../bridge/settings.ts'
import { useStream } from '../../bridge/use-stream.ts'
import { parseBaseUrl } from '../../ui/connection/destination.ts'
import { maskJson, useContentShown, useExceptions } from '../../ui/content/user-content.tsx'
import { ActionButton, CopyButton, RevealButton, RowButton, TextField } from '../../ui/controls.tsx'
import { formatTimestamp } from '../../ui/format-time.ts'
import { Empty, ErrorNotice, type Figure, Figures, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { Table } from '../../ui/table/table.tsx'
import { LongText, SafeText } from '../../ui/text/safe-text.tsx'
import styles from './callbacks.module.css'

/** How often the overview is read again, since others add callbacks and rows give up, milliseconds. */
const READ_EVERY_MS = 5_000

/** Where callbacks are received, whether they get there, what arrived, and what is still awaited. */
export function CallbacksScreen({ onOpenRun }: { onOpenRun: (runId: string) => void }) {
  const receiver = useReceiver()
  const overview = useQuery(ask.receiver.overview.queryOptions({ refetchInterval: READ_EVERY_MS }))
  return (
    <Screen title="Callbacks" subtitle={toSubtitle(overview.data)}>
      {overview.error !== null && <ErrorNotice error={overview.error} onRetry={overview.refetch} />}
      {receiver !== undefined && (
        <ReceiverPanel receiver={receiver} elsewhere={overview.data?.baseUrl ?? null} />
      )}
      {overview.data !== undefined && (
        <>
          <AwaitingPanel runs={overview.data.awaiting} onOpenRun={onOpenRun} />
          {hasArrived(overview.data) && <ArrivedPanel overview={overview.data} />}
          <InboxPanel callbacks={overview.data.newest} onOpenRun={onOpenRun} />
        </>
      )}
    </Screen>
  )
}

function toSubtitle(overview: CallbackOverview | undefined): string {
  if (overview === undefined) return 'Reading the workspace'
  const rows = overview.awaiting.reduce((sum, run) => sum + run.rows, 0)
  if (rows === 0) return 'No rows waiting'
  return `${formatCounted(rows, 'row')} of ${formatCounted(overview.awaiting.length, 'run')} waiting`
}

function hasArrived({ received, refused, probes }: CallbackOverview): boolean {
  return received > 0 || probes > 0 || Object.keys(refused).length > 0
}

/** Runs that wait for callbacks, with the number of rows and the deadline. */
function AwaitingPanel(props: { runs: readonly AwaitingRun[]; onOpenRun: (runId: string) => void }) {
  const { runs, onOpenRun } = props
  if (runs.length === 0) return null
  return (
    <Panel title="Awaiting callbacks" aside={formatCounted(runs.length, 'run')} flush scrolls>
      <Table
        className="nowrap"
        rows={runs}
        toKey={({ runId }) => runId}
        columns={[
          {
            title: 'Run',
            className: styles.run,
            cell: (run) => (
              <Anchor component="button" type="button" fz="inherit" onClick={() => onOpenRun(run.runId)}>
                <SafeText text={run.name} max={80} />
              </Anchor>
            ),
          },
          { title: 'Waiting rows', isNumber: true, cell: ({ rows }) => formatCount(rows) },
          { title: 'First row is overdue', cell: (run) => <Moment atMs={run.firstOverdueAtMs} /> },
          { title: 'Last row is overdue', cell: (run) => <Moment atMs={run.lastOverdueAtMs} /> },
        ]}
      />
    </Panel>
  )
}

/** When something is due, and the time left. */
function Moment({ atMs }: { atMs: number }) {
  const leftMs = atMs - Date.now()
  return (
    <>
      {formatTimestamp(new Date(atMs).toISOString())}
      {leftMs > 0 && <div className="quiet">in {formatSpan(leftMs)}</div>}
    </>
  )
}

/** What was received since the workspace was created, what it did, and what was refused, by reason. */
function ArrivedPanel({ overview }: { overview: CallbackOverview }) {
  const { received, refused, lastRefused, probes, counts } = overview
  const kinds = REFUSALS.flatMap((kind) => {
    const times = refused[kind] ?? 0
    return times === 0 ? [] : [[kind, times] as const]
  })
  const figures: Figure[] = [
    { label: 'Stored', value: formatCount(received), note: 'since the workspace was created' },
    { label: 'Settled their row', value: formatCount(counts.settled) },
    { label: 'Late', value: formatCount(counts.late), note: 'settled an overdue or unknown row' },
    { label: 'Duplicates', value: formatCount(counts.doubled), note: 'said the same again' },
    ...(counts.differing === 0
      ? []
      : [{ label: 'Differing', value: formatCount(counts.differing), note: 'kept with their row' }]),
    { label: 'Unreadable', value: formatCount(counts.unreadable), note: 'kept with their row' },
    {
      label: 'Refused',
      value: formatCount(kinds.reduce((sum, [, times]) => sum + times, 0)),
      note: kinds.length === 0 ? undefined : 'changed nothing',
    },
    ...(probes === 0
      ? []
      : [{ label: 'Probes', value: formatCount(probes), note: 'HEAD or GET, answered with 200' }]),
  ]
  return (
    <Panel title="Received" aside="callbacks of deleted runs count only as stored">
      <Figures figures={figures} />
      {kinds.length > 0 && (
        <Table
          look="plain"
          className={styles.refused}
          caption="Reasons for refusing"
          isCaptionShown
          hasNoHead
          rows={kinds}
          columns={[
            { isNumber: true, cell: ([, times]) => formatCount(times) },
            { isRowHead: true, cell: ([kind]) => sayRefusal(kind) },
            { className: 'quiet', cell: ([kind]) => describeLast(lastRefused[kind]) },
          ]}
        />
      )}
    </Panel>
  )
}

/** When the last request of a kind came, and how large it was. */
function describeLast(last: LastRefusal | undefined): string {
  if (last === undefined) return ''
  const size = last.sizeBytes === null ? '' : `, ${formatBytes(last.sizeBytes)}`
  return `last ${formatTimestamp(new Date(last.atMs).toISOString())}${size}`
}

/** Where the receiver listens, its public address, and whether that works. */
function ReceiverPanel(props: {
  /** Null while this process has not opened it. */
  receiver: ReceiverState | null
  /** Where any process of the workspace listens; null if none does. */
  elsewhere: string | null
}) {
  const { receiver, elsewhere } = props
  const stored = useSettings().data?.settings.publicUrl
  const open = useMutation({
    ...ask.receiver.open.mutationOptions(),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ask.receiver.key() }),
  })
  const baseUrl = receiver?.baseUrl ?? elsewhere
  return (
    <Panel title="Receiver" aside={<State receiver={receiver} elsewhere={elsewhere} />}>
      <Stack gap="md">
        {baseUrl === null ? (
          <Stack gap="sm" align="flex-start">
            <p className="shrink max-w-text breaks">
              Runs that need callbacks start it. Start it now to test its address, or to take in callbacks of
              runs that have ended.
            </p>
            <ActionButton
              label="Start listening"
              variant="filled"
              loading={open.isPending}
              onClick={() => open.mutate(undefined)}
            />
          </Stack>
        ) : (
          <Group gap="var(--space-2) var(--space-5)">
            <p className="shrink max-w-text breaks">
              <span className="small block">Address on this machine</span>
              <code>
                <SafeText text={baseUrl} max={300} />
              </code>
            </p>
            <CopyButton label="Copy the address" text={() => baseUrl} />
          </Group>
        )}
        {open.error !== null && <ErrorNotice error={open.error} onDismiss={open.reset} />}
        {stored !== undefined && <PublicAddress stored={stored} baseUrl={baseUrl} />}
        <p className="quiet">
          The port stays the same for this workspace. To listen on another address or port, use{' '}
          <code className="nowrap">sluice receiver</code> with <code className="nowrap">--callback-host</code>{' '}
          and <code className="nowrap">--callback-port</code>.
        </p>
      </Stack>
    </Panel>
  )
}

function State({ receiver, elsewhere }: { receiver: ReceiverState | null; elsewhere: string | null }) {
  if (receiver?.role === 'listening') return <span className="good bold">listening</span>
  if (receiver !== null) return <span>another process listens; this one takes over when it ends</span>
  return <span>{elsewhere === null ? 'not listening' : 'another process listens'}</span>
}

/** The address of a reverse proxy or tunnel to this receiver, and a test of it. */
function PublicAddress({ stored, baseUrl }: { stored: string | null; baseUrl: string | null }) {
  const [changed, setChanged] = useState<string | null>(null)
  const typed = changed ?? stored ?? ''
  const [hasLeft, setLeft] = useState(false)
  const change = useChangeSettings()
  const test = useMutation(ask.receiver.test.mutationOptions())
  const isEmpty = typed.trim() === ''
  const parsed = parseBaseUrl(typed)
  const mistake = isEmpty || parsed.kind === 'url' ? null : parsed.message
  const wanted = isEmpty || parsed.kind !== 'url' ? null : parsed.url
  const address = wanted ?? baseUrl
  return (
    <>
      <Group gap="var(--space-2) var(--space-5)" align="flex-end">
        <TextField
          flex="1 1 24rem"
          maw="48rem"
          label="Public address"
          description="The address of a reverse proxy or tunnel that leads here. New async runs begin with it. If empty, services get the address on this machine."
          placeholder="https://callbacks.example.com"
          value={typed}
          error={hasLeft && mistake !== null ? mistake : undefined}
          onValue={setChanged}
          onBlur={() => setLeft(true)}
          isLiteral
        />
        <Group gap="xs">
          <ActionButton
            label={stored !== null && wanted === stored ? 'Saved' : 'Save'}
            disabled={mistake !== null || wanted === stored}
            loading={change.isPending}
            onClick={() => change.mutate({ publicUrl: wanted })}
          />
          <ActionButton
            label="Test the address"
            disabled={mistake !== null || address === null}
            loading={test.isPending}
            onClick={() => address !== null && test.mutate({ publicUrl: address })}
          />
        </Group>
      </Group>
      {change.error !== null && <ErrorNotice error={change.error} onDismiss={change.reset} />}
      {test.error !== null && <ErrorNotice error={test.error} onDismiss={test.reset} />}
      {test.data !== undefined && (
        <TestResult result={test.data} address={test.variables.publicUrl} baseUrl={baseUrl} />
      )}
    </>
  )
}

function TestResult(props: { result: ReceiverTest; address: string; baseUrl: string | null }) {
  const { result, address, baseUrl } = props
  const { status, answeredMs, arrivedMs } = result
  return (
    <Notice kind="good" title={`A signed callback came back after ${formatDuration(arrivedMs)}`}>
      {address === baseUrl ? (
        <>It went straight to the receiver, which answered {status}.</>
      ) : (
        <>
          It went to <SafeText text={address} max={300} />, which answered {status} after{' '}
          {formatDuration(answeredMs)}, and from there to{' '}
          <SafeText text={baseUrl ?? 'the receiver'} max={300} />.
        </>
      )}{' '}
      It was sent from this machine: the service's own network may still not reach the address.
    </Notice>
  )
}

/**
 * The state of this process's receiver: null while it is closed, undefined until known. Each change makes the
 * overview of callbacks reload.
 */
function useReceiver(): ReceiverState | null | undefined {
  const [receiver, setReceiver] = useState<ReceiverState | null | undefined>(undefined)
  useStream({
    follow: (signal) => followReceiver(bridge, signal),
    onSaid: (state) => {
      setReceiver(state)
      void queryClient.invalidateQueries({ queryKey: ask.receiver.overview.key() })
    },
  })
  return receiver
}

const EFFECTS: Record<CallbackEffect, string> = {
  settled: 'settled its row',
  settled_before: 'of what was sent before a retry or correction',
  doubled: 'duplicate, changed nothing',
  differing: 'differs from the one that counts, kept with its row',
  other_post: 'named another post or item',
  unreadable: 'unreadable, kept with its row',
  measured: 'measured by its load test',
  waiting: 'not processed yet',
  unmatched: 'matched no row',
}

const ALL = 'all'
const CHOICES = [
  { value: ALL, label: 'All' },
  ...Object.entries(EFFECTS).map(([value, words]) => ({
    value,
    label: `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`,
  })),
]

/** The newest callbacks in the inbox with their effects; their content on request. */
function InboxPanel(props: { callbacks: readonly StoredCallback[]; onOpenRun: (runId: string) => void }) {
  const { callbacks, onOpenRun } = props
  const [chosen, setChosen] = useState(ALL)
  const [opened, setOpened] = useState<StoredCallback | null>(null)
  const shown = callbacks.filter(({ effect }) => chosen === ALL || effect === chosen)
  if (callbacks.length === 0) {
    return (
      <Empty icon={IconInbox} title="No callbacks yet">
        Callbacks of async runs are listed here as they arrive, with the row that each settled.
      </Empty>
    )
  }
  return (
    <Panel
      title="Newest in the inbox"
      aside={
        <Group gap="sm" wrap="nowrap">
          <span>
            {chosen !== ALL && `${formatCount(shown.length)} of `}
            {formatCounted(callbacks.length, 'callback')}
          </span>
          <Select
            aria-label="What the callback did"
            w="15rem"
            data={CHOICES}
            value={chosen}
            onChange={(value) => setChosen(value ?? ALL)}
          />
        </Group>
      }
      flush
      scrolls
    >
      <Table
        className="nowrap"
        rows={shown}
        toKey={({ id }) => id}
        toRow={({ effect }) => ({ 'data-effect': effect })}
        empty="No callback matches this filter."
        columns={[
          {
            title: 'Run',
            className: styles.run,
            cell: ({ run }) =>
              run === null ? (
                <span className="quiet">not in this workspace</span>
              ) : (
                <Anchor component="button" type="button" fz="inherit" onClick={() => onOpenRun(run.runId)}>
                  <SafeText text={run.name} max={80} />
                </Anchor>
              ),
          },
          {
            title: 'Row',
            isNumber: true,
            cell: ({ row, file, record }) => (
              <>
                {row ?? `record ${record}`}
                {file !== undefined && (
                  <>
                    {' '}
                    of <SafeText text={file} max={60} />
                  </>
                )}
              </>
            ),
          },
          {
            title: 'Received',
            cell: ({ receivedAtMs }) => formatTimestamp(new Date(receivedAtMs).toISOString()),
          },
          { title: 'What it did', cell: ({ effect }) => EFFECTS[effect] },
          { title: 'Size', isNumber: true, cell: ({ sizeBytes }) => formatBytes(sizeBytes) },
          {
            title: 'Content',
            isTitleHidden: true,
            cell: (callback) => (
              <RowButton
                label="Open"
                name={`Open the callback for ${nameRow(callback)}`}
                onPress={() => setOpened(callback)}
              />
            ),
          },
        ]}
      />
      {opened !== null && <CallbackDialog callback={opened} onClose={() => setOpened(null)} />}
    </Panel>
  )
}

function nameRow({ row, file, record }: StoredCallback): string {
  if (row === null) return `record ${record}`
  return file === undefined ? `row ${row}` : `row ${row} of ${file}`
}

/** The content of one callback; user content is masked until revealed. */
function CallbackDialog({ callback, onClose }: { callback: StoredCallback; onClose: () => void }) {
  const body = useQuery(ask.receiver.readBody.queryOptions({ input: { id: callback.id } }))
  const allShown = useContentShown()
  const [isToggled, changeToggled] = useExceptions(false)
  const isRevealed = isToggled !== allShown
  const { run, row, record } = callback
  const isOfRow = run !== null && row !== null
  const asked = useQuery(
    isOfRow ? askRequest(run.runId, { row: record }) : { queryKey: ['no request'], queryFn: skipToken },
  )
  // Without the request, it is unknown which parts the callback quotes from it.
  const text = isOfRow && asked.isPending ? null : (body.data?.text ?? null)
  const content =
    text === null ? null : { whole: prettyJson(text), masked: prettyJson(maskJson(text, asked.data ?? null)) }
  return (
    <Modal opened size="lg" onClose={onClose} title={`Callback for ${nameRow(callback)}`}>
      {body.error !== null && <ErrorNotice error={body.error} onRetry={body.refetch} />}
      {body.data === null && <p>It is gone: its run was deleted.</p>}
      {text !== null && content !== null && (
        <Stack gap="sm">
          <Group justify="space-between">
            <span className="quiet">
              {formatBytes(callback.sizeBytes)}
              {body.data != null &&
                body.data.length > text.length &&
                `, its first ${formatCount(text.length)} characters`}
            </span>
            {content.whole !== content.masked && (
              <RevealButton
                isRevealed={isRevealed}
                label={isRevealed ? 'Hide the content' : 'Show the content'}
                onClick={() => changeToggled((toggled) => !toggled)}
              />
            )}
          </Group>
          <LongText text={isRevealed ? content.whole : content.masked} label="Callback" />
        </Stack>
      )}
    </Modal>
  )
}
