import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { LoadCallbacks } from '../../../../src/main/engine/load/load-callbacks.ts'
import { WARMUP_SEQUENCE } from '../../../../src/main/engine/load/load-pacer.ts'
import { LoadTally } from '../../../../src/main/engine/load/load-tally.ts'
import { InboxReader } from '../../../../src/main/engine/receiver/inbox.ts'
import { InboxWriter } from '../../../../src/main/engine/receiver/inbox-writer.ts'
import { CALLBACK_RANKS } from '../../../../src/main/engine/service/callback-rank.ts'
import { createJudgement } from '../../../../src/main/engine/service/judgement.ts'
import { toUnixMs } from '../../../../src/shared/unix-clock.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'

const TIMEOUT_MS = 10_000

const NONE = new LoadTally().callbacks

function createCallbacks() {
  const workspace = createTemporaryFolder()
  const writer = InboxWriter.open(workspace)
  if (writer === null) throw new Error('the inbox is held')
  let nowMs = 0
  const counts = { ...NONE }
  const latencies: [latencyUs: number, receivedAtUs: number][] = []
  const rules: string[] = []
  const ranks: [rank: number, before: number | null][] = []
  const callbacks = new LoadCallbacks({
    inbox: new InboxReader(workspace),
    runToken: 'run-1',
    timeoutMs: TIMEOUT_MS,
    judge: (body) =>
      body === 'unreadable'
        ? null
        : createJudgement({
            outcome: body === 'bad' ? 'rejected' : 'succeeded',
            ...(body === 'empty' ? { answer: 'no_result' } : { rules: [{ ruleId: 'r1', ruleName: 'Spam' }] }),
          }),
    onLatency: (latencyUs, receivedAtUs) => latencies.push([latencyUs, receivedAtUs]),
    onResult: ({ rules: found, rank }, before) => {
      rules.push(...found.map(({ ruleId }) => ruleId))
      ranks.push([rank, before])
    },
    onCount: (what) => {
      counts[what] += 1
    },
    nowMs: () => nowMs,
  })
  onTestFinished(() => {
    callbacks.close()
    writer.close()
  })
  return {
    callbacks,
    counts,
    latencies,
    rules,
    ranks,
    setNow: (ms: number) => {
      nowMs = ms
    },
    receive: (item: number, receivedAtUs: number, body = 'good') =>
      new Promise<Error | null>((resolve) =>
        writer.store({ runToken: 'run-1', item, receivedAtUs, body: Buffer.from(body) }, resolve),
      ),
  }
}

