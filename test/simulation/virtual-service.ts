import {
  CLIENT_CLOSED_CODE,
  CONNECTION_CLOSED_CODE,
  type Exchange,
  type ExchangeTimings,
  TIMEOUT_CODE,
} from '../../src/main/engine/service/exchange.ts'
import type { ServiceClient, ServiceRequest } from '../../src/main/engine/service/service-client.ts'
import type { Plan } from '../../src/shared/plan/plan.ts'
import { INVALID_API_KEY } from '../../src/shared/service/errors.ts'
import { toUnixMs } from '../../src/shared/unix-clock.ts'
import {
  createRecording,
  parseObject,
  type RecordedRequest,
  type Recording,
  readClockUs,
  toArrival,
  toIds,
} from '../helpers/history/recording.ts'
import { DELIVERED_CODE, type Fault, type ServiceBehaviour } from './draw-scenario.ts'
import type { ExpectedContent } from './expected-content.ts'
import type { VirtualInbox } from './virtual-inbox.ts'

/** The process of a client, as the service sees it. */
interface ClientSide {
  /** Whether the process was killed, so that its requests go nowhere. */
  readonly isKilled: boolean
  /** Notes an event; see `SimulatedSession.step`. */
  step: () => void
}

/** The service's reaction to a request; it does not answer if the status is null. */
interface Reply {
  status: number | null
  took: boolean
  body: string
  retryAfter: string | null
}

interface Flight {
  end: (exchange: Exchange) => void
}

/** Longest travel time of a request or answer, milliseconds. */
const TRAVEL_MS = 2

/** A moderation service on the simulated clock, which remembers what it accepted and records all arrivals. */
export class VirtualService {
  readonly recording: Recording = createRecording()
  /** Receives its callbacks. */
  readonly inbox: VirtualInbox
  /** Sent requests: their time, path and body. */
  readonly sent: string[] = []
  /** Whether nothing goes wrong any more. */
  isCalm = false
  readonly #plan: Plan
  readonly #content: ExpectedContent
  readonly #behaviour: ServiceBehaviour
  readonly #draw: () => number
  readonly #startMs = performance.now()
  readonly #taken = new Set<string>()
  readonly #flights = new Map<ClientSide, Set<Flight>>()
  #tasks = 0

  constructor(
    plan: Plan,
    behaviour: ServiceBehaviour,
    { content, inbox, draw }: { content: ExpectedContent; inbox: VirtualInbox; draw: () => number },
  ) {
    this.inbox = inbox
    this.#plan = plan
    this.#content = content
    this.#behaviour = behaviour
    this.#draw = draw
  }

  /** A lane's client in a process. */
  createClient(side: ClientSide): ServiceClient {
    let flight: Flight | null = null
    const flights = this.#flights.get(side) ?? new Set()
    this.#flights.set(side, flights)
    return {
      send: (request, onEnd) => {
        if (flight !== null) throw new Error('the request before has not ended')
        const current: Flight = {
          end: (exchange) => {
            if (!flights.delete(current)) return
            flight = null
            side.step()
            onEnd(exchange)
          },
        }
        flight = current
        flights.add(current)
        side.step()
        if (!side.isKilled) this.#send(request, current)
      },
      retire: () => {},
      destroy: async () => {
        if (flight !== null) cutOff(flight)
      },
    }
  }

