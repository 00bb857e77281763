import { createHash } from 'node:crypto'
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { z } from 'zod'

const arrivalSchema = z.strictObject({
  kind: z.literal('arrival'),
  ids: z.array(z.string()),
  path: z.string(),
  atUs: z.number(),
  body: z.string(),
  status: z.number().nullable(),
  took: z.boolean().nullable(),
  answer: z.string().nullable(),
})

const postedCallbackSchema = z.strictObject({
  kind: z.literal('callback'),
  ids: z.array(z.string()),
  atUs: z.number(),
  status: z.number().nullable(),
  body: z.string(),
})

const eventSchema = z.discriminatedUnion('kind', [arrivalSchema, postedCallbackSchema])

/** One request as the service saw it. */
export interface Arrival {
  kind: 'arrival'
  /** What the rows in it are known by: a post_id, an index item's id or address, an appeal's id, terms. */
  ids: readonly string[]
  /** Path and query. */
  path: string
  /** Unix microseconds at which the request was complete. */
  atUs: number
  /** SHA-256 of the body, hex: a request that is sent again has the same body. */
  body: string
  /** HTTP status that was sent; null if none was, because the connection or the service broke. */
  status: number | null
  /** Whether the service took what was submitted, answered or not; null if whoever records cannot know. */
  took: boolean | null
  /** Text of the answer as it was sent; null if none was, or only a part of it. */
  answer: string | null
}

/** One callback as the service posted it. */
export interface PostedCallback {
  kind: 'callback'
  /** What the row is known by, as in {@link Arrival}. */
  ids: readonly string[]
  /** Unix microseconds at which the answer to it came. */
  atUs: number
  /** Status that the receiver answered; null if it did not answer. */
  status: number | null
  /** Text of the callback. */
  body: string
}

/** What a service saw, in the order in which it ended. */
export type RecordedEvent = Arrival | PostedCallback

/** Takes down what a service sees. */
export interface Recording {
  readonly events: readonly RecordedEvent[]
  note(event: RecordedEvent): void
}

/** Creates a recording in memory; with a file, each event is also a line of JSON in it. */
export function createRecording(file?: string): Recording {
  const events: RecordedEvent[] = []
  if (file !== undefined) writeFileSync(file, '')
  return {
    events,
    note(event) {
      events.push(event)
      if (file !== undefined) appendFileSync(file, `${JSON.stringify(event)}\n`)
    },
  }
}

/** Reads a recording from a file of JSON Lines. Throws an `Error` that names the first line that is not an event. */
export function readRecording(file: string): RecordedEvent[] {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap((line, index) =>
    line === '' ? [] : [parseEvent(line, `line ${index + 1} of ${file}`)],
  )
}

function parseEvent(line: string, name: string): RecordedEvent {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch {
    throw new Error(`${name} is not valid JSON`)
  }
  const parsed = eventSchema.safeParse(value)
  if (!parsed.success)
    throw new Error(`${name} is not an event of a recording: ${z.prettifyError(parsed.error)}`)
  return parsed.data
}

/** Unix microseconds now, by the clock that journals use. */
export function readClockUs(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000)
}

/** A request as a service reads it. */
export interface RecordedRequest {
  /** Path and query. */
  path: string
  /** Empty if it has none. */
  body: string
}

/** Describes a request and what the service did with it. */
export function toArrival(
  request: RecordedRequest,
  told: Pick<Arrival, 'atUs' | 'status' | 'took' | 'answer'>,
): Arrival {
  const { path, body } = request
  return { kind: 'arrival', ids: toIds(request), path, body: hashBody(body), ...told }
}

/** SHA-256 of a body, hex. */
export function hashBody(body: string): string {
  return createHash('sha256').update(body).digest('hex')
}

/** Fields that tell rows apart, the surest first: the address of an index item may be that of several. */
const ID_FIELDS = ['post_id', 'custom_index_item_id', 'appeal_id', 'term', 'url', 'media']

/** What the rows in a request are known by (docs/interface.md §2, §4); none if the request cannot be read. */
export function toIds({ path, body }: RecordedRequest): string[] {
  const appeal = /\/appeals\/status\/([^/?]+)/.exec(path)?.[1]
  if (appeal !== undefined) return [decodeURIComponent(appeal)]
  const submitted = parseObject(body)
  const { terms } = submitted
  if (Array.isArray(terms)) return terms.map((term: Readonly<Record<string, unknown>>) => findId(term) ?? '')
  const id = findId(submitted)
  return id === null ? [] : [id]
}

/** What a row is known by, from its own part of a request; null if it has nothing of the kind. */
export function findId(submitted: Readonly<Record<string, unknown>>): string | null {
  const id = ID_FIELDS.map((name) => submitted[name]).find((value) => value !== undefined && value !== null)
  return id === undefined ? null : String(id)
}

/** Reads a JSON object; an empty one if the text is not one. */
export function parseObject(text: string | null): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
