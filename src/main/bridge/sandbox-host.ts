import { randomBytes } from 'node:crypto'
import { rmSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { type SandboxSetup, sandboxContents, sandboxSetupSchema } from '../../shared/bridge/sandbox.ts'
import { SluiceError } from '../../shared/messages/errors.ts'
import {
  applyChange,
  type BehaviourChange,
  behaviourChangeSchema,
  DEFAULT_BEHAVIOUR,
} from '../../shared/sandbox/behaviour.ts'
import { serviceErrorSchema } from '../../shared/service/errors.ts'
import { ApiKey } from '../engine/secrets/bound-secret.ts'
import { replaceFileSync } from '../engine/workspace/replace-file.ts'
import { toSandboxStore } from '../engine/workspace/workspace-files.ts'
import { ADMIN_PATH, ADMIN_TOKEN_HEADER, proveSandbox } from '../sandbox/admin-access.ts'
import { type SandboxThread, startSandboxThread } from '../sandbox/start-sandbox-thread.ts'

/** Slow enough that a person can watch a run. */
const TRIAL_BEHAVIOUR = {
  latency: '110ms±70ms',
  callbacks: 'delay=1s±400ms',
} satisfies BehaviourChange

const DEFAULT_SETUP: Readonly<SandboxSetup> = { port: 0, taskPort: 0, seed: 'sluice', isKept: false }

/** What the key is called that this process sends; the sandbox names the first key so. */
export const OWN_KEY_LABEL = 'key 1'

/** A sandbox that this process started, and the key that it sends there. */
interface StartedSandbox extends SandboxThread {
  key: ApiKey
}

const portSchema = z.int().min(1).max(65_535)

const rememberedSandboxSchema = z.object({
  /** Null if it was only set up and never ran. */
  port: portSchema.nullable(),
  /** Ports that it had before, which runs may still name. */
  formerPorts: z.array(portSchema).default([]),
  setup: sandboxSetupSchema.default(DEFAULT_SETUP),
  /** What was changed of its behaviour, if that is kept. */
  behaviour: behaviourChangeSchema.default({}),
})

type RememberedSandbox = z.infer<typeof rememberedSandboxSchema>

const NEW: RememberedSandbox = { port: null, formerPorts: [], setup: DEFAULT_SETUP, behaviour: {} }

const FORMER_PORTS_MAX = 100

/**
 * Makes the host of the sandbox, which is not started. It keeps its port and how it is started in the workspace, so
 * that a run against it can be taken up again after a restart.
 */
export function createSandboxHost(options: { workerUrl: URL; workspace: string }) {
  const memory = join(options.workspace, 'sandbox.json')
  const store = toSandboxStore(options.workspace)
  let thread: StartedSandbox | null = null
  let turn: Promise<unknown> = Promise.resolve()

  // One at a time: a second window must not start a second sandbox meanwhile.
  function takeTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = turn.then(work)
    turn = result.catch(() => {})
    return result
  }

  async function readMemory(): Promise<RememberedSandbox> {
    try {
      return rememberedSandboxSchema.parse(JSON.parse(await readFile(memory, 'utf8')))
    } catch {
      return NEW
    }
  }

  async function remember(change: Partial<RememberedSandbox>): Promise<void> {
    const text = JSON.stringify({ ...(await readMemory()), ...change })
    // The port is a convenience. A workspace that cannot be written fails elsewhere, with an error.
    try {
      replaceFileSync(memory, text, { isPrivate: true })
    } catch {
      // Without it, a later start takes another port.
    }
  }

  async function rememberPort(port: number): Promise<void> {
    const before = await readMemory()
    const formerPorts = before.port === null ? [] : [before.port, ...before.formerPorts]
    const others = [...new Set(formerPorts)].filter((one) => one !== port)
    await remember({ port, formerPorts: others.slice(0, FORMER_PORTS_MAX) })
  }

  async function listOwnAddresses(): Promise<string[]> {
    const { port, formerPorts } = await readMemory()
    const remembered = [...(port === null ? [] : [port]), ...formerPorts].map(toBaseUrl)
    return [...new Set([...(thread === null ? [] : [thread.baseUrl]), ...remembered])]
  }

  async function isOwnAddress(address: string): Promise<boolean> {
    return (await listOwnAddresses()).includes(new URL(address).origin)
  }

  /** Starts it at that port, 0 for a free one, with a key that no other sandbox accepts. */
  async function open(port: number): Promise<StartedSandbox> {
    const { setup, behaviour } = await readMemory()
    const key = randomBytes(24).toString('base64url')
    const started = await startSandboxThread(options.workerUrl, {
      ...applyChange({ ...DEFAULT_BEHAVIOUR, ...TRIAL_BEHAVIOUR }, behaviour),
      apiKeys: [key],
      port,
      taskPort: setup.taskPort,
      seed: setup.seed,
      databaseFile: setup.isKept ? store : null,
      mediaWorkspace: options.workspace,
    })
    const opened = { ...started, key: ApiKey.create(key, started, 'of the sandbox') }
    thread = opened
    opened.ended.then(() => {
      if (thread === opened) thread = null
    })
    await rememberPort(opened.port)
    if (setup.isKept) await retireOldKeys()
    return opened
  }

  /** A kept sandbox still has the keys of earlier starts, which nobody sends any more. */
  async function retireOldKeys(): Promise<void> {
    const { keys } = await admin(sandboxContents.keys, 'GET', '/keys')
    const own = keys.filter(({ label }) => label === OWN_KEY_LABEL)
    for (const { key_id } of own.slice(0, -1)) await admin(z.unknown(), 'DELETE', `/keys/${key_id}`)
  }

  async function openAnywhere(): Promise<StartedSandbox> {
    const { port: last, setup } = await readMemory()
    const port = setup.port === 0 ? (last ?? 0) : setup.port
    try {
      return await open(port)
    } catch (error) {
      const isTaken = error instanceof SluiceError && error.said.id === 'sandbox_cannot_listen'
      if (isTaken && setup.port === 0 && port !== 0) return open(0)
      throw error
    }
  }

  async function close(): Promise<void> {
    const closing = thread
    thread = null
    await closing?.close()
  }

  async function admin<Schema extends z.ZodType>(
    schema: Schema,
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    body?: object,
  ): Promise<z.output<Schema>> {
    if (thread === null) throw new SluiceError({ id: 'sandbox_stopped' })
    const answer = await fetch(`${thread.baseUrl}${ADMIN_PATH}${path}`, {
      method,
      headers: {
        [ADMIN_TOKEN_HEADER]: thread.adminToken,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const found: unknown = await answer.json()
    if (answer.ok) return schema.parse(found)
    throw new SluiceError({ id: 'sandbox_refuses', message: serviceErrorSchema.parse(found).message })
  }

  async function forgetTasks(): Promise<boolean> {
    return admin(z.unknown(), 'DELETE', '/tasks').then(
      () => true,
      () => false,
    )
  }

  async function ensure(keep: boolean): Promise<string> {
    if (thread !== null) {
      if (keep || ((await proveSandbox(thread)) && (await forgetTasks()))) return thread.baseUrl
      await close()
    }
    const { baseUrl } = await openAnywhere()
    if (!keep) await forgetTasks()
    return baseUrl
  }

  /** Makes a change while it is stopped, and starts it again where it ran. */
  async function restartWith(change: () => Promise<void>): Promise<void> {
    const ran = thread !== null
    await close()
    await change()
    if (ran) await openAnywhere()
  }

  function removeStore(): void {
    for (const ending of ['', '-wal', '-shm', '-journal']) rmSync(store + ending, { force: true })
  }

  async function requireKey(baseUrl: string): Promise<ApiKey> {
    const { port } = await readMemory()
    // Only the last address is started again: another program may use the former ports by now.
    if (thread === null && port !== null && toBaseUrl(port) === baseUrl) {
      await open(port).catch((error: unknown) => {
        throw toOtherProgramError(baseUrl, error)
      })
    }
    if (thread?.baseUrl !== baseUrl || !(await proveSandbox(thread))) throw toOtherProgramError(baseUrl)
    return thread.key
  }

  return {
    /** Base URL while it runs, else null. */
    baseUrl: (): string | null => thread?.baseUrl ?? null,
    /** Both hosts while it runs, else null. */
    addresses: (): { baseUrl: string; taskBaseUrl: string } | null =>
      thread === null ? null : { baseUrl: thread.baseUrl, taskBaseUrl: thread.taskBaseUrl },
    /**
     * Starts it. One that runs already forgets its tasks, so that what was submitted before is not a duplicate, unless
     * `keep` says that it is in use; what is in its indexes and watchlists stays. Throws `SANDBOX_UNAVAILABLE`.
     */
    start: ({ keep }: { keep: boolean }): Promise<string> => takeTurn(() => ensure(keep)),
    stop: (): Promise<void> => takeTurn(close),
    readSetup: async (): Promise<SandboxSetup> => (await readMemory()).setup,
    /** Keeps how it is started, and starts it anew if it runs. Throws `SANDBOX_UNAVAILABLE`. */
    setUp: (setup: SandboxSetup): Promise<void> =>
      takeTurn(() =>
        restartWith(async () => {
          const { behaviour } = await readMemory()
          await remember({ setup, behaviour: setup.isKept ? behaviour : {} })
          if (!setup.isKept) removeStore()
        }),
      ),
    /** Changes how it behaves, until it is stopped, or for good if that is kept. Throws `BAD_USAGE`. */
    behave: (change: BehaviourChange): Promise<void> =>
      takeTurn(async () => {
        await admin(z.unknown(), 'PATCH', '/behaviour', change)
        const { setup, behaviour } = await readMemory()
        if (setup.isKept) await remember({ behaviour: { ...behaviour, ...change } })
      }),
    /** Makes it what a new one is; one that runs is started anew. Where it listens stays. */
    reset: (): Promise<void> =>
      takeTurn(() =>
        restartWith(async () => {
          await remember({ behaviour: {} })
          removeStore()
        }),
      ),
    /** Calls an admin route (docs/sandbox.md) of the running sandbox. Throws `BAD_USAGE` with what it refuses. */
    admin,
    /** Base URLs of this workspace's sandbox, now or once. */
    listOwnAddresses,
    /** Whether that is the address of this workspace's sandbox, now or once. */
    isOwnAddress,
    /**
     * The key it accepts, if that is its address, now or once; null for any other address. Starts it there, has it
     * prove that it is the one that this process started, and throws `SANDBOX_UNAVAILABLE` if that is not so.
     */
    findKey: (baseUrl: string): Promise<ApiKey | null> =>
      takeTurn(async () => ((await isOwnAddress(baseUrl)) ? requireKey(new URL(baseUrl).origin) : null)),
  }
}

/** The sandbox of this process, for every window. */
export interface SandboxHost extends ReturnType<typeof createSandboxHost> {}

function toBaseUrl(port: number): string {
  return `http://127.0.0.1:${port}`
}

function toOtherProgramError(baseUrl: string, cause?: unknown): SluiceError {
  return new SluiceError({ id: 'sandbox_is_foreign', baseUrl }, { cause })
}
