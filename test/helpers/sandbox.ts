import { onTestFinished } from 'vitest'
import { createSandbox, type Sandbox } from '../../src/main/sandbox/sandbox.ts'
import type { SandboxClock } from '../../src/main/sandbox/sandbox-context.ts'
import { DEFAULT_SANDBOX_KEY, type SandboxOptions } from '../../src/main/sandbox/sandbox-options.ts'

/** What `GET /sandbox/admin/stats` answers. */
export interface SandboxStats {
  requests: number
  tasks: number
  outcomes: Record<string, number>
}

/** A task as the sandbox's admin routes show it. */
export interface SandboxTask {
  post_id: string
  task_id: string
  content_hash: string
  created_on: string
  outcome: string
  request: Record<string, unknown> | null
}

/** What `GET /sandbox/admin/tasks?post_id=` answers. */
export interface SandboxPost {
  post_id: string
  requests: number
  outcomes: Record<string, number>
  task: SandboxTask | null
}

/** A sandbox for one test, and ways to talk to it. */
export interface TestSandbox extends Sandbox {
  /** A key it accepts. */
  readonly key: string
  /** Sends JSON (or, given text, that text) with the key, and reads the whole answer as text. */
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<TextAnswer>
  /** Calls an admin route, whose path begins after `/sandbox/admin`, and reads its JSON. */
  admin(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>
  /** Every request it got, by how it ended. */
  stats(): Promise<SandboxStats>
  /** What it got for one post_id. */
  findPost(postId: string): Promise<SandboxPost>
  /** Every task it took, in order. */
  tasks(): Promise<SandboxTask[]>
}

/** An HTTP answer, read to its end. */
export interface TextAnswer {
  status: number
  headers: Headers
  text: string
}

/** Starts a sandbox on a free port that is closed when the running test is finished. */
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
    const { status, text } = await send(method, `/sandbox/admin${path}`, body, {})
    return { status, body: JSON.parse(text) }
  }

  return {
    ...sandbox,
    key,
    post: (path, body, headers = {}) =>
      send('POST', path, body, { authorization: `token ${key}`, ...headers }),
    admin,
    stats: async () => (await admin('GET', '/stats')).body as SandboxStats,
    findPost: async (postId) =>
      (await admin('GET', `/tasks?post_id=${encodeURIComponent(postId)}`)).body as SandboxPost,
    tasks: async () => ((await admin('GET', '/tasks?limit=10000')).body as { tasks: SandboxTask[] }).tasks,
  }
}
