import { parentPort, workerData } from 'node:worker_threads'
import { toErrorMessage } from '../../../shared/messages/errors.ts'
import { isAsync } from '../../../shared/plan/operation.ts'
import { openJournalReader } from '../journal/journal.ts'
import { createRowMapper } from '../mapping/row-mapper.ts'
import { createRunAddresses } from '../receiver/addresses.ts'
import { readReceiverSettings } from '../receiver/receiver-settings.ts'
import { ApiKey, ProxyCredentials } from '../secrets/bound-secret.ts'
import { createOperationExchange } from '../service/operation-exchange.ts'
import { createServiceClients } from '../service/service-client.ts'
import { LoadBodies } from './load-bodies.ts'
import { LoadGenerator } from './load-generator.ts'
import type { LoadCommand, LoadEvent, LoadTask } from './load-messages.ts'
import { createLoadPacer, isWarmup, WARMUP_SEQUENCE } from './load-pacer.ts'

/** Runs a sending thread of a load test to its end. */
function startLoadWorker(): void {
  const port = parentPort
  if (port === null) throw new Error('this module is the entry of a worker thread')
  const task = workerData as LoadTask
  const post = (event: LoadEvent, transfer: ArrayBuffer[] = []): void => port.postMessage(event, transfer)
  let apiKey = task.apiKey === null ? null : ApiKey.unseal(task.apiKey)
  const fail = (error: unknown): void =>
    post({ kind: 'failed', index: task.share.index, error: toErrorMessage(error) })
  try {
    const generator = createGenerator(task, () => apiKey, post)
    let isStarted = false
    port.on('message', (command: LoadCommand) => {
      switch (command.kind) {
        case 'start':
          isStarted = true
          generator
            .run(command.startMs - performance.timeOrigin)
            .catch(fail)
            .finally(() => port.close())
          break
        case 'stop':
          if (isStarted) generator.stop()
          else port.close()
          break
        case 'set_api_key':
          apiKey = ApiKey.unseal(command.apiKey)
          break
      }
    })
    post({ kind: 'ready' })
  } catch (error) {
    fail(error)
    port.close()
  }
}

function createGenerator(
  { record, workspace, journalFile, proxyCredentials, appVersion, share }: LoadTask,
  readApiKey: () => ApiKey | null,
  post: (event: LoadEvent, transfer: ArrayBuffer[]) => void,
): LoadGenerator {
  const { plan, columns, runToken } = record
  const { load } = plan
  if (load === undefined) throw new Error('the plan is of no load test')
  const addresses = createRunAddresses(record, () => readReceiverSettings(workspace).secret)
  const mapRow = createRowMapper(plan, columns, runToken, addresses)
  const exchange = createOperationExchange(plan, { deliveredCodes: [], nowMs: Date.now })
  const hasCallback = isAsync(plan.operation) && record.callbackBase !== null
  const bodies = new LoadBodies(openJournalReader(journalFile), { mapRow, hasCallback })
  // The first requests must not wait for the disk.
  bodies.at(share.index)
  return new LoadGenerator({
    index: share.index,
    load,
    retry: plan.retry,
    pacer: createLoadPacer(load, plan.connection.timeoutMs, share),
    bodies,
    path: exchange.toRequest([{}], null).path,
    createClient: createServiceClients({
      baseUrl: exchange.baseUrl,
      connection: plan.connection,
      readApiKey,
      proxyCredentials: proxyCredentials === null ? null : ProxyCredentials.unseal(proxyCredentials),
      userAgent: `sluice/${appVersion}`,
      httpVersion: load.httpVersion,
      http2Connections: load.http2Connections,
      threads: share.count,
      onReuseEnded: (why) => post({ kind: 'reuse_ended', index: share.index, why }, []),
    }),
    judge: exchange.judge,
    toPostId: (sequence) =>
      isWarmup(sequence)
        ? `${runToken}-warmup-${sequence - WARMUP_SEQUENCE + 1}`
        : `${runToken}-${sequence + 1}`,
    toCallbackUrl: hasCallback ? addresses.toCallbackUrl : () => null,
    post,
  })
}

startLoadWorker()
