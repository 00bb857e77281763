import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Papa from 'papaparse'
import { expect, inject, test } from 'vitest'
import { Lanes } from '../../src/main/engine/sending/lanes.ts'
import type { ReuseEnd } from '../../src/main/engine/service/connection-reuse.ts'
import type { Exchange } from '../../src/main/engine/service/exchange.ts'
import { createServiceClients } from '../../src/main/engine/service/service-client.ts'
import { createCertificate } from '../helpers/certificates.ts'
import { expectFaultless } from '../helpers/history/expect-faultless.ts'
import { createInProcessRuns } from '../helpers/in-process-runs.ts'
import { firstOf, onlyInLongForm } from '../helpers/long-form.ts'
import { type Oddity, startOddServer } from '../helpers/odd-server/start-odd-server.ts'
import { createRunPlan, openTestFolder } from '../helpers/test-folder.ts'

/**
 * The full proof sends the second column of a CSV file: `SLUICE_ODD_SOURCE=messages.csv npx vitest run
 * test/bulk/odd-connections.test.ts`.
 */
const SOURCE = process.env['SLUICE_ODD_SOURCE']
const TEXTS =
  SOURCE === undefined
    ? Array.from({ length: 160 }, (_, i) => `text ${i + 1}`)
    : Papa.parse<string[]>(readFileSync(SOURCE, 'utf8')).data.flatMap(([, text]) => text ?? [])
const TIMEOUT_MS = SOURCE === undefined ? 60_000 : 600_000

/**
 * An answer that left this long before a request went out must have arrived before it, microseconds. On a
 * busy machine threads pause between any two steps.
 */
const COME_US = 50_000

const folder = openTestFolder()

interface Counts {
  right: number
  unknown: number
  failed: number
  /** Rows that got an answer which had arrived before their request went out. */
  wrong: number
  /** Rows that got an answer which was on its way when their request went out. HTTP cannot detect these. */
  crossed: number
  connections: number
  ended: ReuseEnd[]
}

/** Sends texts over lanes, each request as soon as the previous answer has come, and counts the answers. */
async function sendAll(
  texts: readonly string[],
  { inFlight, oddity, isTls = false, busyMs = 0 }: SendOptions,
): Promise<Counts> {
  const certificate = isTls ? await createCertificate({ ip: '127.0.0.1' }) : null
  const caFile = join(folder, 'ca.pem')
  if (certificate !== null) writeFileSync(caFile, certificate.cert)
  const { baseUrl, leftUs, countConnections } = await startOddServer({
    oddity,
    ...(certificate === null ? {} : { tls: certificate }),
  })
  const counts: Counts = { right: 0, unknown: 0, failed: 0, wrong: 0, crossed: 0, connections: 0, ended: [] }
  const ended = Promise.withResolvers<void>()
  let next = 0
  let done = 0
  let roundEnd = 0
  const note = (postId: string, exchange: Exchange): void => {
    if (exchange.kind === 'breakdown') counts[exchange.sent ? 'unknown' : 'failed'] += 1
    else {
      const { task_id } = JSON.parse(exchange.body) as { task_id: string }
      const [answered, number] = task_id.split('/')
      const atUs = leftUs[Number(number)] ?? 0
      if (answered === postId) counts.right += 1
      else if (atUs > 0 && atUs + COME_US < exchange.timings.sentAtUs) counts.wrong += 1
      else counts.crossed += 1
    }
    done += 1
    if (done === texts.length) ended.resolve()
    else if (busyMs > 0 && done === next) startRound()
  }
  const lanes = new Lanes({
    concurrency: inFlight,
    createClient: createServiceClients({
      baseUrl,
      connection: { timeoutMs: 10_000, ...(isTls ? { tls: { caFile } } : {}) },
      readApiKey: () => null,
      userAgent: 'sluice/test',
      onReuseEnded: (why) => counts.ended.push(why),
    }),
    take: () => {
      const at = next
      const text = texts[at]
      if (text === undefined || at === roundEnd) return null
      // Keeps the thread busy now and then, as the journal does.
      if (at % 20 === 19) keepBusy(2)
      next += 1
      const postId = `p${at + 1}`
      const body = JSON.stringify({ text_data: text, user_id: 'user', post_id: postId })
      return {
        request: { method: 'POST', path: '/api/v1/task/sync', body, isAnonymous: true },
        onEnd: (exchange) => note(postId, exchange),
      }
    },
    onError: (error) => ended.reject(error),
  })
  const startRound = (): void => {
    setImmediate(() => {
      roundEnd += busyMs > 0 ? inFlight : texts.length
      keepBusy(busyMs)
      lanes.wake(inFlight)
    })
  }
  lanes.open()
  startRound()
  await ended.promise
  await lanes.close()
  await lanes.destroy()
  counts.connections = countConnections()
  return counts
}

