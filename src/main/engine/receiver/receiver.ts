import { randomBytes } from 'node:crypto'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { setTimeout as wait } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { TestAnswer } from '../../../shared/messages/receiver-messages.ts'
import { toThrown } from '../../../shared/messages/thrown.ts'
import type { ReceiverTest } from '../../../shared/run/callback-overview.ts'
import { toUnixMs } from '../../../shared/unix-clock.ts'
import type { SealedSecret } from '../secrets/bound-secret.ts'
import { unseal } from '../secrets/header-values.ts'
import { Redactor } from '../secrets/redactor.ts'
import { redactAnswerBytes } from '../service/redact-answer.ts'
import { toCallbackPath } from './addresses.ts'
import {
  type InboxAddress,
  type InboxCallback,
  type InboxCounts,
  InboxReader,
  SELF_TEST_PREFIX,
} from './inbox.ts'
import { InboxWriter } from './inbox-writer.ts'
import { isEveryAddress, type ListenAddress, listen, toBaseUrl } from './listen.ts'
import { type MediaFolder, MediaRegistry } from './media-registry.ts'
import { RECEIVER_LIMITS, type ReceiverLimits } from './receiver-limits.ts'
import { createReceiverServer } from './receiver-server.ts'
import { readReceiverSettings } from './receiver-settings.ts'

export interface ReceiverTask {
  workspace: string
  /** Address to listen on (default: loopback). */
  host?: string
  /** Port to listen on this time (default: the workspace's own). */
  port?: number
  /** Limits that differ from the defaults. */
  limits?: Partial<ReceiverLimits>
  /** Removed from every callback before it is stored. */
  secrets?: readonly SealedSecret[]
}

/** Where a workspace's receiver is and who listens. */
export interface ReceiverStanding {
  /** Scheme, host and port, without a trailing slash. */
  baseUrl: string
  port: number
  /** `standby`: another process of the workspace listens there; this one takes over when that one ends. */
  role: 'listening' | 'standby'
}

/** Longest time that open requests may take when the receiver closes, milliseconds. */
const DRAIN_MS = 2_000
const IDLE_LOOK_MS = 20

/** How often, and how many times, a starting receiver checks whether the holder has published its address. */
const ADDRESS_LOOK = { everyMs: 100, times: 50 }

type Holding = { writer: InboxWriter; app: FastifyInstance }

/**
 * A workspace's receiver in this process: holds the inbox and listens, or stands by while another process
 * does, and takes over at the same address when that one ends.
 */
export class Receiver {
  readonly #workspace: string
  readonly #asked: ListenAddress
  readonly #limits: ReceiverLimits
  readonly #clock: ReceiverClock
  readonly #onStanding: (standing: ReceiverStanding) => void
  readonly #reader: InboxReader
  readonly #media: MediaRegistry
  /** Removes secrets from callbacks before storing them; nothing else does. */
  readonly #redactor = new Redactor()
  readonly #closing = new AbortController()
  #holding: Holding | null = null
  #starting: Promise<void> | null = null
  #watch: Promise<void> | null = null

  /** `onStanding` is called at the start and whenever role or address change. */
  constructor(
    { workspace, host = '127.0.0.1', port, limits, secrets = [] }: ReceiverTask,
    onStanding: (standing: ReceiverStanding) => void,
    clock: ReceiverClock = MACHINE_CLOCK,
  ) {
    this.guard(secrets)
    this.#workspace = workspace
    this.#asked = { host, port }
    this.#limits = { ...RECEIVER_LIMITS, ...limits }
    this.#clock = clock
    this.#onStanding = onStanding
    this.#reader = new InboxReader(workspace)
    this.#media = new MediaRegistry(workspace, clock.nowMs)
  }

  /**
   * Listens, or stands by: the workspace can then receive callbacks, here or in its other process. Throws
   * `RECEIVER_UNAVAILABLE` and `WORKSPACE_UNUSABLE`.
   */
  start(): Promise<void> {
    this.#starting = this.#start()
    return this.#starting
  }

  /** The workspace's counts, whichever process listens. */
  counts(): InboxCounts {
    return this.#holding?.writer.counts() ?? this.#reader.readCounts()
  }

