import { z } from 'zod'
import { isDotSegment, type Mode } from '../service/endpoints.ts'

const indexIdSchema = z
  .string()
  .min(1)
  .refine((id) => !isDotSegment(id), 'must not be "." or "..", which would lead to another path')

export const indexShape = { mode: z.enum(['sync', 'async']).default('sync'), indexId: indexIdSchema }

/** Members of a single request to a custom index besides its body. */
export const indexScratchShape = { mode: z.enum(['sync', 'async']), indexId: indexIdSchema.max(200) }

interface OfIndex {
  mode: Mode
  indexId: string
}

export const INDEX_TRAITS = {
  subject: 'item',
  modeOf: ({ mode }: OfIndex) => mode,
  target: {
    kind: 'index',
    of: ({ indexId }: OfIndex) => indexId,
    with: <Own extends OfIndex>(operation: Own, indexId: string): Own => ({ ...operation, indexId }),
    missing: 'Type the id of the custom index',
  },
} as const

/** The settings of an operation on a custom index, in a few words. */
export function describeIndex({ indexId, mode }: OfIndex): string {
  return `${indexId || 'no index yet'}, ${mode}`
}

/** The initial settings of a single request, taken from a previous one as far as it has them. */
export function toFirstIndex({ mode = 'sync', indexId = 'sandbox-index' }: Partial<OfIndex>): OfIndex {
  return { mode, indexId }
}
