import { z } from 'zod'
import { base, doneSchema } from './base.ts'

const sandboxSchema = z.object({
  baseUrl: z.string(),
  /** The bundled sample, to be used as a source. */
  sample: z.object({ path: z.string(), name: z.string(), sizeBytes: z.number() }),
})

/** The embedded service, to try things on. */
export const sandboxContract = {
  /** Starts it unless it runs already. Runs against its `baseUrl` need no `apiKey`. */
  start: base.output(sandboxSchema),
  stop: base.output(doneSchema),
}
