import type { BridgeClient } from '../../../src/shared/bridge/contract.ts'
import { type DrawnCall, RunPlace } from './draw-calls.ts'

/** The results of calls. */
export interface CallTally {
  answered: number
  refused: number
  /** Ids of the created runs. */
  runIds: string[]
}

/** Longest time for a call, milliseconds: a held run may never deliver what is awaited. */
const CALL_MS = 10_000

/** Concurrent calls, as made by a page. */
const AT_ONCE = 8

type AnyProcedure = (input: unknown, options: { signal: AbortSignal }) => Promise<unknown>

/** Makes calls like an unrestrained page. `runIds` are known from the start. */
export async function makeCalls(
  client: BridgeClient,
  calls: readonly DrawnCall[],
  runIds: readonly string[] = [],
): Promise<CallTally> {
  const tally: CallTally = { answered: 0, refused: 0, runIds: [...runIds] }
  const waiting = calls.values()
  const makeOnes = async () => {
    for (const call of waiting) {
      try {
        const answer = await makeCall(client, call, tally.runIds)
        tally.answered += 1
        if (!isStarted(call, answer)) continue
        tally.runIds.push(answer.runId)
        await beginRun(client, answer.runId).catch(() => {})
      } catch {
        tally.refused += 1
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, makeOnes))
  return tally
}

async function makeCall(client: BridgeClient, { group, name, input }: DrawnCall, runIds: readonly string[]) {
  const procedures = client as unknown as Record<string, Record<string, AnyProcedure>>
  const procedure = procedures[group]?.[name]
  if (procedure === undefined) throw new Error(`there is no ${group}.${name}`)
  return withTime(async (signal) => {
    const answer = await procedure(fillRuns(input, runIds), { signal })
    // A stream is closed at once.
    if (isStream(answer)) await answer.return()
    return answer
  })
}

/** A page also begins what it starts; generated calls rarely come at the right time. */
async function beginRun(client: BridgeClient, runId: string): Promise<void> {
  await withTime((signal) => client.runs.awaitReady({ runId }, { signal }))
  await withTime((signal) => client.runs.begin({ runId }, { signal }))
}

async function withTime<T>(call: (signal: AbortSignal) => PromiseLike<T>): Promise<T> {
  const controller = new AbortController()
  const timer = setTimeout(() => controller.abort(), CALL_MS)
  try {
    return await call(controller.signal)
  } finally {
    clearTimeout(timer)
  }
}

function fillRuns(input: unknown, runIds: readonly string[]): unknown {
  if (input instanceof RunPlace) return runIds[input.index % Math.max(1, runIds.length)] ?? 'no-run'
  if (Array.isArray(input)) return input.map((member) => fillRuns(member, runIds))
  if (typeof input !== 'object' || input === null || Object.getPrototypeOf(input) !== Object.prototype)
    return input
  return Object.fromEntries(Object.entries(input).map(([name, member]) => [name, fillRuns(member, runIds)]))
}

function isStream(answer: unknown): answer is { return(): Promise<unknown> } {
  return (
    typeof answer === 'object' && answer !== null && 'return' in answer && typeof answer.return === 'function'
  )
}

function isStarted({ name }: DrawnCall, answer: unknown): answer is { runId: string } {
  const isStart = ['start', 'resumeRun', 'retryRun', 'runAgain'].includes(name)
  return isStart && typeof answer === 'object' && answer !== null && 'runId' in answer
}
