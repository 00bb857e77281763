import { z } from 'zod'
import { planSchema } from '../plan/plan.ts'
import { sourcePlaceSchema } from '../plan/source-place.ts'
import { sourcePreviewSchema } from '../run/results.ts'
import { base, toStrict } from './procedure.ts'

/**
 * A source as a page holds it. `sourceId` is a handle of the main process for a file or folder from a dialog,
 * a drop or an upload; it cannot be guessed, is valid until Sluice ends, and does not reveal the path.
 */
export const chosenSourceSchema = z.object({
  sourceId: z.string().min(1).max(100),
  /** What the person calls it. */
  name: z.string(),
  sizeBytes: z.number(),
})

export type ChosenSource = z.infer<typeof chosenSourceSchema>

/** A plan's source, with one handle for all of its files. */
export const sourceReadingSchema = planSchema.shape.source
  .omit({ path: true, more: true })
  .extend({ sourceId: chosenSourceSchema.shape.sourceId })

/** Longest part of a cell that travels in a page or a preview, in UTF-16 code units. */
export const EXCERPT_MAX_CHARACTERS = 300

/** A row's cells as excerpts of at most {@link EXCERPT_MAX_CHARACTERS}, and the full length of each. */
export const excerptShape = {
  cells: z.array(z.string()),
  /** Length of each cell in UTF-16 code units; more than the excerpt's if it was cut. */
  cellLengths: z.array(z.int()),
}

/** A source's first rows, with excerpts of their cells. */
const previewSchema = sourcePreviewSchema.extend({
  rows: z.array(z.object({ row: z.int(), place: sourcePlaceSchema, ...excerptShape })),
  /** The files of a source with several, without their paths, which a page never learns. */
  files: sourcePreviewSchema.shape.files.unwrap().element.omit({ path: true }).array().exactOptional(),
  /** Whether the file has rows after these. */
  hasMore: z.boolean(),
  /** How many of these rows have a malformed record. */
  malformedRows: z.int(),
  /** Whether the line taken as the header looks like a row. */
  isHeaderDoubtful: z.boolean(),
})

/** The first rows of a source as the window shows them. */
export type BridgePreview = z.infer<typeof previewSchema>

/** Most sources that a page can unite at once. */
const UNITED_MAX = 10_000

/** Sources: files before they become a run. */
export const sourceContract = {
  /** Unites several sources, in that order. Fails with `BAD_SOURCE` for an unknown handle. */
  unite: base
    .input(z.strictObject({ sourceIds: z.array(chosenSourceSchema.shape.sourceId).min(1).max(UNITED_MAX) }))
    .output(chosenSourceSchema),
  /** A source without one of another's files, named by its index in the preview. Fails with `BAD_SOURCE`. */
  leaveOut: base
    .input(z.strictObject({ sourceId: chosenSourceSchema.shape.sourceId, file: z.int().min(0) }))
    .output(chosenSourceSchema),
  /** Reads the first rows with the given encoding, delimiter and header; cheap enough for every change. */
  preview: base
    .input(toStrict(z.object({ source: sourceReadingSchema, limit: z.int().min(1).max(500).default(100) })))
    .output(previewSchema),
}
