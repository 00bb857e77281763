import { isAsync } from '../../../shared/operations/operations.ts'
import { serveCalls } from '../../worker-rpc.ts'
import { openJournalReader } from '../journal/journal.ts'
import { ApiKey, ProxyCredentials } from '../secrets/bound-secret.ts'
import { HeaderValues } from '../secrets/header-values.ts'
import { createItemRequests } from '../sending/item-requests.ts'
import { createServiceClients } from '../service/service-client.ts'
import { sendFirstRequest } from './first-request.ts'
import { LoadBodies } from './load-bodies.ts'
import { LoadGenerator, type LoadGeneratorOptions } from './load-generator.ts'
import { createLoadPacer, toLoadPostId } from './load-pacer.ts'
import type { LoadCalls, LoadTask, LoadUpdate } from './load-threads.ts'
import { listThresholdRowTags } from './tagged-requests.ts'

let generator: LoadGenerator | null = null
let parts: LoadGeneratorOptions | null = null
let cancelFirst: (() => void) | null = null
let apiKey: ApiKey | null = null

const sendEvent = serveCalls<LoadCalls, { update: LoadUpdate }>({
  prepare(task) {
    apiKey = task.apiKey === null ? null : ApiKey.unseal(task.apiKey)
    parts = createParts(task)
    generator = new LoadGenerator(parts)
  },
  async tryFirst() {
    if (parts === null) throw new Error('a thread is prepared before it sends')
    const { ended, cancel } = sendFirstRequest(parts)
    cancelFirst = cancel
    return await ended
  },
  async run(startMs) {
    await generator?.run(startMs - performance.timeOrigin)
  },
  stop() {
    cancelFirst?.()
    generator?.stop()
  },
  setApiKey(sealed) {
    apiKey = ApiKey.unseal(sealed)
  },
})

function createParts(task: LoadTask): LoadGeneratorOptions {
  const { record, workspace, journalFile, proxyCredentials, headerValues, appVersion, share } = task
  const { plan, runToken } = record
  const { load } = plan
  if (load === undefined) throw new Error('the plan is not a load test')
  const { mapRow, exchange, toCallbackUrl } = createItemRequests(record, workspace, [], (id) =>
    id.startsWith(`${runToken}-`),
  )
  const hasCallback = isAsync(plan.operation) && record.callbackBase !== null
  const bodies = new LoadBodies(openJournalReader(journalFile), {
    mapRow,
    toRowKeys: exchange.toRowKeys,
    hasCallback,
    columns: record.columns,
    order: load,
    rowTags: listThresholdRowTags(load.thresholds),
  })
  // The first requests must not wait for the disk.
  bodies.at(share.index)
  return {
    index: share.index,
    load,
    retry: plan.retry,
    pacer: createLoadPacer(load, plan.connection.timeoutMs, share),
    bodies,
    path: exchange.toRequest([{}], null).path,
    createClient: createServiceClients({
      baseUrl: exchange.baseUrl,
      connection: plan.connection,
      readApiKey: () => apiKey,
      proxyCredentials: proxyCredentials === null ? null : ProxyCredentials.unseal(proxyCredentials),
      headerValues: headerValues === null ? null : HeaderValues.unseal(headerValues),
      userAgent: `sluice/${appVersion}`,
      httpVersion: load.httpVersion,
      http2Connections: load.http2Connections,
      threads: share.count,
      onReuseEnded: (why) => report({ kind: 'reuse_ended', index: share.index, why }),
      onRedacted: () => report({ kind: 'redacted', index: share.index }),
    }),
    judge: exchange.judge,
    toPostId: (sequence) => toLoadPostId(runToken, sequence),
    toCallbackUrl: hasCallback ? toCallbackUrl : () => null,
    report,
  }
}

function report(update: LoadUpdate, transfer: ArrayBuffer[] = []): void {
  sendEvent('update', update, transfer)
}
