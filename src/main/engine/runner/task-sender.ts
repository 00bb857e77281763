import type { Journal } from '../journal/journal.ts'
import type { RunRecord } from '../journal/run-record.ts'
import { resolveMapping } from '../mapping/resolve-mapping.ts'
import { createRowMapper } from '../mapping/row-mapper.ts'
import { judgeTask } from '../service/judge-task.ts'
import { createServiceClient } from '../service/service-client.ts'
import { createTaskRequests } from '../service/task-request.ts'
import type { SecondMeter } from './second-meter.ts'
import { Sender } from './sender.ts'

/** Builds the sender of a run that submits tasks (interface §4.1, §4.2). */
export function createTaskSender(options: {
  journal: Journal
  record: RunRecord
  meter: SecondMeter
  apiKey: string
  deliveredCodes: readonly string[]
  appVersion: string
}): Sender {
  const { journal, record, meter } = options
  const { plan, columns, runToken } = record
  const mapping = resolveMapping(plan, columns)
  const mapRow = createRowMapper({ ...plan, mapping }, columns, runToken)
  const toRequest = createTaskRequests(plan)
  const judgeOptions = {
    origin: new URL(plan.connection.baseUrl).origin,
    deliveredCodes: [...plan.connection.deliveredCodes, ...options.deliveredCodes],
    nowMs: Date.now,
  }
  return new Sender({
    plan,
    journal,
    record,
    meter,
    createClient: () =>
      createServiceClient({
        baseUrl: plan.connection.baseUrl,
        apiKey: options.apiKey,
        timeoutMs: plan.connection.timeoutMs,
        userAgent: `sluice/${options.appVersion}`,
      }),
    toRequest: ({ item, rows }) => {
      const [row] = rows
      if (row === undefined) throw new Error(`item ${item} has no row`)
      return toRequest(mapRow(row.row, row.cells).body)
    },
    judge: (exchange) => judgeTask(exchange, judgeOptions),
    random: Math.random,
  })
}