  /**
   * Posts to an address behind a public base and waits until the callback is in the workspace's inbox. Throws
   * `RECEIVER_UNAVAILABLE` with what was tried, what came back, and what to do.
   */
  async selfTest(publicUrl: string): Promise<ReceiverTest> {
    const { secret } = readReceiverSettings(this.#workspace)
    const { runToken, result } = await testPublicUrl({
      publicUrl,
      secret,
      timeoutMs: this.#limits.selfTestTimeoutMs,
      hasArrived: (token) => this.readFirst(token) !== null,
      wait: (ms) => this.#clock.wait(ms, this.#closing.signal),
    })
    await this.forget([runToken])
    return result
  }

  /** Also removes these secrets from every callback before storing it. */
  guard(secrets: readonly SealedSecret[]): void {
    for (const secret of secrets) unseal(secret).redactBy(this.#redactor)
  }

  /**
   * Serves the files of a folder at the run's media URLs, until {@link stopServing} or until nobody holds the
   * run's journal. Throws `BAD_SOURCE` and `WORKSPACE_UNUSABLE`.
   */
  serveFolder(folder: MediaFolder): void {
    this.#media.add(folder)
  }

  async stopServing(run: Pick<MediaFolder, 'runToken' | 'runId'>): Promise<void> {
    await this.#media.remove(run)
  }

  /** The first callback with a token; null if there is none yet. */
  readFirst(runToken: string): InboxCallback | null {
    return this.#reader.readAfter(runToken, 0, 1)[0] ?? null
  }

  /** Deletes the callbacks of removed runs. A standby receiver leaves that to the holder. */
  async forget(runTokens: readonly string[]): Promise<void> {
    await this.#holding?.writer.forget(runTokens)
  }

  /** Stops listening, stores what has arrived, and releases the inbox. */
  async close(): Promise<void> {
    this.#closing.abort()
    await this.#starting?.catch(() => {})
    await this.#watch
    if (this.#holding !== null) {
      const { app, writer } = this.#holding
      // Connections that were busy at the start of closing become idle later, and would then stay open.
      const idle = setInterval(() => app.server.closeIdleConnections(), IDLE_LOOK_MS)
      const impatience = setTimeout(() => app.server.closeAllConnections(), DRAIN_MS)
      await app.close()
      clearInterval(idle)
      clearTimeout(impatience)
      writer.close()
    }
    this.#reader.close()
  }

  async #start(): Promise<void> {
    for (let looks = 0; looks < ADDRESS_LOOK.times; looks += 1) {
      if (await this.#takeOver(this.#asked)) return
      const address = this.#reader.readAddress()
      if (address !== null) {
        checkServes(address, this.#asked)
        this.#announce(address, 'standby')
        this.#watch = this.#standBy(address)
        return
      }
      // The holder is starting or ending.
      await this.#clock.wait(ADDRESS_LOOK.everyMs, this.#closing.signal)
    }
    throw new SluiceError({ id: 'inbox_held_elsewhere', workspace: this.#workspace })
  }

  /** False while another process holds the inbox. */
  async #takeOver(address: ListenAddress): Promise<boolean> {
    const writer = InboxWriter.open(this.#workspace)
    if (writer === null) return false
    let app: FastifyInstance | null = null
    try {
      const { secret } = readReceiverSettings(this.#workspace)
      const listening = await listen(this.#workspace, address, () =>
        createReceiverServer({
          secret,
          limits: this.#limits,
          store: (entry, stored) =>
            writer.store({ ...entry, body: redactAnswerBytes(this.#redactor, entry.body) }, stored),
          countRefusal: (refusal, last) => writer.countRefusal(refusal, last),
          countProbe: () => writer.countProbe(),
          findFolder: (runToken) => this.#media.find(runToken),
          nowUs: this.#clock.nowUs,
        }),
      )
      app = listening.app
      const { port } = listening
      const standing = { baseUrl: toBaseUrl(address.host, port), host: address.host, port }
      writer.publish(standing)
      await this.#media.clear()
      this.#holding = { writer, app }
      this.#announce(standing, 'listening')
      return true
    } catch (error) {
      await app?.close()
      writer.close()
      throw toUnavailable(error)
    }
  }

  async #standBy(address: InboxAddress): Promise<void> {
    let last = address
    while (await this.#isStillOpenAfter(this.#limits.standbyEveryMs)) {
      try {
        // At the holder's address, not our own: callbacks of both processes go there.
        if (await this.#takeOver(last)) return
        const now = this.#reader.readAddress() ?? last
        if (now.baseUrl !== last.baseUrl) this.#announce(now, 'standby')
        last = now
      } catch {
        // For example, its port is not free yet. The next check tries again.
      }
    }
  }

  async #isStillOpenAfter(ms: number): Promise<boolean> {
    await this.#clock.wait(ms, this.#closing.signal).catch(() => {})
    return !this.#closing.signal.aborted
  }

  #announce({ baseUrl, port }: InboxAddress, role: ReceiverStanding['role']): void {
    this.#onStanding({ baseUrl, port, role })
  }
}

/** Throws if another process listens elsewhere: callbacks would not arrive at the requested address. */
function checkServes(address: InboxAddress, asked: ListenAddress): void {
  const isHostServed = address.host === asked.host || isEveryAddress(address.host)
  if (isHostServed && (asked.port === undefined || asked.port === address.port)) return
  throw new SluiceError({
    id: 'receiver_elsewhere',
    host: address.host,
    port: address.port,
    wantedHost: asked.host,
    wantedPort: asked.port ?? null,
  })
}

function toUnavailable(error: unknown): SluiceError {
  if (error instanceof SluiceError) return error
  return SluiceError.because(error, { id: 'receiver_cannot_start' })
}

/** The receiver's clock, which tests replace. */
export interface ReceiverClock {
  /** Unix milliseconds. */
  nowMs(): number
  /** Unix microseconds. */
  nowUs(): number
  /** Resolves after this many milliseconds; rejects if the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>
}

export const MACHINE_CLOCK: ReceiverClock = {
  nowMs: () => Date.now(),
  nowUs: () => toUnixMs() * 1000,
  wait: (ms, signal) => wait(ms, undefined, { signal }),
}

interface SelfTest {
  /** Base of the callback URLs, as given to the service. */
  publicUrl: string
  /** The workspace's secret, 32 bytes in hex. */
  secret: string
  /** Longest time until the arrival, milliseconds. */
  timeoutMs: number
  hasArrived(runToken: string): boolean
  wait(ms: number): Promise<void>
}

const LOOK_EVERY_MS = 50
const EXCERPT_CHARACTERS = 120

/**
 * Posts a callback to an address behind a public base and waits until it is in the inbox: the entire way of a
 * callback. Returns the result and the run token used. Throws `RECEIVER_UNAVAILABLE` with what was tried,
 * what came back, and what to do.
 */
async function testPublicUrl(test: SelfTest): Promise<{ runToken: string; result: ReceiverTest }> {
  const { publicUrl, secret, timeoutMs, hasArrived, wait } = test
  const runToken = `${SELF_TEST_PREFIX}${randomBytes(12).toString('hex')}`
  const base = publicUrl.replace(/\/+$/, '')
  const url = toUrl(publicUrl, `${base}${toCallbackPath(secret, { runToken, item: 1 })}`)
  const sentAtMs = performance.now()
  const deadlineMs = sentAtMs + timeoutMs
  let answer: TestAnswer
  try {
    answer = await post(url, timeoutMs)
  } catch (error) {
    throw toFailure(publicUrl, error, timeoutMs)
  }
  const answeredMs = performance.now() - sentAtMs
  // A relay may answer at once and forward later; one that refuses does not forward.
  const isTaken = answer.status >= 200 && answer.status < 300
  while (!hasArrived(runToken)) {
    if (!isTaken) throw new SluiceError({ id: 'public_url_refuses', publicUrl, ...answer })
    if (performance.now() > deadlineMs) {
      const { status, excerpt } = answer
      throw new SluiceError({ id: 'public_url_loses', publicUrl, status, excerpt, seconds: timeoutMs / 1000 })
    }
    await wait(LOOK_EVERY_MS)
  }
  const arrivedMs = performance.now() - sentAtMs
  return { runToken, result: { status: answer.status, answeredMs, arrivedMs } }
}

function toUrl(publicUrl: string, text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (url !== null && /^https?:$/.test(url.protocol)) return url
  throw new SluiceError({ id: 'public_url_not_http', publicUrl })
}

function post(url: URL, timeoutMs: number): Promise<TestAnswer> {
  const body = JSON.stringify({ task_id: 'sluice-self-test' })
  const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
  const signal = AbortSignal.timeout(timeoutMs)
  const send = url.protocol === 'https:' ? requestHttps : requestHttp
  // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED cannot override it.
  const options = { method: 'POST', headers, signal, agent: false, rejectUnauthorized: true }
  return new Promise((resolve, reject) => {
    const request = send(url, options, (response) => {
      readExcerpt(response).then((excerpt) => {
        request.destroy()
        resolve({
          status: response.statusCode ?? 0,
          location: response.headers.location ?? null,
          excerpt,
        })
      }, reject)
    })
    request.on('error', reject)
    request.end(body)
  })
}

async function readExcerpt(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk
    if (text.length > 4_000) break
  }
  return text
    .replaceAll(/<[^>]*>|[\p{C}\s]+/gu, ' ')
    .trim()
    .slice(0, EXCERPT_CHARACTERS)
}

function toFailure(publicUrl: string, error: unknown, timeoutMs: number): SluiceError {
  const thrown = toThrown(error)
  if (thrown.system === 'ABORT_ERR' || (error instanceof Error && error.name === 'TimeoutError')) {
    return new SluiceError(
      { id: 'public_url_silent', publicUrl, seconds: timeoutMs / 1000 },
      { cause: error },
    )
  }
  return new SluiceError({ id: 'public_url_unreachable', publicUrl, ...thrown }, { cause: error })
}
