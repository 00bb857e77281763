import { Group } from '@mantine/core'
import {
  IconChartHistogram,
  IconChecklist,
  IconFlask,
  IconListSearch,
  IconPlus,
  IconSend,
  IconTableImport,
  type TablerIcon,
} from '@tabler/icons-react'
import { keepPreviousData, useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { create } from 'zustand'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import { RUNS_SHOWN, type RunEntries, type RunEntry } from '../../../shared/bridge/runs.ts'
import type { UnreadableRun } from '../../../shared/lookback/run-list.ts'
import { formatCounted } from '../../../shared/messages/figure-text.ts'
import { SOURCE_NAMES_TEXT } from '../../../shared/plan/source-formats.ts'
import { isStoppedWaiting, type RunSummary } from '../../../shared/run/run.ts'
import { describeLeft } from '../../../shared/run/run-view.ts'
import { ask } from '../../bridge/client.ts'
import { useLiveRuns } from '../../bridge/live-runs.ts'
import { useTableView } from '../../bridge/table-view.ts'
import type { NamePlace } from '../../ui/connection/destination.ts'
import { ActionButton, Pager, PrimaryButton, SecondaryActions } from '../../ui/controls.tsx'
import { formatAgo } from '../../ui/format-time.ts'
import { Empty, ErrorNotice, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { SelectionBar } from '../../ui/runs/run-selection.tsx'
import { isNothingFocused } from '../../ui/shortcuts.ts'
import { isLoadTest } from '../../ui/states/run-state.tsx'
import { useTableColumns } from '../../ui/table/table-columns.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { RunAgainDialog } from './run-again-dialog.tsx'
import { CleanUpDialog, DeleteDialog, DeleteUnreadable, UnreadableRuns } from './run-deletion.tsx'
import { type EditedNotes, editNotes, isTyped, RunEditor } from './run-editor.tsx'
import {
  changeFilter,
  FailuresChoice,
  isFiltering,
  NO_FILTER,
  OrderChoice,
  RunFilters,
  toRunQuery,
  useRunList,
} from './run-filters.tsx'
import { RUN_COLUMNS, RunTable, withLive } from './run-table.tsx'
import styles from './runs.module.css'

type Opened =
  | { kind: 'delete'; entry: RunEntry }
  | { kind: 'delete unreadable'; run: UnreadableRun }
  | { kind: 'again'; run: RunSummary }
  | { kind: 'clean up' }

/** Home: every run, with search, filters and actions, and ways to begin a new one. */
export function RunsScreen(props: {
  namePlace: NamePlace
  connections: readonly ConnectionEntry[]
  /** Begins by choosing what to do. */
  onNew: () => void
  onImportK6: () => void
  onChoose: () => void
  onChooseFolder: () => void
  onSandbox: () => Promise<void>
  onOpen: (runId: string) => void
  onOpenSearch: (searchId: string) => void
  onResults: (runId: string) => void
  /** Compares runs, the earliest first. */
  onCompare: (runIds: string[]) => void
}) {
  const wanted = useRunList()
  const list = useQuery({
    ...ask.runs.list.queryOptions({ input: toRunQuery(wanted, Date.now()) }),
    placeholderData: keepPreviousData,
  })
  // They may be older than the page.
  const interrupted = useQuery(
    ask.runs.list.queryOptions({ input: { product: 'run', states: ['interrupted'], limit: RUNS_SHOWN } }),
  )
  const search = useQuery(ask.capacity.newest.queryOptions()).data ?? null
  const sandbox = useMutation({ mutationFn: props.onSandbox })
  const [opened, setOpened] = useState<Opened | null>(null)
  const close = () => setOpened(null)
  useLastPage(list.data)
  const found = list.data ?? null
  const isEmpty = found !== null && found.all === 0 && found.unreadable.length === 0 && found.unread === 0
  const error = list.error ?? sandbox.error
  return (
    <Screen
      title="Runs"
      subtitle={toSubtitle(found)}
      actions={
        found === null || isEmpty ? null : (
          <>
            <SecondaryActions
              actions={[
                { label: 'Clean up…', onPress: () => setOpened({ kind: 'clean up' }) },
                {
                  label: 'Try it with the sandbox',
                  icon: IconFlask,
                  isBusy: sandbox.isPending,
                  onPress: () => sandbox.mutate(),
                },
                { label: 'Import k6 results', onPress: props.onImportK6 },
              ]}
            />
            <PrimaryButton onPress={props.onNew} icon={<IconPlus size="1rem" />}>
              New run
            </PrimaryButton>
          </>
        )
      }
    >
      {error !== null && <ErrorNotice error={error} onRetry={list.refetch} />}
      {interrupted.data !== undefined && (
        <InterruptedBanner entries={interrupted.data.entries} onReview={props.onOpen} />
      )}
      {search !== null && <SearchBanner search={search} onOpen={props.onOpenSearch} />}
      {isEmpty && (
        <Welcome
          busy={sandbox.isPending}
          onNew={props.onNew}
          onChoose={props.onChoose}
          onChooseFolder={props.onChooseFolder}
          onSandbox={() => sandbox.mutate()}
        />
      )}
      {found !== null && found.unreadable.length > 0 && (
        <UnreadableRuns
          runs={found.unreadable}
          onDelete={(run) => setOpened({ kind: 'delete unreadable', run })}
        />
      )}
      {found !== null && !isEmpty && (
        <RunList
          found={found}
          isStale={list.isPlaceholderData}
          namePlace={props.namePlace}
          onOpen={(run) => props.onOpen(run.run_id)}
          onResults={(run) => props.onResults(run.run_id)}
          onAgain={(run) => setOpened({ kind: 'again', run })}
          onDelete={(entry) => setOpened({ kind: 'delete', entry })}
          onCompare={props.onCompare}
        />
      )}
      {opened?.kind === 'again' && (
        <RunAgainDialog
          run={opened.run}
          connections={props.connections}
          onOpen={props.onOpen}
          onClose={close}
        />
      )}
      {opened?.kind === 'clean up' && <CleanUpDialog onClose={close} />}
      {opened?.kind === 'delete' && <DeleteDialog entry={opened.entry} onClose={close} />}
      {opened?.kind === 'delete unreadable' && <DeleteUnreadable run={opened.run} onClose={close} />}
    </Screen>
  )
}

/** Goes back to the last page if the current one is beyond it after deletions. */
function useLastPage(found: RunEntries | undefined): void {
  const offset = useRunList((list) => list.offset)
  useEffect(() => {
    if (found === undefined || found.entries.length > 0 || offset < found.total || offset === 0) return
    const last = Math.max(0, Math.ceil(found.total / RUNS_SHOWN) - 1) * RUNS_SHOWN
    useRunList.setState({ offset: last })
  }, [found, offset])
}

function toSubtitle(found: RunEntries | null): string {
  if (found === null) return 'Reading the workspace'
  const { all: runs, unread } = found
  if (unread > 0) return `${formatCounted(runs, 'run')}. Reading ${formatCounted(unread, 'more journal')}`
  if (runs === 0) return 'None yet'
  return `${formatCounted(runs, 'run')}. Drop a spreadsheet or a folder anywhere to start another`
}

/** Runs whose notes are being edited; what was typed stays while another screen is shown. */
const useEditors = create<{ editing: readonly EditedNotes[] }>(() => ({ editing: [] }))

function setEditing(change: (now: readonly EditedNotes[]) => readonly EditedNotes[]): void {
  useEditors.setState(({ editing }) => ({ editing: change(editing) }))
}

/** The filters, and a page of matching runs. */
function RunList(props: {
  found: RunEntries
  /** Whether the shown runs belong to an earlier query. */
  isStale: boolean
  namePlace: NamePlace
  onOpen: (run: RunSummary) => void
  onResults: (run: RunSummary) => void
  onAgain: (run: RunSummary) => void
  onDelete: (entry: RunEntry) => void
  onCompare: (runIds: string[]) => void
}) {
  const { found, isStale, onCompare, ...actions } = props
  const { entries, total, choices } = found
  const { filter, order, offset } = useRunList()
  const table = useTableView('runs')
  const columns = useTableColumns(RUN_COLUMNS, table.view, table.changeView)
  const { editing } = useEditors()
  useEffect(() => () => setEditing((now) => now.filter(isTyped)), [])
  const snapshots = useLiveRuns((live) => live.snapshots)
  const states = new Map(
    entries.flatMap(({ summary, isHeld }) => {
      const phase = snapshots[summary.run_id]?.phase
      return isHeld && (phase === 'ready' || phase === 'paused' || phase === 'awaiting')
        ? [[summary.run_id, phase] as const]
        : []
    }),
  )
  const endEdit = (runId: string) => {
    setEditing((now) => now.filter(({ run }) => run.run_id !== runId))
    // The focused field is gone.
    requestAnimationFrame(() => isNothingFocused() && focusRun(runId))
  }
  const findEdited = ({ summary }: RunEntry) => editing.find(({ run }) => run.run_id === summary.run_id)
  const toEditor = (edited: EditedNotes) => (
    <RunEditor
      edited={edited}
      onEdit={(next) => setEditing((now) => now.map((one) => (one.run === next.run ? next : one)))}
      knownTags={choices.tags}
      onClose={() => endEdit(edited.run.run_id)}
    />
  )
  const isAway = ({ run }: EditedNotes) => !entries.some(({ summary }) => summary.run_id === run.run_id)
  return (
    <>
      <RunFilters choices={choices} namePlace={props.namePlace} />
      <Panel
        title={isFiltering(filter) ? `${formatCounted(total, 'run')} of ${found.all}` : 'All runs'}
        aside={
          <>
            <FailuresChoice />
            <OrderChoice />
            {columns.menu}
          </>
        }
        flush
      >
        {table.error !== null && <ErrorNotice error={table.error} />}
        <SelectionBar shown={entries} onCompare={onCompare} />
        {editing.filter(isAway).map((edited) => (
          <div key={edited.run.run_id} className="p-3-4">
            <p className="quiet">
              <SafeText text={edited.run.name} max={120} /> is not on this page.
            </p>
            {toEditor(edited)}
          </div>
        ))}
        {entries.length === 0 ? (
          <Empty
            icon={IconListSearch}
            title={found.unread > 0 ? 'No run matches so far' : 'No run matches'}
            actions={<ActionButton label="Show all runs" onClick={() => changeFilter(NO_FILTER)} />}
          >
            A run has to match every filter. Clear some, or search for fewer words.
          </Empty>
        ) : (
          <div aria-busy={isStale} className={styles.page}>
            <RunTable
              {...actions}
              entries={entries.map((entry) => withLive(entry, snapshots[entry.summary.run_id]))}
              states={states}
              nowMs={Date.now()}
              order={order}
              columns={columns}
              onOrder={(chosen) => useRunList.setState({ order: chosen, offset: 0 })}
              onEdit={(entry) => {
                if (findEdited(entry) !== undefined) return
                setEditing((now) => [...now.filter(isTyped), editNotes(entry.summary)])
              }}
              toEditor={(entry) => {
                const edited = findEdited(entry)
                return edited === undefined ? null : toEditor(edited)
              }}
            />
          </div>
        )}
        <Pager
          offset={offset}
          limit={RUNS_SHOWN}
          total={total}
          noun="run"
          onOffset={(next) => useRunList.setState({ offset: next })}
        />
      </Panel>
    </>
  )
}

function focusRun(runId: string): void {
  for (const row of document.querySelectorAll<HTMLElement>('tr[data-run]')) {
    if (row.dataset['run'] === runId) row.querySelector('button')?.focus()
  }
}

/** Links to the most recently started capacity search. */
function SearchBanner(props: {
  search: { searchId: string; name: string; isOver: boolean }
  onOpen: (searchId: string) => void
}) {
  const { searchId, name, isOver } = props.search
  return (
    <Notice
      kind="info"
      title={
        <>
          Capacity search with <SafeText text={name} max={60} />: {isOver ? 'over' : 'searching'}
        </>
      }
      actions={<ActionButton label="Open the search" onClick={() => props.onOpen(searchId)} />}
    />
  )
}

/** Says that a run was cut off, what is left of it, and where to view and continue it. */
function InterruptedBanner(props: { entries: RunEntry[]; onReview: (runId: string) => void }) {
  const cut = props.entries.filter(
    ({ summary }) =>
      !isLoadTest(summary) &&
      summary.state === 'interrupted' &&
      summary.rows.not_sent + summary.rows.awaiting > 0,
  )
  const newest = cut[0]?.summary
  if (newest === undefined) return null
  return (
    <Notice
      kind="warning"
      title={
        <>
          <SafeText text={newest.name} max={60} /> was interrupted{' '}
          {formatAgo(newest.ended_at ?? newest.started_at ?? newest.created_at, Date.now())}
        </>
      }
      actions={<ActionButton label="Review and resume" onClick={() => props.onReview(newest.run_id)} />}
    >
      {describeLeft(newest)}.{' '}
      {isStoppedWaiting(newest)
        ? 'All rows were sent; resume to keep waiting.'
        : 'Nothing is sent until you resume.'}
      {cut.length > 1 && ` ${formatCounted(cut.length - 1, 'more run')} in the same state below.`}
    </Notice>
  )
}

const STEPS: { icon: TablerIcon; title: string; text: string }[] = [
  {
    icon: IconTableImport,
    title: 'Look',
    text: 'See how the file is read, and correct encoding, delimiter and header until it is right.',
  },
  {
    icon: IconChecklist,
    title: 'Check',
    text: 'Columns become fields. Every row is checked, and what is wrong is listed by cause.',
  },
  {
    icon: IconSend,
    title: 'Send',
    text: 'Ten rows to try, then all of them. Pause and resume; nothing is sent twice unless you say so.',
  },
  {
    icon: IconChartHistogram,
    title: 'Measure',
    text: 'Which rules trigger, what fails and why, and how fast the service answers.',
  },
]

/** The home screen before the first run: two ways to begin, and what they do. */
function Welcome(props: {
  busy: boolean
  onNew: () => void
  onChoose: () => void
  onChooseFolder: () => void
  onSandbox: () => void
}) {
  return (
    <>
      <div className="grid two-columns gap-4">
        <section
          className={`stack items-center gap-2 rounded-large bg-surface ${styles.start} ${styles.drop}`}
          aria-labelledby="start-file"
        >
          <IconTableImport size="2rem" stroke={1.25} className="quiet" aria-hidden />
          <h2 id="start-file" className="text-lg bold">
            Drop a spreadsheet or a folder
          </h2>
          <p>
            Anywhere in this window. {SOURCE_NAMES_TEXT}, any size, any encoding. Nothing is sent before you
            say so.
          </p>
          <Group gap="xs" align="stretch" wrap="nowrap">
            <PrimaryButton onPress={props.onChoose}>Choose a spreadsheet</PrimaryButton>
            <ActionButton label="Choose a folder" onClick={props.onChooseFolder} />
          </Group>
        </section>
        <section
          className={`stack items-center gap-2 rounded-large bg-surface ${styles.start}`}
          aria-labelledby="start-sandbox"
        >
          <IconFlask size="2rem" stroke={1.25} className="quiet" aria-hidden />
          <h2 id="start-sandbox" className="text-lg bold">
            No account yet?
          </h2>
          <p>
            The sandbox is a small moderation service inside this app, with a sample to send. Nothing leaves
            this machine.
          </p>
          <ActionButton label="Try it with the sandbox" loading={props.busy} onClick={props.onSandbox} />
        </section>
      </div>
      <p className={`quiet ${styles.more}`}>
        Index items, watchlist terms, appeals, or answers by callback?{' '}
        <button type="button" className="link" onClick={props.onNew}>
          Choose what to do first
        </button>
      </p>
      <ol className={`grid ${styles.steps}`} aria-label="How it goes">
        {STEPS.map(({ icon: Icon, title, text }, index) => (
          <li key={title}>
            <h3 className="row gap-2 text-sm bold">
              <Icon size="1.1rem" stroke={1.5} aria-hidden />
              {index + 1}. {title}
            </h3>
            <p className="mt-1 quiet">{text}</p>
          </li>
        ))}
      </ol>
    </>
  )
}
