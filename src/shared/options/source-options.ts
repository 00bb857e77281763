import { z } from 'zod'
import { bareUrlSchema } from '../plan/connection.ts'
import { SOURCE_FORMAT_NAMES } from '../plan/source-formats.ts'
import type { OptionTable } from './option.ts'

/** One character with a meaning in delimited text, or `none`. */
const characterSchema = z.union([z.string().length(1), z.literal('none')])

const mediaSchema = z.discriminatedUnion('kind', [
  /** Addresses from a template; `{{path}}` is the file's path inside the folder, percent-encoded. */
  z.object({ kind: z.literal('template'), template: z.string().min(1) }),
  /** The media host serves the files itself; `url` is its public base (default: its own address). */
  z.object({ kind: z.literal('host'), url: bareUrlSchema.optional() }),
])

/** Where the service finds the media files of a folder. */
export type PlanMedia = z.infer<typeof mediaSchema>

/** A file or folder of rows, and how to read it (docs/sources.md). */
export const SOURCE_OPTIONS = {
  path: {
    /** Absolute path of the file or folder. */
    schema: z.string().min(1),
    words: 'The file or folder; relative to the plan file.',
    setting: 'source',
  },
  more: {
    /** Absolute paths. */
    schema: z.array(z.string().min(1)).min(1).optional(),
    words: 'Further files, or folders of tables, relative to the plan file; their rows follow in this order.',
    setting: 'further source',
  },
  format: {
    schema: z.enum(SOURCE_FORMAT_NAMES).optional(),
    words: 'Source format (default: from the file extension).',
    section: 'file',
    flag: '--format <format>',
  },
  header: {
    schema: z.boolean().default(true),
    words: 'Whether the first record has the column names.',
    section: 'header',
    flag: '--no-header',
    help: 'treat the first record as data, not as column names',
  },
  headerRow: {
    schema: z.int().min(1).optional(),
    words: 'Record with the column names, from 1; earlier records are skipped.',
    setting: 'header in row',
    section: 'header',
    flag: '--header-row <n>',
    help: 'record with the column names; earlier records are skipped (default: 1)',
  },
  sheet: {
    schema: z.union([z.string(), z.int().min(1)]).optional(),
    words: 'Sheet name, or number from 1 (default: the first visible sheet with rows).',
    section: 'file',
    flag: '--sheet <name|n>',
    help: 'sheet name or number (default: the first visible sheet with rows)',
  },
  rows: {
    schema: z.enum(['all', 'visible']).optional(),
    words:
      'Rows of a spreadsheet: all or only visible ones (default: all, asks before it sends hidden ones).',
    setting: 'rows of the spreadsheet',
    section: 'workbook',
    flag: '--rows <rows>',
    help: 'rows of a spreadsheet (default: all; asks before it sends hidden ones)',
    choices: [
      ['all', 'All, hidden rows too'],
      ['visible', 'Visible rows only'],
    ],
    field: { label: 'Rows', placeholder: 'All, ask about hidden rows' },
  },
  merged: {
    schema: z.enum(['empty', 'fill']).optional(),
    words:
      'Cells that are merged with another: empty, or fill them with its text (default: empty, with a warning).',
    section: 'workbook',
    flag: '--merged <cells>',
    help: 'merged cells of a spreadsheet: empty but for the first, or filled with its text (default: empty, with a warning)',
    choices: [
      ['empty', 'Empty'],
      ['fill', 'Fill with the first'],
    ],
    field: { label: 'Merged cells', placeholder: 'Empty, with a warning' },
  },
  encoding: {
    /** A label that `iconv-lite` or TextDecoder knows. */
    schema: z.string().optional(),
    words: 'Character encoding, such as windows-1252 (default: detected).',
    section: 'text',
    flag: '--encoding <name>',
  },
  delimiter: {
    schema: characterSchema.optional(),
    words: 'Character between cells, or none for one cell a line (default: detected).',
    section: 'text',
    flag: '--delimiter <character>',
    help: 'character between cells, `tab`, or `none` for one cell a line (default: detected)',
  },
  quote: {
    schema: characterSchema.optional(),
    words: 'Character around cells, or none (default: detected).',
    section: 'text',
    flag: '--quote <character>',
    help: 'character around cells, or `none` (default: detected)',
  },
  escape: {
    schema: characterSchema.optional(),
    words:
      'Character before a quote that is part of a cell, or none if quotes are doubled (default: detected).',
    section: 'text',
    flag: '--escape <character>',
    help: 'character before a quote that is part of a cell, or `none` if quotes are doubled (default: detected)',
  },
  /** Without it, the media files of a folder have no address and cannot be sent. */
  media: {
    schema: mediaSchema.optional(),
    words: 'Where the service finds the media files of a folder.',
    parts: {
      kind: { words: 'URLs from a template, or served by Sluice.', setting: 'media' },
      template: { words: 'URL in which {{path}} is the path of the file inside the folder.' },
      url: { words: 'Public URL of the media host (default: its own address).' },
    },
  },
} as const satisfies OptionTable
