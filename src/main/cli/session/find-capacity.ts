import { setTimeout as wait } from 'node:timers/promises'
import type { CapacityPlan } from '../../../shared/load/capacity-plan.ts'
import {
  type CapacityOutcome,
  capacityReportSchema,
  toCapacityReport,
} from '../../../shared/load/capacity-report.ts'
import { findCapacity, type LoadPlan, type SearchEnd } from '../../../shared/load/find-capacity.ts'
import { EXIT, type ExitCode } from '../../../shared/messages/error-entry.ts'
import { SluiceError, toSluiceError } from '../../../shared/messages/errors.ts'
import type { StoredConnection } from '../../../shared/plan/stored-connection.ts'
import {
  toCapacityAnswer,
  toCapacityForecast,
  toProbeReport,
} from '../../../shared/report/capacity-report.ts'
import type { ProblemGroup } from '../../../shared/run/problem.ts'
import type { Engine } from '../../engine/engine.ts'
import { type CliContext, watchInterrupts } from '../context.ts'
import { writeDocument } from '../documents/write-document.ts'
import type { RunTimeFlags } from '../options/sending-options.ts'
import type { ReportingFlags } from '../options/shared-options.ts'
import { toFollowOptions } from '../progress/progress-reporter.ts'
import { formatReport } from '../terminal/report-text.ts'
import { confirmSending, printOpenWarnings } from './consent.ts'
import { addStepSummary, toSummaryPart } from './github-actions.ts'
import type { LoadOutputs } from './load-outputs.ts'
import type { RunAccess } from './run-access.ts'
import { followRun, printSummary, toExitCode } from './settle-run.ts'

/** A capacity search: the plan's load test is its probe. */
interface CapacitySearch {
  plan: LoadPlan
  capacity: CapacityPlan
  flags: RunTimeFlags
  /** The production connection to ask about; null if there is none. */
  guarded: StoredConnection | null
  /** Causes of warnings that the plan accepts if a person agrees. */
  open: readonly ProblemGroup[]
  outputs: LoadOutputs
}

const EXITS: Readonly<Partial<Record<CapacityOutcome['end'], ExitCode>>> = {
  found: EXIT.ok,
  max_held: EXIT.ok,
  none_held: EXIT.thresholdCrossed,
  interrupted: EXIT.interrupted,
}

/**
 * Says what it will do to the service, asks for consent, then runs load tests until the capacity is known
 * (docs/load-tests.md §11), and prints the report. Returns the exit code.
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
  const answer = toCapacityAnswer(report, `${context.outTerminal.commandPrefix} runs`)
  if (flags.json) await writeDocument(context.out, capacityReportSchema.parse(report))
  else await context.out.writeLine(formatReport(context.outTerminal, answer))
  await addStepSummary(context, () => toSummaryPart('Capacity', answer))
  return EXITS[report.end] ?? EXIT.rowsFailed
}

/** Says what the search does; on a terminal, asks whether to begin. */
async function confirmSearch(
  context: CliContext,
  { plan, capacity, flags, guarded, open }: CapacitySearch,
): Promise<boolean> {
  const { load } = plan
  const { baseUrl } = plan.connection
  const mustAsk = context.canAsk && (!flags.yes || open.length > 0)
  if (mustAsk || !flags.quiet) {
    const forecast = toCapacityForecast(baseUrl, capacity, load)
    await context.err.writeLine(formatReport(context.errTerminal, [forecast]))
  }
  if (guarded !== null) {
    const what = 'more and more load, until it fails,'
    return (await confirmSending(context, { what, baseUrl, guarded, open })) !== null
  }
  if (open.length > 0) await printOpenWarnings(context, open)
  return !mustAsk || context.ask('Start the search?')
}

/** Sends probes as load tests of the engine, each shown when it ends, until the search ends or Ctrl-C. */
async function sendProbes(
  context: CliContext,
  engine: Engine,
  { plan, capacity, flags, outputs }: CapacitySearch,
  access: RunAccess,
): Promise<SearchEnd> {
  const interruption = watchInterruption()
  let probes = 0
  try {
    return await findCapacity(plan, capacity, {
      send: async (probe) => {
        const handle = await engine.runs.startRun(probe, await access.readSecrets())
        outputs.follow(handle)
        const summary = await interruption.follow(() =>
          followRun(context, handle, { ...toFollowOptions(flags), followKey: access.followKey }),
        )
        probes += 1
        return summary
      },
      onJudged: async (probe, number) => {
        if (flags.quiet) return
        await context.err.writeLine(
          formatReport(context.errTerminal, [toProbeReport(capacity.unit, probe, number)]),
        )
      },
      pause: interruption.pause,
      isInterrupted: interruption.happened,
      nowMs: () => performance.now(),
    })
  } catch (error) {
    const failure = toSluiceError(error)
    // 2 would mean that nothing was sent.
    if (probes === 0 || failure.exitCode !== EXIT.badInput) throw failure
    throw new SluiceError({ id: 'search_broke_off', reason: failure.message, probes }, { cause: error })
  } finally {
    interruption.close()
  }
}

/** Notes Ctrl-C for the whole search; during a probe, it ends the probe. */
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
    /** Waits `ms` milliseconds, or until interrupted. */
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
