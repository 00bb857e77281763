import { Group, Modal } from '@mantine/core'
import {
  IconActivity,
  IconChartLine,
  IconDatabaseSearch,
  IconDownload,
  IconFileSettings,
  IconGauge,
  IconListSearch,
  IconPencil,
  IconRepeat,
  IconReportAnalytics,
  IconTags,
} from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import type { ConnectionEntry } from '../../../shared/bridge/connections.ts'
import { formatCount, formatCounted } from '../../../shared/messages/figure-text.ts'
import { countUnsuccessful, type RunSummary, toShownState } from '../../../shared/run/run.ts'
import { describeExtent } from '../../../shared/run/run-view.ts'
import { ask, useConnection } from '../../bridge/client.ts'
import { useLiveRuns } from '../../bridge/live-runs.ts'
import { readResultsAhead } from '../../bridge/read-ahead.ts'
import { describePhase, toDisplayState } from '../../features/run/progress-panel.tsx'
import { RunAgainDialog } from '../../features/runs/run-again-dialog.tsx'
import { editNotes, RunEditor } from '../../features/runs/run-editor.tsx'
import type { NamePlace } from '../../ui/connection/destination.ts'
import { ConnectionChip } from '../../ui/connection/destination-panel.tsx'
import { ActionButton } from '../../ui/controls.tsx'
import { ScreenFrame } from '../../ui/layout/screen.tsx'
import { dismissToast } from '../../ui/layout/toasts.tsx'
import { isLoadTest, RunStateLabel } from '../../ui/states/run-state.tsx'
import { SafeText } from '../../ui/text/safe-text.tsx'
import { goTo, type Route, type RunPlace, toHash } from '../route.ts'
import { toEndKey } from '../run-endings.tsx'
import { type Place, PlaceLink } from './rail.tsx'
import styles from './shell.module.css'

export interface RunTraits {
  runId: string
  /** Whether it is a load test, which has a single screen for its measurements. */
  isLoad: boolean
  /** Whether its rows trigger rules, which can be labelled and evaluated. */
  hasRules: boolean
  /** The capacity search that it is a probe of; null if there is none. */
  searchId: string | null
}

/** The screens of a run, in the order of their use. */
export function toTabs({ runId, isLoad, hasRules, searchId }: RunTraits): Place[] {
  const toRun = (kind: RunPlace): Route => ({ kind, runId })
  const isDecided = !isLoad && hasRules
  const tabs: readonly (Place | false)[] = [
    searchId !== null && { label: 'Capacity search', icon: IconGauge, route: { kind: 'capacity', searchId } },
    { label: 'Overview', icon: IconActivity, route: toRun('run') },
    !isLoad && {
      label: 'Results',
      icon: IconListSearch,
      route: toRun('results'),
      onApproach: () => readResultsAhead(runId),
    },
    isDecided && { label: 'Labelling', icon: IconTags, route: toRun('labelling') },
    isDecided && { label: 'Evaluate', icon: IconReportAnalytics, route: toRun('evaluate') },
    { label: 'Export', icon: IconDownload, route: toRun('export') },
    { label: 'Trend', icon: IconChartLine, route: toRun('trend') },
    !isLoad && { label: 'SQL', icon: IconDatabaseSearch, route: toRun('sql') },
    { label: 'Plan', icon: IconFileSettings, route: toRun('plan') },
  ]
  return tabs.filter((tab) => tab !== false)
}

/** The head of every screen of a run: the run's name, its state, its destination, and the tabs below. */
export function RunFrame(props: {
  route: Extract<Route, { runId: string }>
  namePlace: NamePlace
  connections: readonly ConnectionEntry[]
  children: ReactNode
}) {
  const { route, children } = props
  const { runId } = route
  const summary = useLiveRuns((live) => live.summaries[runId])
  const search = useQuery(ask.capacity.newest.queryOptions()).data ?? null
  const tabs = toTabs({
    runId,
    isLoad: summary !== undefined && isLoadTest(summary),
    hasRules: (summary?.operation ?? 'task') === 'task',
    searchId: search?.runIds.includes(runId) ? search.searchId : null,
  })
  const here = toHash(route)
  // Nobody who sees the run needs a message about its end.
  useEffect(() => dismissToast(toEndKey(runId)), [runId])
  return (
    <ScreenFrame
      value={{
        ...(summary !== undefined && { of: summary.name }),
        head: (
          <RunHead
            route={route}
            summary={summary}
            namePlace={props.namePlace}
            connections={props.connections}
          />
        ),
        below: (
          <nav aria-label="Screens of the run" className={`flex-none border-b bg-surface ${styles.tabs}`}>
            <Group component="ul" gap="0 var(--space-1)" align="stretch">
              {tabs.map((place) => (
                <li key={place.label}>
                  <PlaceLink place={place} here={toHash(place.route) === here ? 'page' : undefined} />
                </li>
              ))}
            </Group>
          </nav>
        ),
      }}
    >
      {children}
    </ScreenFrame>
  )
}