interface SendOptions {
  inFlight: number
  oddity: Oddity
  isTls?: boolean
  /**
   * Requests go out in rounds, and the thread is kept busy for this long between two of them, milliseconds.
   */
  busyMs?: number
}

function keepBusy(ms: number): void {
  const endMs = performance.now() + ms
  while (performance.now() < endMs);
}

const EVERY_WAY = [8, 64].flatMap((inFlight) =>
  [false, true].map((isTls) => [inFlight, isTls ? 'TLS' : 'plain', { inFlight, isTls }] as const),
)

// The short form tests few in flight over plain connections and many over TLS.
const WAYS = EVERY_WAY.filter(([inFlight, , { isTls }]) => inject('isLong') || isTls === inFlight > 8)

test.each(WAYS)(
  'with %i in flight over %s, no row gets a second answer that came before its request went out',
  async (_, __, way) => {
    for (const when of ['together', 'apart', 1] as const) {
      const counts = await sendAll(TEXTS, { ...way, oddity: { kind: 'stray', when } })
      if (SOURCE !== undefined) console.log(way, when, counts)
      const { right, wrong, crossed, unknown, failed } = counts
      expect({ wrong, failed, when }).toEqual({ wrong: 0, failed: 0, when })
      expect(right + crossed + unknown).toBe(TEXTS.length)
      if (when === 'together') expect({ crossed, unknown }).toEqual({ crossed: 0, unknown: 0 })
    }
  },
  TIMEOUT_MS,
)

test.each(WAYS)(
  'with %i in flight over %s, no row gets an answer that came while its connection idled and the thread was busy',
  async (_, __, way) => {
    onlyInLongForm()
    const counts = await sendAll(TEXTS, { ...way, oddity: { kind: 'stray', when: 1 }, busyMs: 60 })
    if (SOURCE !== undefined) console.log(way, 'idle', counts)
    const { right, wrong, crossed, unknown } = counts
    expect({ right, wrong, crossed, unknown }).toEqual({
      right: TEXTS.length,
      wrong: 0,
      crossed: 0,
      unknown: 0,
    })
  },
  TIMEOUT_MS,
)

test.each(
  firstOf(1, [
    ['at once', 0.1],
    ['after 1 ms', 1],
    ['after 5 ms', 5],
  ]),
)(
  'of 2,000 rows at most 1 %% are unknown if the service closes each connection %s',
  async (_, afterMs) => {
    const texts = Array.from({ length: 2_000 }, (__, i) => `text ${i}`)
    // With 64 in flight, a machine that is busy with other tests may take the service's time for the answer
    // to all.
    for (const inFlight of SOURCE === undefined ? [8] : [1, 8, 64]) {
      const counts = await sendAll(texts, { inFlight, oddity: { kind: 'closing', afterMs } })
      if (SOURCE !== undefined) console.log({ afterMs, inFlight }, counts)
      expect({ ...counts, right: counts.right + counts.unknown }).toMatchObject({ right: 2_000, failed: 0 })
      expect(counts.unknown).toBeLessThanOrEqual(20)
      expect(counts.ended).not.toEqual([])
    }
  },
  TIMEOUT_MS,
)

