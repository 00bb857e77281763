import type { Journal } from '../journal/journal.ts'
import { findTakenOver } from '../journal/run-family.ts'
import type { RunRecord } from '../journal/run-record.ts'
import { createRowMapper } from '../mapping/row-mapper.ts'
import { createRunAddresses } from '../receiver/addresses.ts'
import { InboxReader } from '../receiver/inbox.ts'
import { readReceiverSettings } from '../receiver/receiver-settings.ts'
import type { ApiKey, ProxyCredentials } from '../secrets/bound-secret.ts'
import { Redactor } from '../secrets/redactor.ts'
import type { SecondMeter } from '../sending/second-meter.ts'
import { createOperationExchange } from '../service/operation-exchange.ts'
import { createServiceClients } from '../service/service-client.ts'
import { CallbackSettler, type CallbackSource } from './callback-settler.ts'
import { ItemClaims } from './journal/item-claims.ts'
import { Sender } from './sender.ts'

/** What a sender is built of. */
interface SenderParts {
  workspace: string
  journal: Journal
  record: RunRecord
  meter: SecondMeter
  /** Asked for each request, so that the key can be switched. */
  readApiKey: () => ApiKey | null
  proxyCredentials: ProxyCredentials | null
  deliveredCodes: readonly string[]
  appVersion: string
}

/** Builds the sender of a run, whatever its operation (docs/interface.md §4). */
export function createSender(options: SenderParts): Sender {
  const { workspace, journal, record, meter } = options
  const { plan, columns, runToken } = record
  const addresses = createRunAddresses(record, () => readReceiverSettings(workspace).secret)
  const mapRow = createRowMapper(plan, columns, runToken, addresses)
  const exchange = createOperationExchange(plan, {
    deliveredCodes: options.deliveredCodes,
    nowMs: Date.now,
  })
  const claims = new ItemClaims(journal, record)
  return new Sender({
    plan,
    journal,
    claims,
    settler: record.callbackBase === null ? null : createSettler(options, claims),
    meter,
    createClient: createServiceClients({
      baseUrl: exchange.baseUrl,
      connection: plan.connection,
      readApiKey: options.readApiKey,
      proxyCredentials: options.proxyCredentials,
      userAgent: `sluice/${options.appVersion}`,
      onReuseEnded: (why) => journal.counters.add('reuse_ended', why, 1),
    }),
    toRequest: ({ item, rows }) => {
      const bodies = rows.map(({ row, cells, kinds }) => mapRow(row, cells, kinds).body)
      return {
        request: exchange.toRequest(bodies, addresses.toCallbackUrl(item)),
        rowKeys: exchange.toRowKeys(bodies),
      }
    },
    judge: exchange.judge,
    random: Math.random,
    readKeySource: () => options.readApiKey()?.source ?? null,
  })
}

function createSettler(options: SenderParts, claims: ItemClaims): CallbackSettler {
  const { workspace, journal, record, meter } = options
  const { judgeCallback } = createOperationExchange(record.plan, { deliveredCodes: [], nowMs: Date.now })
  return new CallbackSettler({
    journal,
    record,
    claims,
    inbox: createSource(options),
    takenOver: findTakenOver(record, workspace),
    judge: judgeCallback,
    nowMs: Date.now,
    onLatency: (latencyUs) => meter.noteCallback(latencyUs),
  })
}

/** The run's callbacks, without its secrets: where another process listens, that one may not have known them. */
function createSource({ workspace, record, readApiKey, proxyCredentials }: SenderParts): CallbackSource {
  const inbox = new InboxReader(workspace)
  const redactor = new Redactor()
  proxyCredentials?.redactBy(redactor)
  return {
    readAfter(afterId, limit) {
      readApiKey()?.redactBy(redactor)
      const callbacks = inbox.readAfter(record.runToken, afterId, limit)
      for (const callback of callbacks) callback.body = redactor.redact(callback.body)
      return callbacks
    },
    close: () => inbox.close(),
  }
}
