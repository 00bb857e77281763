import { Group, Progress, Stack } from '@mantine/core'
import { IconPlayerStop } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import type { CapacityProgress } from '../../../shared/bridge/capacity.ts'
import { parseBridgeError } from '../../../shared/bridge/errors.ts'
import { followCapacity } from '../../../shared/bridge/follow.ts'
import type { CapacityProbe, CapacityReport } from '../../../shared/load/capacity-report.ts'
import {
  type CapacityUnit,
  type CapacityView,
  formatLevel,
  toCapacityView,
} from '../../../shared/load/capacity-view.ts'
import {
  formatCount,
  formatCounted,
  formatMs,
  formatRate,
  formatShare,
  formatSpan,
} from '../../../shared/messages/figure-text.ts'
import { ask, bridge } from '../../bridge/client.ts'
import { useFollowRun, useLiveRuns } from '../../bridge/live-runs.ts'
import { useStream } from '../../bridge/use-stream.ts'
import type { NamePlace } from '../../ui/connection/destination.ts'
import { ConnectionChip } from '../../ui/connection/destination-panel.tsx'
import { ActionButton, CopyButton } from '../../ui/controls.tsx'
import { ErrorNotice, type Figure, Figures, Notice, Panel, Screen } from '../../ui/layout/screen.tsx'
import { VerdictLabel } from '../../ui/states/verdict-label.tsx'
import { type Column, Table } from '../../ui/table/table.tsx'
import { SafeText, Sentence } from '../../ui/text/safe-text.tsx'
import styles from './capacity.module.css'
import { CapacityCurve } from './capacity-curve.tsx'

/** A capacity search while it goes on and when it is over: the answer, the probe that is sent, the curve, every probe. */
export function CapacityScreen(props: {
  searchId: string
  /** What an address is called. */
  namePlace: NamePlace
  onOpenRun: (runId: string) => void
}) {
  const { searchId } = props
  const { progress, error } = useCapacity(searchId)
  const stop = useMutation(ask.capacity.stop.mutationOptions())
  if (progress === null) {
    return (
      <Screen title="Capacity" subtitle={error === null ? 'Reading the search' : undefined}>
        {error !== null && <ErrorNotice error={error} />}
      </Screen>
    )
  }
  const { report, isOver, current } = progress
  const view = toCapacityView(report, 'window')
  const failure = error ?? stop.error
  return (
    <Screen
      title={`Capacity with ${report.name}`}
      subtitle={
        <>
          {isOver ? 'search is over' : 'searching'}, service{' '}
          <ConnectionChip place={props.namePlace(report.base_url)} />
        </>
      }
      actions={
        isOver || error !== null ? (
          <CopyButton label="Copy the result as JSON" text={() => JSON.stringify(report, null, 2)} />
        ) : (
          <ActionButton
            label="Stop the search"
            loading={stop.isPending}
            icon={IconPlayerStop}
            onClick={() => stop.mutate({ searchId })}
          />
        )
      }
    >
      {failure !== null && <ErrorNotice error={failure} />}
      <AnswerPanel report={report} view={view} isOver={isOver} />
      {!isOver && error === null && <ProbePanel report={report} unit={view.unit} current={current} />}
      <Panel title="Latency over load" aside={`${report.latency}, medians of each level's probes`}>
        <CapacityCurve report={report} unit={view.unit} />
      </Panel>
      <ProbesPanel probes={report.probes} unit={view.unit} onOpenRun={props.onOpenRun} />
    </Screen>
  )
}

/** Follows a search as long as the screen shows it, also after a lost connection. */
function useCapacity(searchId: string): { progress: CapacityProgress | null; error: unknown } {
  const [progress, setProgress] = useState<CapacityProgress | null>(null)
  const [error, setError] = useState<unknown>(null)
  useStream(
    {
      follow: (signal) => followCapacity(bridge, searchId, signal),
      onSaid: (newest) => {
        setError(null)
        setProgress(newest)
      },
      onEnd: (failure) => {
        if (failure !== null) setError(failure)
        return failure === null || parseBridgeError(failure) !== null ? 'over' : undefined
      },
    },
    searchId,
  )
  return { progress, error }
}

/** What the search found, how sure it is, and what it was judged by. */
function AnswerPanel(props: { report: CapacityReport; view: CapacityView; isOver: boolean }) {
  const { report, view, isOver } = props
  return (
    <Panel title={isOver ? 'Capacity' : 'Capacity so far'} aside={`after ${formatSpan(report.elapsed_ms)}`}>
      <Stack gap="xs">
        <p className="text-figure bold leading-tight">
          {!isOver && report.capacity === null ? 'not known yet' : view.answer}
        </p>
        {view.interval !== '' && <p>{view.interval}</p>}
        {isOver && view.end !== null && (
          <Notice
            kind={report.end === 'max_held' ? 'info' : 'warning'}
            title={<Sentence text={view.end} />}
          />
        )}
        <Group gap="var(--space-1) var(--space-4)" align="stretch">
          <span className="quiet">Thresholds:</span>
          <Group component="ul" gap="var(--space-1) var(--space-4)" align="stretch" aria-label="Thresholds">
            {report.thresholds.map((expression) => (
              <li key={expression}>
                <code>
                  <SafeText text={expression} max={120} />
                </code>
              </li>
            ))}
          </Group>
        </Group>
      </Stack>
    </Panel>
  )
}

