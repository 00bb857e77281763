import type { RunView } from '../../journal/run-view.ts'
import { createRowMapper } from '../../mapping/row-mapper.ts'
import { createRunAddresses } from '../../receiver/addresses.ts'
import { readReceiverSettings } from '../../receiver/receiver-settings.ts'
import { createOperationExchange } from '../../service/operation-exchange.ts'

/** Rows among which those of an item are looked for; invalid ones may stand between them. */
const ITEM_SPAN_MAX = 100_000

/** A request as it was or will be sent. */
export interface RowRequest {
  method: 'POST' | 'GET'
  url: string
  /** JSON text; null for GET. */
  body: string | null
  /** Rows of the item, each with its own part of the body. */
  parts: { row: number; body: Readonly<Record<string, unknown>> }[]
}

/** Recomputes a run's requests: each is a pure function of the plan and its rows' cells. */
interface RowRequests {
  /** The request that carries a row; `item` is null for a row that is never sent. */
  toRequest(row: number, item: number | null): RowRequest
  /** A row's own part of the body of its request. */
  toBody: MapBody
}

type MapBody = (
  row: number,
  cells: readonly string[],
  kinds: string | null,
) => Readonly<Record<string, unknown>>

/** Prepares a run's requests. */
export function createRowRequests({ db, record, workspace }: RunView): RowRequests {
  const { plan, columns, runToken } = record
  const addresses = createRunAddresses(record, () => readReceiverSettings(workspace).secret)
  const mapRow = createRowMapper(plan, columns, runToken, addresses)
  const exchange = createOperationExchange(plan, { deliveredCodes: [], nowMs: Date.now })
  const oneRow = db.prepare('SELECT id, cells, kinds FROM row WHERE id = ?')
  const itemRows = db.prepare(
    'SELECT id, cells, kinds FROM row WHERE item = ?1 AND id BETWEEN ?1 AND ?1 + ?2 ORDER BY id',
  )
  const toBody: MapBody = (row, cells, kinds) => mapRow(row, cells, kinds).body
  return {
    toBody,
    toRequest(row, item) {
      const rows = item === null ? oneRow.all(row) : itemRows.all(item, ITEM_SPAN_MAX)
      const parts = rows.map(({ id, cells, kinds }) => ({
        row: Number(id),
        body: toBody(Number(id), JSON.parse(String(cells)) as string[], toKinds(kinds)),
      }))
      const { method, path, body } = exchange.toRequest(
        parts.map((part) => part.body),
        item === null ? null : addresses.toCallbackUrl(item),
      )
      return { method, url: exchange.baseUrl.replace(/\/+$/, '') + path, body, parts }
    },
  }
}

function toKinds(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}
