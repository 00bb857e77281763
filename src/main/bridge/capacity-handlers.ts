import { randomBytes } from 'node:crypto'
import type { CapacityProgress } from '../../shared/bridge/capacity.ts'
import { type CapacityPlan, planCapacity, toCapacityThresholds } from '../../shared/load/capacity-plan.ts'
import {
  type CapacityOutcome,
  type CapacityProbe,
  toCapacityReport,
} from '../../shared/load/capacity-report.ts'
import { findCapacity, type LoadPlan } from '../../shared/load/find-capacity.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import type { RunHandle } from '../engine/engine-interface.ts'
import type { BridgeContext, BridgeServices, Handlers } from './bridge-context.ts'
import type { CapacitySearch } from './capacity-searches.ts'
import { createListeners } from './event-stream.ts'
import { findRunSecrets } from './run-key.ts'
import { holdRun, toPlan } from './runs-handlers.ts'
import { sayAccepted } from './sending-sheet.ts'
import { watch } from './watch-handlers.ts'

/** Least time between two updates of a search: at most two a second. */
const INTERVAL_MS = 500

export const capacityHandlers: Handlers<'capacity'> = {
  start: async ({ context, input: { request, bounds, apiKey, accept }, signal }) => {
    const { load, ...plan } = await toPlan(context, request)
    if (load === undefined) throw new SluiceError({ id: 'capacity_not_searchable', mistake: 'no_load' })
    const planned = planCapacity(load, bounds)
    if (!planned.ok) throw new SluiceError({ id: 'capacity_not_searchable', mistake: planned.mistake })
    refuseSecond(context)
    const probe = {
      ...plan,
      ...(accept !== undefined && { accept }),
      load: { ...load, thresholds: toCapacityThresholds(load) },
    }
    const searchId = randomBytes(16).toString('hex')
    const { start, max, unit } = planned.plan
    await context.productionGate.passOnce(
      {
        runId: searchId,
        plan: probe,
        rows: null,
        search: { start, max, unit },
        listNotes: async () => (probe.accept ?? []).map(sayAccepted),
      },
      signal,
    )
    // Another window may have started a search while the person was asked.
    refuseSecond(context)
    context.capacitySearches.add(startSearch(context, searchId, probe, planned.plan, apiKey))
    return { searchId }
  },
  stop: ({ context, input }) => context.capacitySearches.require(input.searchId).stop(),
  newest: async ({ context }) => {
    const newest = context.capacitySearches.newest()
    if (newest === null) return null
    const { current, report } = newest.read()
    const sent = report.probes.map(({ run_id: runId }) => runId)
    return {
      searchId: newest.searchId,
      name: report.name,
      isOver: newest.isOver(),
      runIds: current === null ? sent : [...sent, current.runId],
    }
  },
  watch: (request) =>
    watch(request, INTERVAL_MS, () => {
      const search = request.context.capacitySearches.require(request.input.searchId)
      return { ...search, read: () => ({ progress: search.read() }) }
    }),
}

/** Refuses a second search: the two would distort each other's measurements. Throws `BAD_USAGE`. */
function refuseSecond({ capacitySearches }: BridgeContext): void {
  const newest = capacitySearches.newest()
  if (newest !== null && !newest.isOver()) throw new SluiceError({ id: 'capacity_search_under_way' })
}

/** Sends probes until the search ends; each is a load test that every window can follow. */
function startSearch(
  services: BridgeServices,
  searchId: string,
  plan: LoadPlan,
  capacityPlan: CapacityPlan,
  apiKey: string | undefined,
): CapacitySearch {
  const { engine, clock } = services
  const controller = new AbortController()
  const { tell, onChange } = createListeners()
  const startedMs = clock.now()
  const toProgress = (
    outcome: CapacityOutcome,
    rest: Omit<CapacityProgress, 'report'>,
  ): CapacityProgress => ({
    ...rest,
    report: toCapacityReport(plan, capacityPlan, outcome),
  })
  const toOutcomeSoFar = (probes: readonly CapacityProbe[]): CapacityOutcome => ({
    end: 'interrupted',
    error: null,
    probes,
    elapsedMs: clock.now() - startedMs,
  })
  const probes: CapacityProbe[] = []
  let progress = toProgress(toOutcomeSoFar([]), { isOver: false, current: null })
  let isOver = false
  const note = (next: CapacityProgress) => {
    progress = next
    tell()
  }
  const noteCurrent = (current: CapacityProgress['current']) =>
    note(toProgress(toOutcomeSoFar(probes), { isOver: false, current }))

  const follow = async (handle: RunHandle) => {
    const stop = () => handle.stop()
    controller.signal.addEventListener('abort', stop)
    if (controller.signal.aborted) stop()
    try {
      return await handle.ended
    } finally {
      controller.signal.removeEventListener('abort', stop)
    }
  }
  const search = async () => {
    const outcome = await findCapacity(plan, capacityPlan, {
      send: async (probe, level) => {
        const secrets = await findRunSecrets(services, probe, apiKey)
        const handle = await engine.runs.startRun(probe, secrets)
        holdRun(services, probe, handle, apiKey !== undefined)
        noteCurrent({ runId: handle.runId, level, number: probes.length + 1 })
        return follow(handle)
      },
      onJudged: (probe) => {
        probes.push(probe)
        noteCurrent(null)
      },
      pause: (ms) => clock.wait(ms, controller.signal),
      isInterrupted: () => controller.signal.aborted,
      nowMs: () => clock.now(),
    })
    if ('unsent' in outcome) {
      throw new SluiceError({ id: 'capacity_unsent', reason: outcome.unsent.stop_reason })
    }
    note(toProgress(outcome, { isOver: true, current: null }))
  }
  const ended = search().finally(() => {
    isOver = true
  })
  // Windows that watch the search get the failure; without one, nobody needs it.
  ended.catch(() => {})
  return {
    searchId,
    isOver: () => isOver,
    stop: () => controller.abort(),
    read: () => progress,
    onChange,
    ended,
  }
}
