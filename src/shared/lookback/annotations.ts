import { z } from 'zod'

/** Most characters of a tag, of a name and of a note. */
const TAG_MAX = 64
const NAME_MAX = 200
const NOTE_MAX = 10_000

export const TAGS_MAX = 50

/** A person's notes about a run: kept next to the journal, which is evidence, and never in it. */
export const annotationsSchema = z.object({
  /** Null if the run has the name from its plan. */
  name: z.string().nullable(),
  tags: z.array(z.string()),
  note: z.string().nullable(),
})

export type Annotations = z.infer<typeof annotationsSchema>

export const NO_ANNOTATIONS: Annotations = { name: null, tags: [], note: null }

export const annotationChangeSchema = z.strictObject({
  /** An empty name restores the one from the plan. */
  name: z.string().exactOptional(),
  /** An empty note removes it. */
  note: z.string().exactOptional(),
  addTags: z.array(z.string()).readonly().exactOptional(),
  removeTags: z.array(z.string()).readonly().exactOptional(),
  /** Name and note as a person saw them: if what is to be changed was changed since, nothing is. */
  before: z.strictObject({ name: z.string(), note: z.string() }).exactOptional(),
})

export type AnnotationChange = z.infer<typeof annotationChangeSchema>

/** What is wrong with a tag, as a sentence without its full stop; null if it can be used. */
function findTagMistake(tag: string): string | null {
  if (tag.trim() === '') return 'a tag must not be empty'
  if (tag.trim() !== tag) return `the tag \`${tag}\` begins or ends with a space`
  if (/[,\p{Cc}]/u.test(tag)) return `the tag \`${tag}\` contains a comma or a control character`
  return tag.length > TAG_MAX
    ? `the tag \`${tag.slice(0, TAG_MAX)}…\` is longer than ${TAG_MAX} characters`
    : null
}

/** What is wrong with a change, as sentences without their full stops. */
export function findAnnotationMistakes({ name = '', note = '', addTags = [] }: AnnotationChange): string[] {
  return [
    ...addTags.map(findTagMistake).filter((mistake) => mistake !== null),
    ...(name.length > NAME_MAX ? [`the name is longer than ${NAME_MAX} characters`] : []),
    ...(note.length > NOTE_MAX ? [`the note is longer than ${NOTE_MAX} characters`] : []),
  ]
}

/**
 * What was changed since a person saw it, and would be replaced; null if nothing. A name of the plan never
 * is.
 */
export function findChangedSince(
  now: Annotations,
  { before, ...change }: AnnotationChange,
): { what: 'name' | 'note'; value: string } | null {
  if (before === undefined) return null
  const shown = { name: now.name ?? before.name, note: now.note ?? '' }
  const what = (['name', 'note'] as const).find(
    (one) => change[one] !== undefined && ![before[one], change[one]].includes(shown[one].trim()),
  )
  return what === undefined ? null : { what, value: shown[what] }
}

export function applyAnnotationChange(before: Annotations, change: AnnotationChange): Annotations {
  const removed = new Set(change.removeTags)
  const tags = [...new Set([...before.tags, ...(change.addTags ?? [])])].filter((tag) => !removed.has(tag))
  const toText = (text: string | undefined, old: string | null) =>
    text === undefined ? old : text.trim() === '' ? null : text
  return { name: toText(change.name, before.name), tags: tags.sort(), note: toText(change.note, before.note) }
}