  /** Ends the requests that a killed process has in flight, as seen by that process. */
  abandon(side: ClientSide): void {
    for (const flight of this.#flights.get(side) ?? []) cutOff(flight)
  }

  #send(request: ServiceRequest, flight: Flight): void {
    const sentMs = performance.now()
    this.sent.push(`${readClockUs()} ${request.path} ${request.body}`)
    this.#content.check(request.body)
    const fault = this.#drawFault(sentMs)
    const travelMs = 0.01 + this.#draw() * TRAVEL_MS
    const latencyMs = 0.1 + this.#draw() * this.#behaviour.latencyMs
    const chance = this.#draw()
    const { timeoutMs } = this.#plan.connection
    const end = (ms: number, toExchange: () => Exchange): void => {
      setTimeout(() => flight.end(toExchange()), ms)
    }
    if (fault === 'refused') {
      end(travelMs, () => toBreakdown('ECONNREFUSED', false, null, sentMs))
      return
    }
    // One in five is lost on the way.
    if (fault !== 'reset' || chance < 0.8) {
      const waitMs = fault === 'slow' ? latencyMs + timeoutMs * chance * 2 : latencyMs
      setTimeout(() => this.#arrive(request, flight, { fault, chance, waitMs, sentMs }), travelMs)
    }
    if (fault === 'reset') {
      end(travelMs + latencyMs, () => toBreakdown('ECONNRESET', true, null, sentMs))
    }
    end(timeoutMs, () => toBreakdown(TIMEOUT_CODE, true, null, sentMs))
  }

  #arrive(
    request: ServiceRequest,
    flight: Flight,
    {
      fault,
      chance,
      waitMs,
      sentMs,
    }: { fault: Fault | null; chance: number; waitMs: number; sentMs: number },
  ): void {
    const atUs = readClockUs()
    const { path, body } = request
    const recorded = { path, body: body ?? '' }
    const reply = this.#reply(recorded, fault, chance)
    const { status, took } = reply
    const isWhole = status !== null && fault !== 'dropped'
    setTimeout(() => {
      this.recording.note(toArrival(recorded, { atUs, status, took, answer: isWhole ? reply.body : null }))
      if (isWhole) flight.end(toAnswer(reply, status, sentMs))
      else if (status !== null) flight.end(toBreakdown(CONNECTION_CLOSED_CODE, true, status, sentMs))
    }, waitMs)
  }

