import { expect, onTestFinished } from 'vitest'
import { ADMIN_TOKEN_HEADER } from '../../src/main/sandbox/admin-access.ts'
import { createSandbox, type Sandbox } from '../../src/main/sandbox/sandbox.ts'
import type { SandboxClock } from '../../src/main/sandbox/sandbox-clock.ts'
import { DEFAULT_SANDBOX_KEY, type SandboxOptions } from '../../src/main/sandbox/sandbox-options.ts'
import type { CallbackCounts } from '../../src/main/sandbox/store/callback-store.ts'

/** The answer of `GET /sandbox/admin/stats`. */
interface SandboxStats {
  requests: number
  tasks: number
  outcomes: Record<string, number>
  /** Requests to each endpoint of indexes, watchlists and appeals, by outcome. */
  endpoints: Record<string, Record<string, number>>
  callbacks: CallbackCounts
}

/** A request to an index, a watchlist or an appeal in the admin routes. */
interface SandboxRequest {
  endpoint: string
  subject: string
  outcome: string
  task_id: string | null
  arrived_on: string
  request: Record<string, unknown> | null
}

/** A callback in the admin routes. */
interface SandboxCallback {
  callback_id: number
  task_id: string
  url: string
  timing: string
  state: string
  attempts: number
  last_result: string | null
  at: string
  body: Record<string, unknown> | null
}

/** An item of a custom index in the admin routes. */
interface SandboxIndexItem {
  custom_index_item_id: string
  url: string
  content_hash: string | null
  metadata: Record<string, unknown> | null
  content_variant: string | null
}

/** A task in the sandbox's admin routes. */
interface SandboxTask {
  post_id: string
  endpoint: string
  task_id: string
  content_hash: string
  created_on: string
  outcome: string
  request: Record<string, unknown> | null
}

/** The answer of `GET /sandbox/admin/tasks?post_id=`. */
interface SandboxPost {
  post_id: string
  requests: number
  outcomes: Record<string, number>
  task: SandboxTask | null
  callbacks: SandboxCallback[]
}

/** A sandbox for one test, and ways to talk to it. */
export interface TestSandbox extends Sandbox {
  /** An accepted key. */
  readonly key: string
  /** Sends JSON (or text unchanged) with the key, and reads the whole answer as text. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<TextAnswer>
  /** Reads the answer to a GET without a key, as text. */
  get(path: string, headers?: Record<string, string>): Promise<TextAnswer>
  /** Calls an admin route, whose path begins after `/sandbox/admin`, and reads its JSON. */
  admin(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>
  /** Every received request, by outcome. */
  stats(): Promise<SandboxStats>
  /** What was received for one post_id. */
  findPost(postId: string): Promise<SandboxPost>
  /** Every accepted task, in order. */
  tasks(): Promise<SandboxTask[]>
  /** Requests to indexes, watchlists and appeals, in order; `endpoint` such as `watchlist-add`. */
  requests(endpoint?: string): Promise<SandboxRequest[]>
  /** The first 10,000 callbacks, in the order of their tasks; `state` such as `pending`. */
  callbacks(state?: string): Promise<SandboxCallback[]>
  /** Makes every pending callback due now, whatever it waits for. */
  sendPendingCallbacks(): Promise<void>
  /** Settles when no callback is pending; waits for late ones. */
  waitForCallbacks(): Promise<CallbackCounts>
  /** The first 10,000 items of a custom index, in the order they were added. */
  indexItems(indexId: string): Promise<SandboxIndexItem[]>
  /** The terms of a watchlist, with their notes. */
  terms(watchlist: string): Promise<{ term: string; notes: string | null }[]>
}

/** A complete HTTP answer. */
interface TextAnswer {
  status: number
  headers: Headers
  text: string
}

/** Starts a sandbox on a free port, closed when the current test ends. */
export async function withSandbox(options: SandboxOptions = {}, clock?: SandboxClock): Promise<TestSandbox> {
  const sandbox = await createSandbox(options, clock)
  onTestFinished(() => sandbox.close())
  const key = options.apiKeys?.[0] ?? DEFAULT_SANDBOX_KEY

  const send = async (method: string, path: string, body: unknown, headers: Record<string, string>) => {
    const answer = await fetch(sandbox.baseUrl + path, {
      method,
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    return { status: answer.status, headers: answer.headers, text: await answer.text() }
  }
  const admin: TestSandbox['admin'] = async (method, path, body) => {
    const { status, text } = await send(method, `/sandbox/admin${path}`, body, {
      [ADMIN_TOKEN_HEADER]: sandbox.adminToken,
    })
    return { status, body: JSON.parse(text) }
  }

  return {
    ...sandbox,
    key,
    post: (path, body, headers = {}) =>
      send('POST', path, body, { authorization: `token ${key}`, ...headers }),
    get: (path, headers = {}) => send('GET', path, undefined, headers),
    admin,
    stats: async () => (await admin('GET', '/stats')).body as SandboxStats,
    findPost: async (postId) =>
      (await admin('GET', `/tasks?post_id=${encodeURIComponent(postId)}`)).body as SandboxPost,
    tasks: async () => ((await admin('GET', '/tasks?limit=10000')).body as { tasks: SandboxTask[] }).tasks,
    requests: async (endpoint) => {
      const filter = endpoint === undefined ? '' : `&endpoint=${endpoint}`
      const { body } = await admin('GET', `/requests?limit=10000${filter}`)
      return (body as { requests: SandboxRequest[] }).requests
    },
    callbacks: async (state) => {
      const filter = state === undefined ? '' : `&state=${state}`
      const { body } = await admin('GET', `/callbacks?limit=10000${filter}`)
      return (body as { callbacks: SandboxCallback[] }).callbacks
    },
    sendPendingCallbacks: async () => {
      await admin('POST', '/callbacks/send-now')
    },
    waitForCallbacks: async () => {
      const count = async () => ((await admin('GET', '/stats')).body as SandboxStats).callbacks
      await expect.poll(async () => (await count()).pending, { timeout: 30_000, interval: 10 }).toBe(0)
      return count()
    },
    indexItems: async (indexId) => {
      const { body } = await admin('GET', `/indexes/${encodeURIComponent(indexId)}?limit=10000`)
      return (body as { items: SandboxIndexItem[] }).items
    },
    terms: async (watchlist) => {
      const { body } = await admin('GET', `/watchlists/${encodeURIComponent(watchlist)}`)
      return (body as { terms: { term: string; notes: string | null }[] }).terms
    },
  }
}
