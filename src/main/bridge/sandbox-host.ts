import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { SluiceError } from '../../shared/errors.ts'
import { ADMIN_TOKEN_HEADER } from '../sandbox/admin-token.ts'
import { DEFAULT_SANDBOX_KEY, type SandboxOptions } from '../sandbox/sandbox-options.ts'
import { type SandboxThread, startSandboxThread } from '../sandbox/start-sandbox-thread.ts'

/** Slow enough to watch a run against it. */
const TRIAL_OPTIONS = {
  latency: '110ms±70ms',
  callbacks: 'delay=1s±400ms',
  apiKeys: [DEFAULT_SANDBOX_KEY],
} satisfies SandboxOptions

/** Has the sandbox forget the tasks it was sent. */
const TASKS_PATH = '/sandbox/admin/tasks'

const rememberedSchema = z.object({ port: z.int().min(1).max(65_535) })

/** The sandbox of this process, for every window. */
export interface SandboxHost {
  /** Base URL while it runs, else null. */
  baseUrl(): string | null
  /** Base URL it has or last had in this workspace; null where it never ran. */
  lastBaseUrl(): Promise<string | null>
  /**
   * Starts it. One that runs already forgets its tasks, so that what was submitted before is no duplicate, unless
   * `keep` says that it is in use; what is in its indexes and watchlists stays. Throws `SANDBOX_UNAVAILABLE`.
   */
  start(options: { keep: boolean }): Promise<string>
  stop(): Promise<void>
  /** The key it accepts, where `baseUrl` is its address; starts it where that is the address it last had. */
  findKey(baseUrl: string): Promise<string | null>
}

/**
 * Makes the host of the sandbox, which is not started. It keeps its port in the workspace, so that a run against it
 * can be taken up again after a restart.
 */
export function createSandboxHost(options: { workerUrl: URL; workspace: string }): SandboxHost {
  const memory = join(options.workspace, 'sandbox.json')
  let thread: SandboxThread | null = null
  let turn: Promise<unknown> = Promise.resolve()

  // One at a time: a second window must not start a second sandbox meanwhile.
  function takeTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work)
    turn = result.catch(() => {})
    return result
  }

  async function readPort(): Promise<number> {
    try {
      return rememberedSchema.parse(JSON.parse(await readFile(memory, 'utf8'))).port
    } catch {
      return 0
    }
  }

  async function readBaseUrl(): Promise<string | null> {
    if (thread !== null) return thread.baseUrl
    const port = await readPort()
    return port === 0 ? null : `http://127.0.0.1:${port}`
  }

  async function open(port: number): Promise<SandboxThread> {
    try {
      return await startSandboxThread(options.workerUrl, { ...TRIAL_OPTIONS, port })
    } catch (error) {
      const isTaken = error instanceof SluiceError && error.code === 'SANDBOX_UNAVAILABLE' && port !== 0
      if (isTaken) return open(0)
      throw error
    }
  }

  async function close(): Promise<void> {
    const closing = thread
    thread = null
    await closing?.close()
  }

  async function forgetTasks({ baseUrl, adminToken }: SandboxThread): Promise<boolean> {
    const headers = { [ADMIN_TOKEN_HEADER]: adminToken }
    const answer = await fetch(baseUrl + TASKS_PATH, { method: 'DELETE', headers }).catch(() => null)
    return answer?.ok === true
  }

  async function ensure(keep: boolean): Promise<string> {
    if (thread !== null) {
      if (keep || (await forgetTasks(thread))) return thread.baseUrl
      await close()
    }
    const opened = await open(await readPort())
    thread = opened
    opened.ended.then(() => {
      if (thread === opened) thread = null
    })
    // The port is a convenience: a workspace that cannot be written says so where it matters.
    await writeFile(memory, JSON.stringify({ port: opened.port }), { mode: 0o600 }).catch(() => {})
    return opened.baseUrl
  }

  return {
    baseUrl: () => thread?.baseUrl ?? null,
    lastBaseUrl: readBaseUrl,
    start: ({ keep }) => takeTurn(() => ensure(keep)),
    stop: () => takeTurn(close),
    findKey: (baseUrl) =>
      takeTurn(async () => {
        if (baseUrl !== (await readBaseUrl())) return null
        return baseUrl === (await ensure(true)) ? DEFAULT_SANDBOX_KEY : null
      }),
  }
}
