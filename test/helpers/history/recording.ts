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

/** A request that the service saw. */
export interface Arrival {
  kind: 'arrival'
  /** Identifiers of its rows: a post_id, an index item's id or address, an appeal's id, terms. */
  ids: readonly string[]
  /** Path and query. */
  path: string
  /** Unix microseconds when the request was complete. */
  atUs: number
  /** SHA-256 of the body, hex: a repeated request has the same body. */
  body: string
  /** HTTP status that was sent; null if none was, because the connection or the service failed. */
  status: number | null
  /** Whether the service accepted the submission, answered or not; null if the recorder cannot know. */
  took: boolean | null
  /** Text of the answer as sent; null if none was sent, or only a part. */
  answer: string | null
}

/** A callback that the service posted. */
export interface PostedCallback {
  kind: 'callback'
  /** Identifiers of the row, as in {@link Arrival}. */
  ids: readonly string[]
  /** Unix microseconds when its answer arrived. */
  atUs: number
  /** The receiver's status; null if it did not answer. */
  status: number | null
  /** Text of the callback. */
  body: string
}

/** Everything that a service saw, in the order of completion. */
export type RecordedEvent = Arrival | PostedCallback

/** Records what a service sees. */
export interface Recording {
  readonly events: readonly RecordedEvent[]
  note(event: RecordedEvent): void
}

/** Creates a recording in memory; with a file, each event is also written to it as a line of JSON. */
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

/** Reads a recording from a JSON Lines file. Throws an `Error` naming the first line that is not an event. */
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

/** Unix microseconds now, by the journals' clock. */
export function readClockUs(): number {
  return Math.round((performance.timeOrigin + performance.now()) * 1000)
}

/** A request that a service read. */
export interface RecordedRequest {
  /** Path and query. */
  path: string
  /** Empty if it has none. */
  body: string
}

/** Describes a request and the service's reaction. */
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

/** Fields that identify rows, the surest first: several index items may have the same address. */
const ID_FIELDS = ['post_id', 'custom_index_item_id', 'appeal_id', 'term', 'url', 'media']

/** Identifiers of the rows in a request (docs/interface.md §2, §4); empty if the request is unreadable. */
export function toIds({ path, body }: RecordedRequest): string[] {
  const appeal = /\/appeals\/status\/([^/?]+)/.exec(path)?.[1]
  if (appeal !== undefined) return [decodeURIComponent(appeal)]
  const submitted = parseObject(body)
  const { terms } = submitted
  if (Array.isArray(terms)) return terms.map((term: Readonly<Record<string, unknown>>) => findId(term) ?? '')
  const id = findId(submitted)
  return id === null ? [] : [id]
}

/** The identifier of a row, from its own part of a request; null if it has none. */
export function findId(submitted: Readonly<Record<string, unknown>>): string | null {
  const id = ID_FIELDS.map((name) => submitted[name]).find((value) => value !== undefined && value !== null)
  return id === undefined ? null : String(id)
}

/** Reads a JSON object; an empty one if the text is not an object. */
export function parseObject(text: string | null): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text ?? '')
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}
