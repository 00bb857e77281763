import { z } from 'zod'
import { SOURCE_FORMAT_NAMES } from '../plan/source-formats.ts'

/** A character a file was read with, and its origin: stated, from the file's ending, guessed, default. */
const characterSchema = z.object({
  /** '' if no character has this role. */
  character: z.string(),
  by: z.enum(['given', 'ending', 'guess', 'default']),
})

/** How an encoding is known: stated, from a byte-order mark, as all bytes are valid, or guessed. */
const encodingBySchema = z.enum(['given', 'bom', 'strict', 'guess'])

/**
 * How one file was read: what each part was taken for, and which of these are guesses. Members that do not
 * apply are absent.
 */
export const readAsSchema = z.object({
  /** The file's name; absent if the source is a single file. */
  file: z.string().exactOptional(),
  format: z.enum(SOURCE_FORMAT_NAMES),
  /** For a format that is recognized by content, not by name. */
  format_by: z.literal('guess').exactOptional(),
  /** Lines with several inputs, each of which became a row. */
  split_lines: z.int().exactOptional(),
  encoding: z
    .object({
      name: z.string(),
      by: encodingBySchema,
    })
    .exactOptional(),
  /** For a folder of text files: the number of files in each encoding, and the first of them. */
  encodings: z
    .array(z.object({ name: z.string(), by: encodingBySchema, files: z.int(), first: z.string() }))
    .exactOptional(),
  delimiter: characterSchema.exactOptional(),
  /** Encloses cells. */
  quote: characterSchema.exactOptional(),
  /** Makes a quote part of a cell; '' if quotes are doubled instead. */
  escape: characterSchema.exactOptional(),
  /** The row with the column names, counted as in a spreadsheet; null if there is none. */
  header_row: z.int().nullable().exactOptional(),
  sheet: z
    .object({
      name: z.string(),
      /** Sheets of the workbook. */
      of: z.int(),
      by: z.enum(['given', 'default', 'guess']),
    })
    .exactOptional(),
  /** Which rows of a sheet were read, if a person chose. */
  rows: z.enum(['all', 'visible']).exactOptional(),
  /** The content of merged cells, if a person chose. */
  merged: z.enum(['empty', 'fill']).exactOptional(),
  /** Columns of a workbook whose links are read in addition to their texts. */
  links: z.array(z.string()).exactOptional(),
  /** Records without any character, which do not count as rows. */
  empty: z.int().exactOptional(),
  /** Rows that the sheet hides, read or not. */
  hidden: z.int().exactOptional(),
})

export type ReadAs = z.infer<typeof readAsSchema>

/** How a run's source was read, file by file, with the totals of what was skipped. */
export const sourceReadSchema = z.object({
  read_as: z.array(readAsSchema),
  empty: z.int(),
  hidden: z.int(),
})

export type SourceRead = z.infer<typeof sourceReadSchema>

/** How a source was read, for summaries. */
export function toSourceRead(readAs: readonly ReadAs[]): SourceRead {
  const sum = (of: (file: ReadAs) => number | undefined) =>
    readAs.reduce((total, file) => total + (of(file) ?? 0), 0)
  return { read_as: [...readAs], empty: sum(({ empty }) => empty), hidden: sum(({ hidden }) => hidden) }
}
