import { z } from 'zod'
import { base, runIdSchema } from './base.ts'
import { rowFilterSchema } from './results.ts'
import { toStrict } from './to-strict.ts'

/** Of rows: csv, xlsx, jsonl. Of load tests: html, junit.xml, hlog, csv of seconds, jsonl of kept requests. */
const exportFormatSchema = z.enum(['csv', 'xlsx', 'jsonl', 'html', 'junit.xml', 'hlog'])

/** Formats that an export may have; each is the ending of its file's name. */
export type ExportFormat = z.infer<typeof exportFormatSchema>

/** A file that a person chose in the save dialog, as a page holds it. */
export const exportTargetSchema = z.object({
  /** A handle of the main process: it cannot be guessed, and is good for one export. */
  targetId: z.string().min(1).max(100),
})

/** See {@link exportTargetSchema}. */
export type ExportTarget = z.infer<typeof exportTargetSchema>

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
   * Writes a run's rows, or what a load test measured, which knows no filter. On the desktop `targetId` is a file that
   * the save dialog named, good for one export; in a browser it is left out, and the answer says where to download the
   * file from, within an hour.
   */
  create: base
    .input(
      toStrict(
        runIdSchema.extend({
          format: exportFormatSchema,
          targetId: exportTargetSchema.shape.targetId.exactOptional(),
          /** Cells exactly as they were, formulas unguarded. */
          lossless: z.boolean().exactOptional(),
          filter: rowFilterSchema.exactOptional(),
        }),
      ),
    )
    .output(exportedSchema),
}
