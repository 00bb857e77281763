import { z } from 'zod'
import { base, runIdSchema, toStrict } from './procedure.ts'

/**
 * Where the page finds the media of rows, in the desktop app and in a browser: `GET /files/media/HANDLE`,
 * with a handle from {@link mediaContract}. Supports HTTP ranges.
 */
export const MEDIA_PATH = '/files/media'

const KINDS = ['image', 'video', 'audio'] as const

export type MediaKind = (typeof KINDS)[number]

const fileSchema = z.object({
  kind: z.literal('file'),
  /** Index of the column that names it. */
  column: z.int(),
  shows: z.enum(KINDS),
  /** Content type of its bytes, such as `image/png`, regardless of its name. */
  type: z.string(),
  sizeBytes: z.number(),
  /** An image that moves. */
  isAnimated: z.boolean(),
  /** Path on the page's own origin. */
  url: z.string(),
})

const mediaSchema = z.discriminatedUnion('kind', [
  fileSchema,
  /** An address elsewhere: nothing was fetched from there. */
  z.object({ kind: z.literal('remote'), column: z.int(), host: z.string() }),
  /** A file that cannot be shown. `missing`: not in the folder of the source. */
  z.object({
    kind: z.literal('unusable'),
    column: z.int(),
    why: z.enum(['missing', 'not-media', 'too-large']),
    sizeBytes: z.number().nullable(),
  }),
])

/** A picture, video or sound that a row names. */
export type RowMedia = z.infer<typeof mediaSchema>

/** See {@link RowMedia}; one whose bytes are at hand. */
export type MediaFileEntry = z.infer<typeof fileSchema>

const rowSchema = runIdSchema.extend({ row: z.int().min(1) })

/** Pictures, videos and sounds that rows name. */
export const mediaContract = {
  /** A row's media: files in the folder of the run's source, and remote addresses, which are not fetched. */
  ofRow: base.input(toStrict(rowSchema)).output(z.array(mediaSchema)),
  /** Fetches what a row's column names elsewhere, once; fails with `BAD_USAGE` if it cannot be shown. */
  fetch: base.input(toStrict(rowSchema.extend({ column: z.int().min(0) }))).output(fileSchema),
}
