import { z } from 'zod'
import { DELIMITER_NAMES } from '../../../shared/messages/reading-messages.ts'
import { type PlanMedia, SOURCE_OPTIONS } from '../../../shared/options/source-options.ts'
import { planSchema } from '../../../shared/plan/plan.ts'
import { parseBaseUrl } from '../../ui/connection/destination.ts'
import { type TypedOptions, toTypedShape } from '../../ui/options/typed-options.ts'

/** A person's choices of how to read a source; absent ones are detected. */
export const readingSchema = planSchema.shape.source
  .omit({ path: true, more: true, format: true, media: true })
  // Other formats are known by the file's name.
  .extend({ format: z.enum(['jsonl', 'openai-batch']).optional() })

export type Reading = z.infer<typeof readingSchema>

/** The reading with some changes; null members are detected. */
export function changeReading(
  reading: Reading,
  change: { [Name in keyof Reading]?: Reading[Name] | null },
): Reading {
  const stated = Object.entries({ ...reading, ...change }).filter(([, value]) => value !== null)
  return readingSchema.parse(Object.fromEntries(stated))
}

const typedSchema = z.object(toTypedShape(SOURCE_OPTIONS))

/** A reading in the form of inputs that are derived from the table of options. */
export function toTypedReading(reading: Reading): TypedOptions<typeof SOURCE_OPTIONS> {
  return typedSchema.parse(reading)
}

/** How the service finds the media files of a folder, as typed. */
export type MediaSettings =
  /** The app serves them; an empty `publicUrl` means its own address. */
  { kind: 'host'; publicUrl: string } | { kind: 'template'; template: string }

/** Initial settings for a folder. */
export const DEFAULT_MEDIA: MediaSettings = { kind: 'host', publicUrl: '' }

export function findMediaGap(media: MediaSettings): string | null {
  if (media.kind === 'template') {
    if (!media.template.includes('{{path}}')) return 'Put {{path}} where the path of the file belongs'
    const parsed = parseBaseUrl(media.template.replaceAll('{{path}}', 'x').replace(/[?#].*$/s, ''))
    return parsed.kind === 'bad' ? parsed.message : null
  }
  if (media.publicUrl.trim() === '') return null
  const parsed = parseBaseUrl(media.publicUrl)
  return parsed.kind === 'bad' ? parsed.message : null
}

export function toPlanMedia(media: MediaSettings): PlanMedia {
  if (media.kind === 'template') return { kind: 'template', template: media.template.trim() }
  const parsed = parseBaseUrl(media.publicUrl)
  return { kind: 'host', ...(parsed.kind === 'url' && { url: parsed.url }) }
}

export const DELIMITERS = [
  ...Object.entries(DELIMITER_NAMES).map(([value, label]) => ({ value, label })),
  { value: 'none', label: 'none: one cell a line' },
]

export const QUOTES = [
  { value: '"', label: 'double quote "' },
  { value: "'", label: "single quote '" },
  { value: 'none', label: 'none' },
]

export const ESCAPES = [
  { value: 'none', label: 'doubled quotes' },
  { value: '\\', label: 'backslash \\' },
]

/** The label of a character of delimited text in a list of choices; '' stands for none. */
export function nameCharacter(
  choices: readonly { value: string; label: string }[],
  character: string,
): string {
  const value = character === '' ? 'none' : character
  return choices.find((known) => known.value === value)?.label ?? character
}

export const PREVIEW_ROWS = 100