test.each([
  ['1 %', 100, 5],
  ['5 %', 20, 25],
])(
  'connections are reused although the service drops %s of the requests, and none counts as closed after an answer',
  async (_, every, drops) => {
    onlyInLongForm()
    const texts = Array.from({ length: 500 }, (__, i) => `text ${i}`)
    const { right, unknown, connections, ended } = await sendAll(texts, {
      inFlight: 8,
      oddity: { kind: 'dropping', every },
    })
    expect({ right, unknown, ended }).toEqual({ right: 500 - drops, unknown: drops, ended: [] })
    expect(connections).toBeLessThanOrEqual(8 + drops)
  },
  TIMEOUT_MS,
)

test(
  'connections that the service closes while idle do not count as closed after an answer',
  async () => {
    const { right, unknown, ended } = await sendAll(TEXTS, {
      inFlight: 8,
      oddity: { kind: 'idle', afterMs: 30 },
      busyMs: 80,
    })
    // A connection may end just as a request goes out.
    expect({ done: right + unknown, ended }).toEqual({ done: TEXTS.length, ended: [] })
  },
  TIMEOUT_MS,
)

test.each<[string, Oddity]>(
  firstOf(1, [
    ['sends a second answer with each', { kind: 'stray', when: 'together' }],
    ['closes each connection after 1 ms', { kind: 'closing', afterMs: 1 }],
    ['drops one request of ten', { kind: 'dropping', every: 10 }],
  ]),
)('a run against a service that %s reports for each row what the service did with it', async (_, oddity) => {
  const { baseUrl, readRecording } = await startOddServer({ oddity })
  const workspace = join(folder, oddity.kind)
  const pace = { kind: 'closed', concurrency: 8 } as const
  const run = createInProcessRuns(workspace).start(createRunPlan(folder, TEXTS.length, baseUrl, { pace }))
  const { rows } = await run.ended
  const judged = expectFaultless(workspace, [run.runId], { events: await readRecording() })
  expect(judged).toEqual({ ok: rows.succeeded, info: rows.unknown, fail: 0 })
  expect(rows.succeeded).toBeGreaterThan(0)
})

test.each(
  firstOf(1, [
    ['plain', 'in a write of its own', { isTls: false, when: 'apart' }],
    ['TLS', 'in a write of its own', { isTls: true, when: 'apart' }],
    ['TLS', 'after 1 ms', { isTls: true, when: 1 }],
  ] as const),
)(
  'over %s, no row of a run succeeds with a second answer that comes %s and names another post',
  async (_, __, { isTls, when }) => {
    const certificate = isTls ? await createCertificate({ ip: '127.0.0.1' }) : null
    const caFile = join(folder, 'ca-of-run.pem')
    if (certificate !== null) writeFileSync(caFile, certificate.cert)
    const { baseUrl, readRecording } = await startOddServer({
      oddity: { kind: 'stray', when },
      ...(certificate === null ? {} : { tls: certificate }),
    })
    const workspace = join(folder, `stray-${isTls}-${when}`)
    const plan = createRunPlan(folder, TEXTS.length, baseUrl, {
      connection: { baseUrl, timeoutMs: 10_000, ...(isTls ? { tls: { caFile } } : {}) },
      pace: { kind: 'closed', concurrency: 64 },
      // Otherwise the run would stop, because many connections may end among the first rows.
      stop: { errorPercent: 100 },
    })
    const runs = createInProcessRuns(workspace)
    const run = runs.start(plan)
    const { rows, echoes } = await run.ended
    if (SOURCE !== undefined) console.log({ isTls, when }, rows, echoes)
    expect(rows.succeeded + rows.unknown).toBe(TEXTS.length)
    expect(echoes).toMatchObject({ verified: rows.succeeded, not_verifiable: 0 })
    const judged = expectFaultless(workspace, [run.runId], { events: await readRecording() })
    expect(judged).toEqual({ ok: rows.succeeded, info: rows.unknown, fail: 0 })
  },
  TIMEOUT_MS,
)
