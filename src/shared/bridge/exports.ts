import { z } from 'zod'
import { base, runIdSchema } from './base.ts'
import { rowFilterSchema } from './results.ts'

/** Of rows: csv, xlsx, jsonl. Of load tests: html, junit.xml, hlog, csv of seconds, jsonl of kept requests. */
const exportFormatSchema = z.enum(['csv', 'xlsx', 'jsonl', 'html', 'junit.xml', 'hlog'])

/** Formats that an export may have; each is the ending of its file's name. */
export type ExportFormat = z.infer<typeof exportFormatSchema>

const exportedSchema = z.discriminatedUnion('kind', [
  /** Written where the person chose. */
  z.object({ kind: z.literal('file'), file: z.string(), rows: z.int(), sizeBytes: z.number() }),
  /** Waits under this path of the page's own origin, once; `name` is what the download is called. */
  z.object({
    kind: z.literal('download'),
    url: z.string(),
    name: z.string(),
    rows: z.int(),
    sizeBytes: z.number(),
  }),
])

/** Where an export went. */
export type Exported = z.infer<typeof exportedSchema>

/** Results as files. */
export const exportsContract = {
  /**
   * Writes a run's rows, or what a load test measured, which knows no filter. On the desktop `file` says where, and its ending the format; in a browser it is left out, and
   * the answer says where to download the file from, within an hour.
   */
  create: base
    .input(
      runIdSchema.extend({
        format: exportFormatSchema,
        file: z.string().min(1).exactOptional(),
        /** Cells exactly as they were, formulas unguarded. */
        lossless: z.boolean().exactOptional(),
        filter: rowFilterSchema.exactOptional(),
      }),
    )
    .output(exportedSchema),
}
