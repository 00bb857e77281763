import type { Counters } from '../journal/counters.ts'
import type { Journal } from '../journal/journal.ts'
import type { RunRecord } from '../journal/run-record.ts'
import type { ApiKey, ProxyCredentials } from '../secrets/bound-secret.ts'
import type { HeaderValues } from '../secrets/header-values.ts'
import { Redactor } from '../secrets/redactor.ts'
import { createItemRequests } from '../sending/item-requests.ts'
import type { SecondMeter } from '../sending/second-meter.ts'
import type { Answer } from '../service/exchange.ts'
import { redactAnswer } from '../service/redact-answer.ts'
import { createServiceClients } from '../service/service-client.ts'
import { type CallbackSettler, openCallbackSettler } from './callback-settler.ts'
import { ItemClaims } from './journal/item-claims.ts'
import { createRowSearch } from './other-rows.ts'
import { Sender } from './sender.ts'

interface SenderParts {
  workspace: string
  journal: Journal
  record: RunRecord
  meter: SecondMeter
  /** Called for each request, so that the key can be switched. */
  readApiKey: () => ApiKey | null
  proxyCredentials: ProxyCredentials | null
  headerValues: HeaderValues | null
  deliveredCodes: readonly string[]
  appVersion: string
}

/** Builds the sender of a run, whatever its operation (docs/interface.md §4). */
export function createSender(options: SenderParts): Sender {
  const { workspace, journal, record, meter } = options
  const { plan } = record
  const { exchange, mapRow, toRequest } = createItemRequests(
    record,
    workspace,
    options.deliveredCodes,
    (id) => hasRow(id),
  )
  const hasRow = createRowSearch(journal.db, record.plan.operation, mapRow)
  const claims = new ItemClaims(journal, record)
  return new Sender({
    plan,
    journal,
    claims,
    settler: record.callbackBase === null ? null : openSettler(options, claims),
    meter,
    createClient: createServiceClients({
      baseUrl: exchange.baseUrl,
      connection: plan.connection,
      readApiKey: options.readApiKey,
      proxyCredentials: options.proxyCredentials,
      headerValues: options.headerValues,
      userAgent: `sluice/${options.appVersion}`,
      onReuseEnded: (why) => journal.counters.add('reuse_ended', why, 1),
      onRedacted: () => journal.counters.add('redacted', 'answer', 1),
    }),
    toRequest: ({ item, rows }) => toRequest(item, rows),
    judge: (answered, rowKeys, attempts) => {
      if (answered.kind === 'answer') countText(answered, journal.counters)
      return exchange.judge(answered, rowKeys, attempts)
    },
    random: Math.random,
    readKeySource: () => options.readApiKey()?.source ?? null,
  })
}

/** Counts an answer that was not plain UTF-8. */
function countText({ charset, isDamaged }: Answer, counters: Counters): void {
  if (charset !== undefined) counters.add('answer_text', charset, 1)
  if (isDamaged) counters.add('answer_text', 'damaged', 1)
}

/** Redacts the run's secrets here, too: if another process listens, it may not have known them. */
function openSettler(options: SenderParts, claims: ItemClaims): CallbackSettler {
  const { readApiKey, proxyCredentials, headerValues, meter } = options
  const redactor = new Redactor()
  proxyCredentials?.redactBy(redactor)
  headerValues?.redactBy(redactor)
  return openCallbackSettler({
    ...options,
    claims,
    redact(body) {
      readApiKey()?.redactBy(redactor)
      return redactAnswer(redactor, body)
    },
    onLatency: (latencyUs) => meter.noteCallback(latencyUs),
  })
}