  #drawFault(nowMs: number): Fault | null {
    let left = this.#draw()
    if (this.isCalm) return null
    const { outage, faults } = this.#behaviour
    const atMs = nowMs - this.#startMs
    if (outage !== null && atMs >= outage.fromMs && atMs < outage.toMs) return outage.fault
    for (const { fault, share } of faults) {
      if (left < share) return fault
      left -= share
    }
    return null
  }

  #reply(request: RecordedRequest, fault: Fault | null, chance: number): Reply {
    switch (fault) {
      case 'timeout':
      case 'reset':
        return { status: null, took: chance < 0.5 && this.#take(request), body: '', retryAfter: null }
      case 'busy':
        return {
          ...toRefusal(503, 'BUSY', chance < 0.25 ? '0.1' : null),
          took: chance < 0.5 && this.#take(request),
        }
      case 'throttled':
        return toRefusal(429, 'TOO_MANY', chance < 0.5 ? '0.2' : chance < 0.75 ? '2' : null)
      case 'rejected':
        return toRefusal(400, 'INVALID_PARAM', null)
      case 'key_refused':
        return toRefusal(401, INVALID_API_KEY, null)
      case 'unreadable':
        return { status: 200, took: this.#take(request), body: '<html>fine</html>', retryAfter: null }
      default:
        return this.#answer(request)
    }
  }

  /** Accepts the submitted task under a new task id. */
  #take(request: RecordedRequest): true {
    for (const id of toIds(request)) this.#taken.add(id)
    this.#tasks += 1
    const { callback_url: address, ...submitted } = parseObject(request.body)
    if (typeof address === 'string') this.#callBack(address, toResult(this.#tasks, submitted))
    return true
  }

  #callBack(address: string, result: Readonly<Record<string, unknown>>): void {
    const { lost, late, doubled, refusal, error_first: errorFirst } = this.#behaviour.callbackFaults
    const { latencyMs } = this.#behaviour
    const { timeoutMs } = this.#plan.callback
    const [kind, delay] = [this.isCalm ? 1 : this.#draw(), this.#draw()]
    const post = (body: unknown, afterMs: number): void => {
      setTimeout(() => this.#post(address, String(result['post_id']), JSON.stringify(body)), afterMs)
    }
    const afterMs = TRAVEL_MS * delay + latencyMs * delay
    const error = { ...parseObject(toRefusal(500, 'BROKEN', null).body), task_id: result['task_id'] }
    if (kind < lost) return
    if (kind < lost + late) post(result, timeoutMs * (1 + 4 * delay))
    else if (kind < lost + late + refusal) post(error, afterMs)
    else if (kind < lost + late + refusal + errorFirst) {
      post(error, afterMs)
      post(result, 2 * afterMs + 1)
    } else {
      post(result, afterMs)
      if (kind > 1 - doubled && kind < 1) post(result, 3 * afterMs + 1)
    }
  }

  #post(address: string, id: string, body: string): void {
    const atUs = readClockUs()
    this.inbox.store(address, atUs, body)
    this.recording.note({ kind: 'callback', ids: [id], atUs, status: 200, body })
  }

  #answer(request: RecordedRequest): Reply {
    const { operation } = this.#plan
    const ids = toIds(request)
    const [id = ''] = ids
    if (operation.kind === 'task' && this.#taken.has(id) && this.#behaviour.refusesTwice) {
      return toRefusal(409, DELIVERED_CODE, null)
    }
    if (operation.kind === 'index-remove' && this.#taken.has(id))
      return toRefusal(400, 'INVALID_CUSTOM_INDEX_ITEM', null)
    if (ids.length > this.#behaviour.termsMax) return toRefusal(413, 'TOO_LARGE', null)
    const [added, before] = [false, true].map((wasTaken) =>
      ids.filter((term) => this.#taken.has(term) === wasTaken).map((term) => ({ term })),
    )
    const took = this.#take(request)
    const task = { task_id: `task-${this.#tasks}` }
    const submitted = parseObject(request.body)
    const isAsync = submitted['callback_url'] !== undefined
    const body = {
      task: isAsync ? { ...task, message: 'accepted' } : toResult(this.#tasks, submitted),
      'index-add': { ...task, custom_index_item_id: `item-${this.#tasks}` },
      'index-remove': task,
      'watchlist-add': { added_terms: added, pre_existing_terms: before },
    }[String(operation.kind)]
    return { status: 200, took, body: JSON.stringify(body), retryAfter: null }
  }
}

/** The result of a task: its text is the name of the triggered rule. */
function toResult(task: number, { post_id, user_id, text_data }: Readonly<Record<string, unknown>>) {
  const triggered_rules = [{ rule_id: text_data, rule_name: text_data }]
  return { task_id: `task-${task}`, post_id, user_id, triggered_rules }
}

function cutOff(flight: Flight): void {
  flight.end(toBreakdown(CLIENT_CLOSED_CODE, true, null, performance.now()))
}

function toRefusal(status: number, code: string, retryAfter: string | null): Reply {
  const body = { error: true, status, error_code: code, message: 'no', show_alert: false }
  return { status, took: false, body: JSON.stringify(body), retryAfter }
}

function toTimings(sentMs: number): ExchangeTimings {
  return {
    sentAtUs: Math.round(toUnixMs(sentMs) * 1000),
    durationUs: Math.round((performance.now() - sentMs) * 1000),
    waitingUs: null,
    connectUs: null,
    tlsUs: null,
  }
}

function toAnswer({ body, retryAfter }: Reply, status: number, sentMs: number): Exchange {
  const headers = { contentType: 'application/json', retryAfter, location: null }
  return { kind: 'answer', status, ...headers, body, timings: toTimings(sentMs) }
}

function toBreakdown(code: string, sent: boolean, status: number | null, sentMs: number): Exchange {
  return { kind: 'breakdown', code, message: '', sent, status, timings: toTimings(sentMs) }
}