/** Screens where a retry shows only its own rows; elsewhere it is shown with its whole run. */
const OWN_ROWS: ReadonlySet<Route['kind']> = new Set(['results', 'labelling', 'evaluate', 'export', 'sql'])

function RunHead(props: {
  route: Extract<Route, { runId: string }>
  summary: RunSummary | undefined
  namePlace: NamePlace
  connections: readonly ConnectionEntry[]
}) {
  const { route, summary } = props
  const { runId } = route
  const phase = useLiveRuns((live) => live.snapshots[runId]?.phase)
  const hasFailed = useLiveRuns((live) => live.errors[runId] !== undefined)
  const isLost = useConnection(({ state }) => state === 'lost')
  const [opened, setOpened] = useState<'notes' | 'again' | null>(null)
  const close = () => setOpened(null)
  if (summary === undefined || phase === undefined) {
    // Laid out like the head of a loaded run, so that nothing moves then and the title keeps the focus.
    return (
      <div className={`min-w-0 ${styles.runHead}`}>
        <div className={styles.runTitle}>
          <h1 className="truncate text-lg bold leading-tight">
            {hasFailed ? 'This run cannot be read' : 'Reading the run'}
          </h1>
        </div>
        <p className={`quiet ${styles.runStanding}`}>&nbsp;</p>
      </div>
    )
  }
  const isLoad = isLoadTest(summary)
  const extent = phase === 'ended' ? describeExtent(summary) : null
  // A trial did not send the other rows on purpose.
  const notSent = extent === null ? summary.rows.not_sent : 0
  const missing =
    phase === 'ended' && !isLoad && route.kind !== 'run' ? describeMissing(summary.rows, notSent) : null
  const standing =
    phase === 'ended'
      ? toShownState(summary)
      : isLost
        ? 'not connected'
        : toDisplayState(phase, summary.state)
  return (
    <div className={`min-w-0 ${styles.runHead}`}>
      <div className={styles.runTitle}>
        <h1 className="truncate text-lg bold leading-tight" title={summary.name}>
          <SafeText text={summary.name} max={200} />
        </h1>
        <ActionButton
          className="flex-none"
          label="Edit"
          variant="subtle"
          color="gray"
          small
          leftSection={<IconPencil size="0.875rem" aria-hidden />}
          aria-label="Edit name, tags and note"
          onClick={() => setOpened('notes')}
        />
        {phase !== 'intake' && phase !== 'ready' && (
          <ActionButton
            className="flex-none"
            label="Run again…"
            variant="subtle"
            color="gray"
            small
            leftSection={<IconRepeat size="0.875rem" aria-hidden />}
            onClick={() => setOpened('again')}
          />
        )}
      </div>
      <p className={`quiet ${styles.runStanding}`}>
        <RunStateLabel state={standing} isLoadTest={isLoad} />,{' '}
        {isLoad ? 'load test of' : extent === null ? describePhase(phase) : `${extent} to`}{' '}
        <ConnectionChip place={props.namePlace(summary.base_url, summary.connection)} />
        {missing !== null && <> · {missing}</>}
      </p>
      {summary.whole_run !== null && OWN_ROWS.has(route.kind) && (
        <p className={`quiet ${styles.runStanding}`}>
          This is a retry. This screen only shows its {formatCounted(summary.rows.read, 'row')}.{' '}
          <a href={toHash({ ...route, runId: summary.whole_run.run_id })}>Show the whole run</a>
        </p>
      )}
      {opened === 'notes' && <NotesDialog run={summary} onClose={close} />}
      {opened === 'again' && (
        <RunAgainDialog
          run={summary}
          connections={props.connections}
          onOpen={(other) => {
            close()
            goTo({ kind: 'run', runId: other })
          }}
          onClose={close}
        />
      )}
    </div>
  )
}

/** How many rows did not succeed or were not sent: `3 of 30 rows did not succeed`; null if all succeeded. */
function describeMissing(rows: RunSummary['rows'], notSent: number): string | null {
  const unsuccessful = countUnsuccessful(rows)
  const of = `of ${formatCounted(rows.read, 'row')}`
  if (unsuccessful === 0) return notSent === 0 ? null : `${formatCount(notSent)} ${of} not sent`
  const others = notSent === 0 ? '' : `, ${formatCount(notSent)} not sent`
  return `${formatCount(unsuccessful)} ${of} did not succeed${others}`
}

function NotesDialog({ run, onClose }: { run: RunSummary; onClose: () => void }) {
  const list = useQuery(ask.runs.list.queryOptions({ input: { limit: 1 } }))
  const [edited, setEdited] = useState(() => editNotes(run))
  return (
    <Modal opened onClose={onClose} title="Name, tags and note">
      <RunEditor
        edited={edited}
        onEdit={setEdited}
        knownTags={list.data?.choices.tags ?? []}
        onClose={onClose}
      />
    </Modal>
  )
}
