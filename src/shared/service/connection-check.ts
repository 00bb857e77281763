import { z } from 'zod'

/** How the address of a connection answered a request that needs no key. */
const addressCheckSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('answered'), status: z.int(), durationMs: z.number() }),
  z.object({ kind: z.literal('unreachable'), message: z.string() }),
])

/** The service's answer to a connection's key. */
const keyCheckSchema = z.discriminatedUnion('kind', [
  /** No key is available, or the address cannot be reached. */
  z.object({ kind: z.literal('unchecked') }),
  z.object({
    /** `unclear`: the answer neither accepts nor refuses the key. */
    kind: z.enum(['accepted', 'refused', 'unclear']),
    status: z.int().nullable(),
    errorCode: z.string().nullable(),
    message: z.string().nullable(),
  }),
])

/** The result of testing a connection: its address, then its key. */
export const connectionCheckSchema = z.object({ address: addressCheckSchema, key: keyCheckSchema })

export type ConnectionCheck = z.infer<typeof connectionCheckSchema>
