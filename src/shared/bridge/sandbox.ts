import { z } from 'zod'
import { base, doneSchema } from './base.ts'
import { chosenSourceSchema } from './source.ts'

const sandboxSchema = z.object({
  baseUrl: z.string(),
  /** The bundled sample, to be used as a source. */
  sample: chosenSourceSchema,
})

/** What it has from the start: the id of a custom index, the name of a watchlist. */
const offersSchema = z.object({ indexId: z.string(), watchlist: z.string() })

/** See {@link offersSchema}. */
export type SandboxOffers = z.infer<typeof offersSchema>

/** The embedded service, to try things on. */
export const sandboxContract = {
  /** Names that it knows, whether it runs or not. */
  describe: base.output(offersSchema),
  /** Starts it; one that runs and is not in use forgets its tasks. Runs against it need no `apiKey`. */
  start: base.output(sandboxSchema),
  stop: base.output(doneSchema),
}
