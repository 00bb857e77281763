import { z } from 'zod'
import { SOURCE_FORMAT_NAMES } from '../plan/source-formats.ts'

/** A character that a file was read with, and why: stated, said by the file's ending, guessed, or nothing said otherwise. */
const characterSchema = z.object({
  /** '' if nothing does it. */
  character: z.string(),
  by: z.enum(['given', 'ending', 'guess', 'default']),
})

/** How an encoding is known: by the person, a byte-order mark, all bytes being valid, or a guess. */
const encodingBySchema = z.enum(['given', 'bom', 'strict', 'guess'])

/** How one file was read: what each part of it was taken for, and which of that is a guess. Members that do not apply are absent. */
export const readAsSchema = z.object({
  /** The file's name; absent if a run has one source. */
  file: z.string().exactOptional(),
  format: z.enum(SOURCE_FORMAT_NAMES),
  /** Of a format that shows in what the file holds, not in its name. */
  format_by: z.literal('guess').exactOptional(),
  /** Lines that have several inputs, each of which is a row. */
  split_lines: z.int().exactOptional(),
  encoding: z
    .object({
      name: z.string(),
      by: encodingBySchema,
    })
    .exactOptional(),
  /** Of a folder whose texts are files: how many of them are in each encoding, and the first of these. */
  encodings: z
    .array(z.object({ name: z.string(), by: encodingBySchema, files: z.int(), first: z.string() }))
    .exactOptional(),
  delimiter: characterSchema.exactOptional(),
  /** Stands around cells. */
  quote: characterSchema.exactOptional(),
  /** Makes a quote part of a cell; '' if it is doubled. */
  escape: characterSchema.exactOptional(),
  /** The row that names the columns, as a spreadsheet counts it; null if none does. */
  header_row: z.int().nullable().exactOptional(),
  sheet: z
    .object({
      name: z.string(),
      /** Sheets of the workbook. */
      of: z.int(),
      by: z.enum(['given', 'default', 'guess']),
    })
    .exactOptional(),
  /** Which rows of a sheet were read, if a person said so. */
  rows: z.enum(['all', 'visible']).exactOptional(),
  /** What cells have that are merged with another, if a person said so. */
  merged: z.enum(['empty', 'fill']).exactOptional(),
  /** Columns of a workbook whose links are read as well as their texts. */
  links: z.array(z.string()).exactOptional(),
  /** Records without a character in them, which are no rows. */
  empty: z.int().exactOptional(),
  /** Rows that the sheet hides, read or not. */
  hidden: z.int().exactOptional(),
})

export type ReadAs = z.infer<typeof readAsSchema>

/** How the source of a run was read, file by file, with what was passed over in all of them. */
export const sourceReadSchema = z.object({
  read_as: z.array(readAsSchema),
  empty: z.int(),
  hidden: z.int(),
})

export type SourceRead = z.infer<typeof sourceReadSchema>

/** How a source was read, as summaries have it. */
export function toSourceRead(readAs: readonly ReadAs[]): SourceRead {
  const sum = (of: (file: ReadAs) => number | undefined) =>
    readAs.reduce((total, file) => total + (of(file) ?? 0), 0)
  return { read_as: [...readAs], empty: sum(({ empty }) => empty), hidden: sum(({ hidden }) => hidden) }
}