/** The probe that is sent now, or the pause after one. */
function ProbePanel(props: {
  report: CapacityReport
  unit: CapacityUnit
  current: CapacityProgress['current']
}) {
  const { report, unit, current } = props
  if (current === null) {
    return (
      <Panel title="Now" aside={countProbes(report)}>
        <p className="quiet">Pause before the next probe.</p>
      </Panel>
    )
  }
  return (
    <Panel
      title={`Probe ${current.number} at ${formatLevel(unit, current.level)}`}
      aside={countProbes(report)}
    >
      <LiveProbe key={current.runId} runId={current.runId} report={report} />
    </Panel>
  )
}

function countProbes({ probes, settings }: CapacityReport): string {
  return `${formatCount(probes.length)} of at most ${formatCount(settings.max_probes)} probes finished`
}

function LiveProbe({ runId, report }: { runId: string; report: CapacityReport }) {
  useFollowRun(runId)
  const load = useLiveRuns((live) => live.snapshots[runId]?.load)
  if (load === null || load === undefined) return <p className="quiet">The rows are being read.</p>
  const { warmup_ms: warmupMs, measured_ms: measuredMs } = report.settings
  const doneMs = warmupMs + load.elapsedMs
  const latency = load.latencyMs[report.latency]
  const isWarmup = load.phase === 'warmup' && warmupMs > 0
  const figures: Figure[] = [
    {
      label: isWarmup ? 'Warm-up, not measured' : 'Measured',
      value: formatSpan(Math.max(0, isWarmup ? doneMs : load.elapsedMs)),
      note: `of ${formatSpan(isWarmup ? warmupMs : measuredMs)}`,
    },
    {
      label: 'Achieved',
      value: load.achievedPerS === null ? '–' : formatRate(load.achievedPerS),
      unit: 'requests/s',
      note: 'in the last second',
    },
    {
      label: 'Did not succeed',
      value: formatShare(load.failed, load.requests),
      note: `${formatCount(load.failed)} of ${formatCount(load.requests)}`,
    },
    {
      label: `${report.latency} p99`,
      value: latency === null || latency === undefined ? '–' : formatMs(latency.p99),
    },
  ]
  return (
    <Stack gap="xs">
      <Progress
        size="sm"
        aria-label="Progress of the probe"
        value={Math.min(100, Math.max(0, (100 * doneMs) / (warmupMs + measuredMs)))}
      />
      <Figures figures={figures} />
    </Stack>
  )
}

const VERDICTS = {
  held: 'held',
  failed: 'failed',
  void: 'void: this machine was the bottleneck',
} as const

/** Every probe in the order in which it was sent; each is a load test that can be opened. */
function ProbesPanel(props: {
  probes: readonly CapacityProbe[]
  unit: CapacityUnit
  onOpenRun: (runId: string) => void
}) {
  const { probes, unit } = props
  if (probes.length === 0) return null
  return (
    <Panel title="Probes" aside={formatCounted(probes.length, 'probe')} flush scrolls>
      <Table
        className={styles.table}
        caption="Probes"
        rows={probes}
        toKey={(probe) => probe.run_id}
        columns={[
          {
            title: 'Probe',
            cell: (probe, index) => (
              <button type="button" className="link" onClick={() => props.onOpenRun(probe.run_id)}>
                Probe {index + 1} at {formatLevel(unit, probe.level)}
              </button>
            ),
          },
          {
            title: 'Verdict',
            cell: ({ verdict, reasons }) => (
              <>
                <VerdictLabel verdict={verdict} word={VERDICTS[verdict]} />
                {reasons.map((reason) => (
                  <p key={reason} className="quiet">
                    <Sentence text={reason} />
                  </p>
                ))}
              </>
            ),
          },
          ...(['p50', 'p95', 'p99'] as const).map(
            (title): Column<CapacityProbe> => ({
              title,
              isNumber: true,
              cell: (probe) => (probe.latency_ms === null ? '–' : formatMs(probe.latency_ms[title])),
            }),
          ),
          {
            title: 'Unsuccessful',
            isNumber: true,
            cell: (probe) => (probe.failed_share === null ? '–' : formatShare(probe.failed_share)),
          },
          { title: 'Succeeded', isNumber: true, cell: (probe) => `${formatRate(probe.succeeded_per_s)}/s` },
        ]}
      />
    </Panel>
  )
}
