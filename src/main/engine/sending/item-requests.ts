import type { RunRecord } from '../journal/run-record.ts'
import type { Body } from '../mapping/json-text.ts'
import { createBodyMapper, createRowMapper, type MapRow } from '../mapping/row-mapper.ts'
import { createRunAddresses, type RunAddresses } from '../receiver/addresses.ts'
import { readReceiverSettings } from '../receiver/receiver-settings.ts'
import type { HasOtherRow } from '../service/echoes.ts'
import { createOperationExchange, type OperationExchange } from '../service/operation-exchange.ts'
import type { ServiceRequest } from '../service/service-client.ts'

/** A row as the journal holds it. */
export interface ItemRow {
  row: number
  cells: readonly string[]
  /** The kind of each cell in a JSON source; null if all are text. */
  kinds: string | null
}

/** An item's request, and the keys by which its answer tells the item's rows apart. */
export interface ItemRequest {
  request: ServiceRequest
  rowKeys: readonly string[]
  /** Each row's own part of the request, in order. */
  bodies: readonly Readonly<Body>[]
}

export interface ItemRequests {
  mapRow: MapRow
  toCallbackUrl: RunAddresses['toCallbackUrl']
  /** The host, and the judges of its answers. */
  exchange: OperationExchange
  /** The request of an item with these rows; `item` is null for a row that is never sent. */
  toRequest(item: number | null, rows: readonly ItemRow[]): ItemRequest
}

/**
 * Prepares the requests of a run (docs/interface.md §4). Each is a pure function of the plan and the cells of
 * its rows, so that intake, sender, load test and results all get the same one.
 */
export function createItemRequests(
  record: Pick<RunRecord, 'plan' | 'runToken' | 'callbackBase' | 'mediaBase'> & {
    columns: readonly string[]
  },
  workspace: string,
  /** Error codes that mean "this post_id was delivered before", in addition to the connection's own. */
  deliveredCodes: readonly string[] = [],
  hasOtherRow?: HasOtherRow,
): ItemRequests {
  const { plan, columns, runToken } = record
  const addresses = createRunAddresses(record, () => readReceiverSettings(workspace).secret)
  const mapRow = createRowMapper(plan, columns, runToken, addresses)
  const toBody = createBodyMapper(plan, columns, runToken, addresses)
  const exchange = createOperationExchange(plan, {
    deliveredCodes,
    nowMs: Date.now,
    ...(hasOtherRow !== undefined && { hasOtherRow }),
  })
  return {
    mapRow,
    exchange,
    toCallbackUrl: addresses.toCallbackUrl,
    toRequest(item, rows) {
      const bodies = rows.map(({ row, cells, kinds }) => toBody(row, cells, kinds))
      const callbackUrl = item === null ? null : addresses.toCallbackUrl(item)
      return { bodies, request: exchange.toRequest(bodies, callbackUrl), rowKeys: exchange.toRowKeys(bodies) }
    },
  }
}
