import { z } from 'zod'
import {
  LEDGER_PAGE_MAX,
  LEDGER_STATES,
  ledgerKindSchema,
  ledgerSchema,
  ledgerServiceSchema,
} from '../lookback/ledger.ts'
import { base, toStrict } from './procedure.ts'
import { exportedSchema, exportTargetSchema } from './results.ts'
import { chosenSourceSchema } from './source.ts'

const queryShape = {
  of: ledgerKindSchema,
  service: toStrict(ledgerServiceSchema),
  /** Id of the index or name of the watchlist; null for the only one. */
  list: z.string().nullable(),
  states: z.array(z.enum([...new Set(Object.values(LEDGER_STATES).flat())])),
  search: z.string().nullable(),
}

const querySchema = z.strictObject(queryShape)

export type ListQuery = z.infer<typeof querySchema>

export const LIST_FORMATS = ['csv', 'xlsx', 'jsonl'] as const

/** What runs did to indexes, watchlists and appeals (docs/ledger.md). Reading it sends nothing. */
export const listsContract = {
  /** A page of a ledger; null if no run has contributed to it yet. */
  read: base
    .input(
      z.strictObject({
        ...queryShape,
        /** Null for the connection in use, else the most recently used service. */
        service: queryShape.service.nullable(),
        offset: z.int().min(0),
        limit: z.int().min(1).max(LEDGER_PAGE_MAX),
      }),
    )
    .output(ledgerSchema.nullable()),
  /** Writes the entries to a file that can be a source. `targetId` as for `exports.create`. */
  export: base
    .input(
      z.strictObject({
        ...queryShape,
        format: z.enum(LIST_FORMATS),
        targetId: exportTargetSchema.shape.targetId.exactOptional(),
      }),
    )
    .output(exportedSchema),
  /** Writes the entries to the workspace as the source of a run; also tells if the service is the sandbox. */
  toSource: base.input(querySchema).output(chosenSourceSchema.extend({ isSandbox: z.boolean() })),
}