describe('callbacks of a load', () => {
  it('tell which one that says nothing of the content a result replaces', async () => {
    const { callbacks, ranks, receive } = createCallbacks()
    for (const item of [1, 2, 3]) callbacks.noteEnd(item, 1_000, 'given')
    await receive(1, 2_000, 'empty')
    await receive(2, 2_000, 'bad')
    await receive(3, 2_000, 'empty')
    callbacks.take()
    await receive(1, 3_000)
    await receive(2, 3_000)
    callbacks.take()
    const { error, no_result, result } = CALLBACK_RANKS
    expect(ranks.slice(0, 3)).toEqual([no_result, error, no_result].map((rank) => [rank, null]))
    expect(ranks.slice(3)).toEqual([
      [result, no_result],
      [result, error],
    ])
  })

  it('are measured from send to receipt, in any order', async () => {
    const { callbacks, counts, latencies, receive } = createCallbacks()
    callbacks.noteEnd(1, 1_000, 'given')
    callbacks.noteEnd(2, 2_000, 'given')
    await receive(2, 9_000)
    await receive(1, 9_500, 'bad')
    callbacks.take()
    expect(latencies).toEqual([
      [7_000, 9_000],
      [8_500, 9_500],
    ])
    expect(callbacks.awaited).toBe(0)
    expect(counts).toEqual({ ...NONE, received: 2, rejected: 1 })
  })

  it('settle nothing if they are unreadable, and the result that follows is measured', async () => {
    const { callbacks, counts, latencies, receive } = createCallbacks()
    callbacks.noteEnd(1, 1_000, 'given')
    await receive(1, 2_000, 'unreadable')
    callbacks.take()
    expect(callbacks.awaited).toBe(1)
    await receive(1, 9_000)
    callbacks.take()
    expect(latencies).toEqual([[8_000, 9_000]])
    expect(counts).toEqual({ ...NONE, received: 2, unreadable: 1 })
  })

  it('are measured alike if the machine has slept since its process started', async () => {
    const { callbacks, latencies, receive } = createCallbacks()
    const sentAtUs = Math.round((performance.timeOrigin + performance.now()) * 1000)
    vi.spyOn(Date, 'now').mockReturnValue(Date.now() + 8 * 3_600_000)
    onTestFinished(() => {
      vi.restoreAllMocks()
    })
    callbacks.noteEnd(1, sentAtUs, 'given')
    await receive(1, Math.round(toUnixMs(sentAtUs / 1000 + 40 - performance.timeOrigin) * 1000))
    callbacks.take()
    expect(latencies.map(([latencyUs]) => Math.round(latencyUs / 1000))).toEqual([40])
  })

  it('may arrive before their request was reported', async () => {
    const { callbacks, latencies, receive } = createCallbacks()
    await receive(7, 5_000)
    callbacks.take()
    expect(latencies).toEqual([])
    callbacks.noteEnd(7, 4_000, 'given')
    expect(latencies).toEqual([[1_000, 5_000]])
    expect(callbacks.awaited).toBe(0)
  })

  it('count once, and a second time as doubled', async () => {
    const { callbacks, counts, latencies, receive, setNow } = createCallbacks()
    await receive(1, 3_000)
    await receive(1, 3_500)
    callbacks.take()
    callbacks.noteEnd(1, 1_000, 'given')
    expect(latencies).toEqual([[2_000, 3_000]])
    // Long after its request has ended, another callback matches nothing that is awaited.
    await receive(1, 4_000)
    callbacks.take()
    setNow(TIMEOUT_MS + 5)
    callbacks.take()
    expect(latencies).toHaveLength(1)
    expect(counts).toMatchObject({ received: 3, doubled: 2 })
  })

  it('count as doubled, too, if the test ends soon after a second time', async () => {
    const { callbacks, counts, receive } = createCallbacks()
    callbacks.noteEnd(1, 1_000, 'given')
    callbacks.noteEnd(2, 1_000, 'given')
    for (const item of [1, 1, 2]) await receive(item, 3_000)
    callbacks.take()
    await receive(2, 4_000)
    expect(counts).toMatchObject({ received: 3, doubled: 1 })
    callbacks.finish()
    expect(counts).toMatchObject({ received: 4, doubled: 2 })
  })

  it('are late once they are given up, have no latency then, and bring rules once', async () => {
    const { callbacks, counts, latencies, rules, receive, setNow } = createCallbacks()
    callbacks.noteEnd(1, 0, 'given')
    callbacks.noteEnd(2, 5_000_000, 'given')
    setNow(TIMEOUT_MS + 1)
    callbacks.take()
    expect(callbacks.awaited).toBe(1)
    expect(counts.overdue).toBe(1)
    await receive(1, 10_500_000)
    await receive(1, 10_600_000)
    callbacks.take()
    callbacks.finish()
    expect(latencies).toEqual([])
    expect(rules).toEqual(['r1'])
    expect(counts).toMatchObject({ received: 2, late: 1, doubled: 1, overdue: 1 })
  })

  it('of a request without an acknowledgement are measured if they come, and not overdue if they do not', async () => {
    const { callbacks, counts, latencies, receive, setNow } = createCallbacks()
    callbacks.noteEnd(1, 1_000, 'unknown')
    callbacks.noteEnd(2, 1_000, 'unknown')
    await receive(1, 3_000)
    setNow(TIMEOUT_MS + 2)
    callbacks.take()
    expect(latencies).toEqual([[2_000, 3_000]])
    expect(callbacks.awaited).toBe(0)
    expect(counts).toMatchObject({ received: 1, late: 0, overdue: 0 })
  })

  it('count once if their request is acknowledged only when sent again, after it was given up', async () => {
    const { callbacks, counts, latencies, receive, setNow } = createCallbacks()
    for (const item of [1, 2]) callbacks.noteEnd(item, 1_000, 'unknown')
    setNow(TIMEOUT_MS + 2)
    callbacks.take()
    // One comes before the second try, the other after it, and then once more.
    await receive(1, 10_100_000)
    callbacks.take()
    for (const item of [1, 2]) callbacks.noteEnd(item, 10_200_000, 'given')
    await receive(2, 10_300_000)
    await receive(2, 10_400_000)
    callbacks.take()
    setNow(3 * TIMEOUT_MS)
    callbacks.take()
    expect(latencies).toEqual([[100_000, 10_300_000]])
    expect(counts).toMatchObject({ received: 3, late: 1, doubled: 1, overdue: 0 })
  })

  it('that come before a request is acknowledged when sent again answer it, and nothing is overdue', async () => {
    const { callbacks, counts, latencies, receive, setNow } = createCallbacks()
    callbacks.noteEnd(1, 1_000, 'unknown')
    await receive(1, 3_000)
    await receive(2, 4_000)
    callbacks.take()
    callbacks.noteEnd(2, 2_000, 'unknown')
    for (const item of [1, 2]) callbacks.noteEnd(item, 500_000, 'given')
    expect(callbacks.awaited).toBe(0)
    expect(latencies).toEqual([
      [2_000, 3_000],
      [2_000, 4_000],
    ])
    // The service accepted both tries.
    await receive(2, 600_000)
    callbacks.take()
    setNow(2 * TIMEOUT_MS)
    callbacks.take()
    expect(counts).toEqual({ ...NONE, received: 3, doubled: 1 })
  })

  it('of a request that was acknowledged when it was sent again are overdue, or measured from its first try', async () => {
    const { callbacks, counts, latencies, receive, setNow } = createCallbacks()
    callbacks.noteEnd(1, 1_000, 'unknown')
    callbacks.noteEnd(2, 2_000, 'unknown')
    callbacks.noteEnd(1, 500_000, 'given')
    callbacks.noteEnd(2, 600_000, 'given')
    await receive(2, 700_000)
    callbacks.take()
    expect(latencies).toEqual([[698_000, 700_000]])
    setNow(TIMEOUT_MS + 499)
    callbacks.take()
    expect(counts.overdue).toBe(0)
    setNow(TIMEOUT_MS + 500)
    callbacks.take()
    expect(counts.overdue).toBe(1)
    expect(callbacks.awaited).toBe(0)
  })

  it('with a result count after an error, and one with an error after a result changes nothing', async () => {
    const { callbacks, counts, latencies, rules, receive } = createCallbacks()
    callbacks.noteEnd(1, 1_000, 'given')
    callbacks.noteEnd(2, 1_000, 'given')
    await receive(1, 2_000, 'bad')
    await receive(1, 3_000)
    await receive(2, 4_000)
    await receive(2, 5_000, 'bad')
    // Both came before their request was reported.
    await receive(3, 6_000, 'bad')
    await receive(3, 7_000)
    callbacks.take()
    callbacks.noteEnd(3, 5_500, 'given')
    callbacks.finish()
    expect(latencies.map(([latencyUs]) => latencyUs)).toEqual([1_000, 3_000, 500])
    expect(rules).toHaveLength(4)
    expect(counts).toEqual({ ...NONE, received: 6, differing: 3, rejected: 3 })
  })

  it('of a refused request count by themselves, unless an earlier try may have been accepted', async () => {
    const { callbacks, counts, latencies, rules, receive, setNow } = createCallbacks()
    await receive(1, 1_500)
    callbacks.take()
    for (const item of [1, 2]) callbacks.noteEnd(item, 1_000, 'refused')
    await receive(2, 2_000, 'bad')
    for (const promise of ['unknown', 'refused'] as const) callbacks.noteEnd(3, 1_000, promise)
    await receive(3, 3_000)
    for (const promise of ['refused', 'given'] as const) callbacks.noteEnd(4, 2_000, promise)
    await receive(4, 5_000)
    callbacks.noteEnd(5, 1_000, 'unknown')
    callbacks.take()
    expect(callbacks.awaited).toBe(1)
    setNow(TIMEOUT_MS + 2)
    callbacks.take()
    callbacks.noteEnd(5, 10_000_000, 'refused')
    await receive(5, 11_000_000)
    callbacks.finish()
    expect(latencies.map(([latencyUs]) => latencyUs)).toEqual([2_000, 3_000])
    expect(rules).toHaveLength(3)
    expect(counts).toEqual({ ...NONE, received: 5, ofRefused: 2, late: 1 })
  })

  it('of the warm-up count in no figure', async () => {
    const { callbacks, counts, latencies, receive } = createCallbacks()
    await receive(WARMUP_SEQUENCE + 1, 3_000)
    callbacks.take()
    expect(counts.received).toBe(0)
    expect(latencies).toEqual([])
  })
})
