import { Agent, createServer, type IncomingMessage, type ServerResponse, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import { createRandom } from './crash/kill.ts'
import { createRecording, type Recording, readClockUs, toArrival } from './history/recording.ts'

/** What happens to an item's acknowledgement and callback. */
export interface CallbackFate {
  /** The connection breaks after the item was accepted, before the acknowledgement. */
  isLost?: boolean
  /** The callback is answered before the acknowledgement is sent. */
  isEarly?: boolean
  /** The callback is posted twice. */
  isDoubled?: boolean
  /** The callback is kept back until `releaseLate`. */
  isLate?: boolean
}

/** An accepted async item. */
export interface TakenItem {
  /** `post_id` of a task, `url` of an index item, the item's id of a removal. */
  key: string
  /** Number of items accepted before it. */
  index: number
  callbackUrl: string
}

/** The tests' own async service: acknowledges, posts callbacks in another order, and keeps a record. */
export interface CallbackService {
  baseUrl: string
  /** How often each item was accepted. */
  taken: Map<string, number>
  /** Callbacks that the receiver has answered 200, by item. */
  delivered: Map<string, number>
  /** The receiver's answers by status. */
  statuses: Map<number, number>
  /** Every arrival and every callback, for `judgeHistory`. */
  recording: Recording
  /** Posts the callbacks that were kept back. */
  releaseLate(): void
  /** Resolves when every due callback has been answered 200. */
  untilDelivered(): Promise<void>
}

/** Longest random delay of a callback, milliseconds; callbacks arrive in random order within it. */
const SHUFFLE_MS = 60
/** Interval for retrying an unavailable receiver, milliseconds. */
const AGAIN_MS = 40
const CONNECTIONS = 32

/** Starts the service, closed when the current test ends. `toFate` is called once for every item. */
export async function startCallbackService(
  toFate: (item: TakenItem) => CallbackFate,
): Promise<CallbackService> {
  const random = createRandom(7)
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const taken = new Map<string, number>()
  const delivered = new Map<string, number>()
  const statuses = new Map<number, number>()
  const recording = createRecording()
  const late: (() => void)[] = []
  let due = 0
  let isClosed = false
  let onIdle: (() => void) | null = null

  async function deliver(url: string, key: string, body: string): Promise<void> {
    due += 1
    while (!isClosed) {
      const status = await post(agent, url, body)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      const answered = status === 0 ? null : status
      recording.note({ kind: 'callback', ids: [key], atUs: readClockUs(), status: answered, body })
      if (status === 200) break
      await after(AGAIN_MS)
    }
    delivered.set(key, (delivered.get(key) ?? 0) + 1)
    due -= 1
    if (due === 0) onIdle?.()
  }

  async function take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readBody(request)
    const atUs = readClockUs()
    const answer = (status: number, told: unknown): void => {
      const whole = JSON.stringify(told)
      note({ status, took: status === 200, answer: whole })
      response.writeHead(status, { 'content-type': 'application/json' }).end(whole)
    }
    const note = (told: { status: number | null; took: boolean; answer: string | null }): void =>
      recording.note(toArrival({ path: request.url ?? '', body: text }, { atUs, ...told }))
    const body = JSON.parse(text) as Record<string, string>
    const key = body['post_id'] ?? body['url'] ?? body['custom_index_item_id'] ?? ''
    const index = taken.size
    const isAgain = taken.has(key)
    taken.set(key, (taken.get(key) ?? 0) + 1)
    if (isAgain && body['post_id'] !== undefined) {
      const refusal = {
        error: true,
        status: 400,
        error_code: 'DUPLICATE_POST_ID',
        message: 'again',
        show_alert: false,
      }
      answer(400, refusal)
      return
    }
    const url = body['callback_url'] ?? ''
    const fate = toFate({ key, index, callbackUrl: url })
    const result = toResult(request.url ?? '', body, index)
    const callback = JSON.stringify(result)
    if (fate.isEarly) await deliver(url, key, callback)
    if (fate.isLost) {
      note({ status: null, took: true, answer: null })
      response.destroy()
    } else answer(200, { task_id: result['task_id'], message: 'accepted' })
    const rest = (fate.isEarly ? 0 : 1) + (fate.isDoubled ? 1 : 0)
    for (let n = 0; n < rest; n += 1) {
      if (fate.isLate) late.push(() => void deliver(url, key, callback))
      else {
        due += 1
        void after(random() * SHUFFLE_MS).then(() => {
          due -= 1
          return deliver(url, key, callback)
        })
      }
    }
  }

  const server = createServer((request, response) => void take(request, response))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    isClosed = true
    server.close()
    server.closeAllConnections()
    agent.destroy()
  })
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken,
    delivered,
    statuses,
    recording,
    releaseLate: () => {
      for (const release of late.splice(0)) release()
    },
    untilDelivered: () =>
      due === 0
        ? Promise.resolve()
        : new Promise((resolve) => {
            onIdle = resolve
          }),
  }
}

function toResult(path: string, body: Record<string, string>, index: number): Record<string, unknown> {
  const task_id = `task-${index}`
  if (path.includes('/custom_index/')) {
    return { custom_index_item_id: body['custom_index_item_id'] ?? `item-${index}`, task_id, message: 'done' }
  }
  const rules = index % 3 === 0 ? [{ rule_id: 'r3', rule_name: 'Threefold' }] : []
  return { task_id, user_id: body['user_id'], post_id: body['post_id'], triggered_rules: rules }
}

function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}

/** The status of the answer; 0 if there was none. */
function post(agent: Agent, url: string, body: string): Promise<number> {
  return new Promise((resolve) => {
    const request = send(url, {
      agent,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) },
    })
    request.on('response', (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
      response.on('error', () => resolve(0))
    })
    request.on('error', () => resolve(0))
    request.end(body)
  })
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks).toString('utf8')
}
