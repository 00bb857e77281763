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

/** Slow enough for a person to watch a run. */
const TRIAL_BEHAVIOUR = {
  latency: '110ms±70ms',
  callbacks: 'delay=1s±400ms',
} satisfies BehaviourChange

const DEFAULT_SETUP: Readonly<SandboxSetup> = { port: 0, taskPort: 0, seed: 'sluice', isKept: false }

/** Label of the key that this process sends, which is the sandbox's label for its first key. */
export const OWN_KEY_LABEL = 'key 1'

/** A sandbox started by this process, and the key to send to it. */
interface StartedSandbox extends SandboxThread {
  key: ApiKey
}

const portSchema = z.int().min(1).max(65_535)

const rememberedSandboxSchema = z.object({
  /** Null if it was only configured and has never run. */
  port: portSchema.nullable(),
  /** Its former ports, which runs may still name. */
  formerPorts: z.array(portSchema).default([]),
  setup: sandboxSetupSchema.default(DEFAULT_SETUP),
  /** Kept changes of its behaviour. */
  behaviour: behaviourChangeSchema.default({}),
})

type RememberedSandbox = z.infer<typeof rememberedSandboxSchema>

const NEW: RememberedSandbox = { port: null, formerPorts: [], setup: DEFAULT_SETUP, behaviour: {} }

const FORMER_PORTS_MAX = 100

/**
 * Creates the host of the sandbox, not yet started. Port and configuration are stored in the workspace, so
 * that a run against it can be resumed after a restart.
 */
export function createSandboxHost(options: { workerUrl: URL; workspace: string }) {
  const memory = join(options.workspace, 'sandbox.json')
  const store = toSandboxStore(options.workspace)
  let thread: StartedSandbox | null = null
  let previous: Promise<unknown> = Promise.resolve()

  // One at a time, so that a second window starts no second sandbox.
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const result = previous.then(work)
    previous = result.catch(() => {})
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
    // The port is only a convenience; an unwritable workspace causes errors elsewhere.
    try {
      replaceFileSync(memory, text, { isPrivate: true })
    } catch {
      // Without it, the next start takes another port.
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

  /** Starts the sandbox at that port, 0 for a free one, with a key that no other sandbox accepts. */
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

  /** A kept sandbox still has the keys of earlier starts, which are no longer sent. */
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
    const { error_code: code, message } = serviceErrorSchema.parse(found)
    const id = code === 'CHANGED_MEANWHILE' ? 'sandbox_changed_meanwhile' : 'sandbox_refuses'
    throw new SluiceError({ id, message })
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

  /** Makes a change while the sandbox is stopped, and restarts it if it was running. */
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
    // Started only at its last address: other programs may use its former ports by now.
    if (thread === null && port !== null && toBaseUrl(port) === baseUrl) {
      await open(port).catch((error: unknown) => {
        throw toOtherProgramError(baseUrl, error)
      })
    }
    if (thread?.baseUrl !== baseUrl || !(await proveSandbox(thread))) throw toOtherProgramError(baseUrl)
    return thread.key
  }

  return {
    baseUrl: (): string | null => thread?.baseUrl ?? null,
    /** Both base URLs while running, else null. */
    addresses: (): { baseUrl: string; taskBaseUrl: string } | null =>
      thread === null ? null : { baseUrl: thread.baseUrl, taskBaseUrl: thread.taskBaseUrl },
    /**
     * Starts it. A running sandbox forgets its tasks, so that earlier posts are not duplicates, unless `keep`
     * says that it is in use; its indexes and watchlists stay. Throws `SANDBOX_UNAVAILABLE`.
     */
    start: ({ keep }: { keep: boolean }): Promise<string> => inTurn(() => ensure(keep)),
    stop: (): Promise<void> => inTurn(close),
    readSetup: async (): Promise<SandboxSetup> => (await readMemory()).setup,
    /** Stores its configuration, and restarts it if it is running. Throws `SANDBOX_UNAVAILABLE`. */
    setUp: (setup: SandboxSetup): Promise<void> =>
      inTurn(() =>
        restartWith(async () => {
          const { behaviour } = await readMemory()
          await remember({ setup, behaviour: setup.isKept ? behaviour : {} })
          if (!setup.isKept) removeStore()
        }),
      ),
    /** Changes its behaviour until it is stopped, or permanently if that is kept. Throws `BAD_USAGE`. */
    behave: (change: BehaviourChange): Promise<void> =>
      inTurn(async () => {
        await admin(z.unknown(), 'PATCH', '/behaviour', change)
        const { setup, behaviour } = await readMemory()
        if (setup.isKept) await remember({ behaviour: { ...behaviour, ...change } })
      }),
    /** Resets it to a new sandbox at the same address, and restarts it if it is running. */
    reset: (): Promise<void> =>
      inTurn(() =>
        restartWith(async () => {
          await remember({ behaviour: {} })
          removeStore()
        }),
      ),
    /** Calls an admin route (docs/sandbox.md) of the running sandbox. Throws `BAD_USAGE` with its refusal. */
    admin,
    /** Present and former base URLs of this workspace's sandbox. */
    listOwnAddresses,
    /** Whether an address is, or was, this workspace's sandbox. */
    isOwnAddress,
    /**
     * The key that the sandbox accepts, for its present and former addresses; null for others. Starts the
     * sandbox there, makes it prove that this process started it, and throws `SANDBOX_UNAVAILABLE` otherwise.
     */
    findKey: (baseUrl: string): Promise<ApiKey | null> =>
      inTurn(async () => ((await isOwnAddress(baseUrl)) ? requireKey(new URL(baseUrl).origin) : null)),
  }
}

/** The sandbox of this process, shared by all windows. */
export interface SandboxHost extends ReturnType<typeof createSandboxHost> {}

function toBaseUrl(port: number): string {
  return `http://127.0.0.1:${port}`
}

function toOtherProgramError(baseUrl: string, cause?: unknown): SluiceError {
  return new SluiceError({ id: 'sandbox_is_foreign', baseUrl }, { cause })
}
