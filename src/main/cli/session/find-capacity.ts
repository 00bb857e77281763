import { setTimeout as wait } from 'node:timers/promises'
import {
  type CapacityOutcome,
  type CapacityPlan,
  type CapacityProbe,
  capacityReportSchema,
  judgeProbe,
  toCapacityReport,
  toProbePace,
} from '../../../shared/load/capacity-report.ts'
import { chooseNextStep } from '../../../shared/load/capacity-search.ts'
import type { Load } from '../../../shared/load/load.ts'
import { EXIT, type ExitCode } from '../../../shared/messages/error-entry.ts'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { Plan } from '../../../shared/plan/plan.ts'
import type { StoredConnection } from '../../../shared/plan/stored-connection.ts'
import type { RunSummary } from '../../../shared/run/run.ts'
import type { Engine } from '../../engine/engine-interface.ts'
import { type CliContext, watchInterrupts } from '../context.ts'
import type { RunTimeFlags } from '../options/sending-options.ts'
import type { ReportingFlags } from '../options/shared-options.ts'
import {
  describeCapacitySearch,
  formatCapacityReport,
  formatLevel,
  formatProbe,
} from '../summary/capacity-text.ts'
import { toPrintable } from '../terminal/output.ts'
import { confirmProduction } from './consent.ts'
import type { MetricsServer } from './metrics.ts'
import type { RunAccess } from './run-access.ts'
import { followRun, printSummary, toExitCode } from './settle-run.ts'

/** A plan of a load test. */
type LoadPlan = Plan & { load: Load }

/** A capacity search: the plan's load test is its probe. */
interface CapacitySearch {
  plan: LoadPlan
  capacity: CapacityPlan
  flags: RunTimeFlags
  /** The connection to ask about since it is marked as production; null where there is none. */
  guarded: StoredConnection | null
  metrics: MetricsServer | null
}

const EXITS: Readonly<Partial<Record<CapacityOutcome['end'], ExitCode>>> = {
  found: EXIT.ok,
  max_held: EXIT.ok,
  none_held: EXIT.thresholdCrossed,
  interrupted: EXIT.interrupted,
}

/**
 * Says what it is about to do to the service and asks for consent, then sends one load test after the other until the
 * capacity is known (docs/load-tests.md §11), and prints the report. Returns the exit code.
 */
export async function searchCapacity(
  context: CliContext,
  engine: Engine,
  search: CapacitySearch,
  access: RunAccess,
): Promise<ExitCode> {
  if (!(await confirmSearch(context, search))) {
    await context.err.writeLine('Nothing was sent.')
    return EXIT.badInput
  }
  const outcome = await sendProbes(context, engine, search, access)
  if ('unsent' in outcome) {
    await printSummary(context, engine, outcome.unsent, search.flags)
    return toExitCode(outcome.unsent)
  }
  return printReport(context, search, outcome)
}

/** Prints what a search found; returns the exit code. */
export async function printReport(
  context: CliContext,
  { plan, capacity, flags }: Pick<CapacitySearch, 'plan' | 'capacity'> & { flags: ReportingFlags },
  outcome: CapacityOutcome,
): Promise<ExitCode> {
  const report = toCapacityReport(plan, capacity, outcome)
  await context.out.writeLine(
    flags.json
      ? JSON.stringify(capacityReportSchema.parse(report), null, 2)
      : formatCapacityReport(context.outTerminal, report),
  )
  return EXITS[report.end] ?? EXIT.rowsFailed
}

/** Says what the search does; on a terminal, asks whether to begin. */
async function confirmSearch(
  context: CliContext,
  { plan, capacity, flags, guarded }: CapacitySearch,
): Promise<boolean> {
  const { load } = plan
  const { baseUrl } = plan.connection
  const mustAsk = context.canAsk && !flags.yes
  if (mustAsk || !flags.quiet) {
    const lines = describeCapacitySearch(context.errTerminal, { baseUrl, capacity, load })
    await context.err.writeLine(lines.join('\n'))
  }
  if (guarded !== null) {
    return confirmProduction(context, guarded, baseUrl, 'more and more load, until it fails,')
  }
  return !mustAsk || context.ask('Start the search?')
}

