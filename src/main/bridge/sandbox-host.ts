import { randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { SluiceError } from '../../shared/messages/errors.ts'
import { ApiKey } from '../engine/secrets/bound-secret.ts'
import { replaceFileSync } from '../engine/workspace/replace-file.ts'
import { ADMIN_TOKEN_HEADER, proveSandbox } from '../sandbox/admin-access.ts'
import type { SandboxOptions } from '../sandbox/sandbox-options.ts'
import { type SandboxThread, startSandboxThread } from '../sandbox/start-sandbox-thread.ts'

/** Slow enough that a person can watch a run. */
const TRIAL_OPTIONS = {
  latency: '110ms±70ms',
  callbacks: 'delay=1s±400ms',
} satisfies SandboxOptions

/** A sandbox that this process started, and the key that it alone accepts. */
interface StartedSandbox extends SandboxThread {
  key: ApiKey
}

/** Path that makes the sandbox forget its tasks. */
const TASKS_PATH = '/sandbox/admin/tasks'

const portSchema = z.int().min(1).max(65_535)

const rememberedSandboxSchema = z.object({
  port: portSchema,
  /** Ports that it had before, which runs may still name. */
  formerPorts: z.array(portSchema).default([]),
})

type RememberedSandbox = z.infer<typeof rememberedSandboxSchema>

/** Most former ports that are kept. */
const FORMER_PORTS_MAX = 100

/** The sandbox of this process, for every window. */
export interface SandboxHost {
  /** Base URL while it runs, else null. */
  baseUrl(): string | null
  /** Base URL it has or last had in this workspace; null where it never ran. */
  lastBaseUrl(): Promise<string | null>
  /**
   * Starts it. One that runs already forgets its tasks, so that what was submitted before is not a duplicate, unless
   * `keep` says that it is in use; what is in its indexes and watchlists stays. Throws `SANDBOX_UNAVAILABLE`.
   */
  start(options: { keep: boolean }): Promise<string>
  stop(): Promise<void>
  /** Whether that is the address of this workspace's sandbox, now or once. */
  isOwnAddress(baseUrl: string): Promise<boolean>
  /**
   * The key it accepts, where that is its address, now or once; null for any other address. Starts it there, has it
   * prove that it is the one that this process started, and throws `SANDBOX_UNAVAILABLE` where that is not so.
   */
  findKey(baseUrl: string): Promise<ApiKey | null>
}

/**
 * Makes the host of the sandbox, which is not started. It keeps its port in the workspace, so that a run against it
 * can be taken up again after a restart.
 */
export function createSandboxHost(options: { workerUrl: URL; workspace: string }): SandboxHost {
  const memory = join(options.workspace, 'sandbox.json')
  let thread: StartedSandbox | null = null
  let turn: Promise<unknown> = Promise.resolve()

  // One at a time: a second window must not start a second sandbox meanwhile.
  function takeTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work)
    turn = result.catch(() => {})
    return result
  }

  async function readMemory(): Promise<RememberedSandbox | null> {
    try {
      return rememberedSandboxSchema.parse(JSON.parse(await readFile(memory, 'utf8')))
    } catch {
      return null
    }
  }

  async function readBaseUrl(): Promise<string | null> {
    if (thread !== null) return thread.baseUrl
    const remembered = await readMemory()
    return remembered === null ? null : toBaseUrl(remembered.port)
  }

  async function isOwnAddress(address: string): Promise<boolean> {
    const { origin } = new URL(address)
    if (thread?.baseUrl === origin) return true
    const remembered = await readMemory()
    return remembered !== null && [remembered.port, ...remembered.formerPorts].map(toBaseUrl).includes(origin)
  }

  /** Starts it at that port, 0 for a free one, with a key that no other sandbox accepts. */
  async function open(port: number): Promise<StartedSandbox> {
    const key = randomBytes(24).toString('base64url')
    const started = await startSandboxThread(options.workerUrl, { ...TRIAL_OPTIONS, apiKeys: [key], port })
    const opened = { ...started, key: ApiKey.create(key, started, 'of the sandbox') }
    thread = opened
    opened.ended.then(() => {
      if (thread === opened) thread = null
    })
    await remember(opened.port)
    return opened
  }

  async function openAnywhere(): Promise<StartedSandbox> {
    const port = (await readMemory())?.port ?? 0
    try {
      return await open(port)
    } catch (error) {
      const isTaken = error instanceof SluiceError && error.code === 'SANDBOX_UNAVAILABLE' && port !== 0
      if (isTaken) return open(0)
      throw error
    }
  }

  async function remember(port: number): Promise<void> {
    const before = await readMemory()
    const formerPorts = before === null ? [] : [before.port, ...before.formerPorts]
    const others = [...new Set(formerPorts)].filter((one) => one !== port)
    const text = JSON.stringify({ port, formerPorts: others.slice(0, FORMER_PORTS_MAX) })
    // The port is a convenience. A workspace that cannot be written fails elsewhere, with an error.
    try {
      replaceFileSync(memory, text, { isPrivate: true })
    } catch {
      // Without it, a later start takes another port.
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
      if (keep || ((await proveSandbox(thread)) && (await forgetTasks(thread)))) return thread.baseUrl
      await close()
    }
    return (await openAnywhere()).baseUrl
  }

  async function requireKey(baseUrl: string): Promise<ApiKey> {
    const remembered = await readMemory()
    // Only the last address is started again: another program may use the former ports by now.
    if (thread === null && remembered !== null && toBaseUrl(remembered.port) === baseUrl) {
      await open(remembered.port).catch((error: unknown) => {
        throw toOtherProgramError(baseUrl, error)
      })
    }
    if (thread?.baseUrl !== baseUrl || !(await proveSandbox(thread))) throw toOtherProgramError(baseUrl)
    return thread.key
  }

  return {
    baseUrl: () => thread?.baseUrl ?? null,
    lastBaseUrl: readBaseUrl,
    start: ({ keep }) => takeTurn(() => ensure(keep)),
    stop: () => takeTurn(close),
    isOwnAddress,
    findKey: (baseUrl) =>
      takeTurn(async () => ((await isOwnAddress(baseUrl)) ? requireKey(new URL(baseUrl).origin) : null)),
  }
}

function toBaseUrl(port: number): string {
  return `http://127.0.0.1:${port}`
}

function toOtherProgramError(baseUrl: string, cause?: unknown): SluiceError {
  return new SluiceError({ id: 'sandbox_is_foreign', baseUrl }, { cause })
}
