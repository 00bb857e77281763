import { join } from 'node:path'
import { ApiKey } from '../../src/main/engine/secrets/bound-secret.ts'
import { Lanes } from '../../src/main/engine/sending/lanes.ts'
import { SecondMeter } from '../../src/main/engine/sending/second-meter.ts'
import { disablePretenuring } from '../../src/main/engine/sending/sending-thread.ts'
import { createOperationExchange } from '../../src/main/engine/service/operation-exchange.ts'
import { createServiceClients } from '../../src/main/engine/service/service-client.ts'
import { LatencyMeter } from '../../src/shared/load/latency-meter.ts'
import { planSchema } from '../../src/shared/plan/plan.ts'
import { reportToParent } from '../lib/report-to-parent.ts'
import { createBenchEngine, withFolder, writeSource } from '../lib/workspace.ts'

interface SendTask {
  url: string
  kind: 'journal' | 'recording' | 'undici'
  rows: number
  inFlight: number
}

const task = JSON.parse(process.argv[2] ?? '') as SendTask
reportToParent(task.kind === 'journal' ? await sendWithJournal(task) : await sendRecordingOnly(task))

/** A real run: source, mapping, validation, journal; the rate of its sending. */
function sendWithJournal({ url, rows, inFlight }: SendTask): Promise<number> {
  return withFolder(async (folder) => {
    const path = join(folder, 'source.csv')
    writeSource(path, rows)
    const engine = createBenchEngine(folder)
    const plan = planSchema.parse({
      connection: { baseUrl: url },
      source: { path },
      operation: { kind: 'task' },
      pace: { kind: 'closed', concurrency: inFlight },
    })
    const run = await engine.runs.startRun(plan, {
      apiKey: ApiKey.create('key', plan.connection, 'of the benchmark'),
    })
    const { throughput, rows: counts } = await run.ended
    await engine.close()
    if (counts.succeeded !== rows) throw new Error(`${counts.succeeded} of ${rows} rows succeeded`)
    return throughput.succeeded_per_s
  })
}

/** The same lanes, client (or undici's instead), judgement and histograms, without source and journal. */
async function sendRecordingOnly({ url, kind, rows, inFlight }: SendTask): Promise<number> {
  disablePretenuring()
  const meter = new SecondMeter({
    total: new LatencyMeter(),
    nowUs: () => (performance.timeOrigin + performance.now()) * 1000,
  })
  const plan = planSchema.parse({
    connection: { baseUrl: url },
    source: { path: '/none.csv' },
    operation: { kind: 'task' },
  })
  const apiKey = ApiKey.create('key', plan.connection, 'of the benchmark')
  const { toRequest, judge } = createOperationExchange(plan, { deliveredCodes: [], nowMs: Date.now })
  let started = 0
  let succeeded = 0
  const done = Promise.withResolvers<void>()
  const createOwnClient = createServiceClients({
    baseUrl: url,
    connection: plan.connection,
    readApiKey: () => apiKey,
    userAgent: 'sluice',
  })
  const lanes = new Lanes({
    concurrency: inFlight,
    createClient: kind === 'undici' ? await createOtherClients(url) : createOwnClient,
    onError: (error) => done.reject(error),
    take: () => {
      if (started === rows) return null
      started += 1
      const row = started
      const fields = { text_data: 'thank you for the quick answer', user_id: 'user1', post_id: `post-${row}` }
      return {
        request: toRequest([fields], null),
        onEnd: (exchange) => {
          const judgement = judge(exchange, [])
          meter.note({
            outcome: judgement.outcome,
            timings: exchange.timings,
            isSent: true,
            isTimed: true,
            scheduledAtUs: null,
            hasWaited: false,
          })
          if (judgement.outcome === 'succeeded') succeeded += 1
          if (row === rows) done.resolve()
        },
      }
    },
  })
  const startMs = performance.now()
  lanes.open()
  lanes.wake(inFlight)
  await done.promise
  await lanes.close()
  const seconds = (performance.now() - startMs) / 1000
  meter.close()
  await lanes.destroy()
  if (succeeded !== rows) throw new Error(`${succeeded} of ${rows} requests succeeded`)
  return rows / seconds
}

/** Loaded only on request: undici is a megabyte that a real run does not load. */
async function createOtherClients(url: string) {
  const { createUndiciClient } = await import('../lib/undici-client.ts')
  return () => createUndiciClient(url, 'key')
}