/** Sends probes as load tests of the engine, each shown when it ends, until the search ends or Ctrl-C. */
async function sendProbes(
  context: CliContext,
  engine: Engine,
  { plan, capacity, flags, metrics }: CapacitySearch,
  access: RunAccess,
): Promise<SearchEnd> {
  const interruption = watchInterruption()
  try {
    return await findCapacity(plan, capacity, {
      send: async (probe) => {
        const handle = await engine.startRun(probe, access.readSecrets())
        if (metrics !== null) handle.onSnapshot(metrics.update)
        return interruption.follow(() =>
          followRun(context, handle, { quiet: flags.quiet === true, followKey: access.followKey }),
        )
      },
      onJudged: async (probe, number) => {
        if (flags.quiet) return
        await context.err.writeLine(formatProbe(context.errTerminal, capacity, probe, number))
      },
      pause: interruption.pause,
      isInterrupted: interruption.happened,
      nowMs: () => performance.now(),
    })
  } finally {
    interruption.close()
  }
}

/** How a search ended; `unsent` is the first probe where none of its rows could be sent. */
type SearchEnd = CapacityOutcome | { unsent: RunSummary }

/** What a search needs from outside. */
interface SearchSteps {
  /** Runs one load test to its end. */
  send(probe: Plan): Promise<RunSummary>
  onJudged(probe: CapacityProbe, number: number): Promise<void>
  /** Waits that long, or until the search is interrupted. */
  pause(ms: number): Promise<void>
  isInterrupted(): boolean
  nowMs(): number
}

/** Sends one probe after the other, chosen by those before, until the search ends. */
export async function findCapacity(
  plan: LoadPlan,
  capacity: CapacityPlan,
  { send, onJudged, pause, isInterrupted, nowMs }: SearchSteps,
): Promise<SearchEnd> {
  const probes: CapacityProbe[] = []
  const startedMs = nowMs()
  const end = (how: CapacityOutcome['end'], error: string | null = null): CapacityOutcome => ({
    ...{ end: how, error, probes },
    elapsedMs: nowMs() - startedMs,
  })
  try {
    for (;;) {
      const step = chooseNextStep(capacity, probes, nowMs() - startedMs)
      if (step.kind === 'end') return end(step.end)
      if (probes.length > 0) await pause(capacity.coolDownMs)
      if (isInterrupted()) return end('interrupted')
      const { level } = step
      const name = `${plan.name}, probe ${probes.length + 1} at ${formatLevel(capacity.unit, level)}`
      const summary = await send({
        ...plan,
        name,
        load: { ...plan.load, pace: toProbePace(capacity, level) },
      })
      const isCrossed = summary.thresholds?.some(({ ok }) => !ok) === true
      if (summary.state === 'interrupted') return end('interrupted')
      if (probes.length === 0 && summary.requests.sent === 0) return { unsent: summary }
      if (summary.state === 'stopped' && !isCrossed) return end('broken_off', summary.stop_reason)
      const judged = judgeProbe(level, summary)
      probes.push(judged)
      await onJudged(judged, probes.length)
    }
  } catch (error) {
    // What was measured is kept and shown; without a finished probe, the error says it all.
    if (!(error instanceof SluiceError) || probes.length === 0) throw error
    return end('broken_off', toPrintable(error.message))
  }
}

/** Notes Ctrl-C for the whole search; while a probe is followed, the probe itself ends by it. */
function watchInterruption() {
  const controller = new AbortController()
  let isFollowing = false
  const stop = watchInterrupts({
    first: () => controller.abort(),
    second: () => {
      if (!isFollowing) process.exit(EXIT.interrupted)
    },
  })
  return {
    happened: () => controller.signal.aborted,
    /** Waits that long, or until it is interrupted. */
    pause: (ms: number) => wait(ms, undefined, { signal: controller.signal }).catch(() => {}),
    follow: async <T>(work: () => Promise<T>): Promise<T> => {
      isFollowing = true
      try {
        return await work()
      } finally {
        isFollowing = false
      }
    },
    close: stop,
  }
}
