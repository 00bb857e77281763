/** Traits of a source format, for offering, recognising and reading it. */
interface SourceFormatTraits {
  /** What a person calls it. */
  name: string
  /** Endings of file names, the most common one first. */
  endings: readonly string[]
  /** Endings that its reader knows only to say what such a file is instead. */
  foreignEndings?: readonly string[]
  mediaTypes: readonly string[]
  /** Whether a row may name the columns. */
  hasHeader: boolean
  /** Whether a person may choose the encoding of its text. */
  hasEncoding: boolean
  /** Whether a character separates cells. */
  hasDelimiter: boolean
  /** That character, if the format fixes it. */
  delimiter?: string
}

/** Formats whose values have names in the text itself, or are whole files. */
const KEYED = { mediaTypes: [], hasHeader: false, hasEncoding: true, hasDelimiter: false } as const

/**
 * Every source format. Command line, window, plan and engine derive their knowledge of formats from this
 * table; their readers are in `engine/source/open-source.ts`.
 */
const SOURCE_FORMATS = {
  csv: {
    name: 'CSV',
    endings: ['.csv', '.txt'],
    mediaTypes: ['text/csv'],
    hasHeader: true,
    hasEncoding: true,
    hasDelimiter: true,
  },
  tsv: {
    name: 'TSV',
    endings: ['.tsv', '.tab'],
    mediaTypes: ['text/tab-separated-values'],
    hasHeader: true,
    hasEncoding: true,
    hasDelimiter: true,
    delimiter: '\t',
  },
  xlsx: {
    name: 'Excel (.xlsx)',
    endings: ['.xlsx', '.xlsm', '.xltx', '.xltm'],
    foreignEndings: ['.xlsb', '.xls', '.ods', '.numbers'],
    mediaTypes: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'],
    hasHeader: true,
    hasEncoding: false,
    hasDelimiter: false,
  },
  jsonl: { ...KEYED, name: 'JSON Lines', endings: ['.jsonl', '.ndjson', '.jsonlines', '.json'] },
  // Recognized by its first line.
  'openai-batch': { ...KEYED, name: 'OpenAI batch', endings: [] },
  folder: { ...KEYED, name: 'a folder', endings: [] },
} as const satisfies Record<string, SourceFormatTraits>

export type SourceFormat = keyof typeof SOURCE_FORMATS

export const SOURCE_FORMAT_NAMES = Object.keys(SOURCE_FORMATS) as SourceFormat[]

const TRAITS: Record<SourceFormat, SourceFormatTraits> = SOURCE_FORMATS
const FILE_TRAITS = Object.values(TRAITS).filter(({ endings }) => endings.length > 0)

/** Ending of a compressed file, after that of its format: `posts.csv.gz`. */
const PACKED_ENDING = '.gz'

/** Endings of every file that can be a source, from the last dot on. */
export const SOURCE_ENDINGS: readonly string[] = [
  ...FILE_TRAITS.flatMap(({ endings }) => endings),
  PACKED_ENDING,
]

/** A file name without the ending for compression. */
export function removePackedEnding(name: string): string {
  return name.toLowerCase().endsWith(PACKED_ENDING) ? name.slice(0, -PACKED_ENDING.length) : name
}

/** What a file input of a page accepts: endings and media types. */
export const ACCEPTED_SOURCES = [
  ...SOURCE_ENDINGS,
  ...FILE_TRAITS.flatMap(({ mediaTypes }) => mediaTypes),
].join()

/** The formats of files in words: `CSV, TSV, Excel (.xlsx) or JSON Lines`. */
export const SOURCE_NAMES_TEXT = listOr(FILE_TRAITS.map(({ name }) => name))

/** Their usual endings in words: `.csv, .tsv, .xlsx or .jsonl`. */
export const SOURCE_ENDINGS_TEXT = listOr(FILE_TRAITS.flatMap(({ endings }) => endings.slice(0, 1)))

export function getFormatTraits(format: SourceFormat): SourceFormatTraits {
  return TRAITS[format]
}

/** The format for a file name's ending, in any case; null for an unknown one. */
export function findFormatOfEnding(ending: string): SourceFormat | null {
  const wanted = ending.toLowerCase()
  const isNamed = ({ endings, foreignEndings = [] }: SourceFormatTraits) =>
    endings.includes(wanted) || foreignEndings.includes(wanted)
  return SOURCE_FORMAT_NAMES.find((format) => isNamed(TRAITS[format])) ?? null
}

/** Endings that only tables have: `.txt` may be a post, and `.json` may be a request. */
const TABLE_ENDINGS = FILE_TRAITS.flatMap(({ endings, foreignEndings = [] }) => [
  ...endings,
  ...foreignEndings,
]).filter((ending) => ending !== '.txt' && ending !== '.json')

/** Whether a file name has the ending of a table, compressed or not. */
export function isTableName(name: string): boolean {
  const unpacked = removePackedEnding(name.toLowerCase())
  return unpacked !== name.toLowerCase() || TABLE_ENDINGS.some((ending) => unpacked.endsWith(ending))
}

/** A file's name without its ending, if that is one of a source. */
export function removeSourceEnding(name: string): string {
  const unpacked = removePackedEnding(name)
  const ending = SOURCE_ENDINGS.find((one) => unpacked.toLowerCase().endsWith(one))
  return ending === undefined ? unpacked : unpacked.slice(0, -ending.length)
}

function listOr(words: readonly string[]): string {
  return `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}
