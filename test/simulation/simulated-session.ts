import { copyFileSync, existsSync, writeFileSync } from 'node:fs'
import { toInboxFile } from '../../src/main/engine/receiver/inbox.ts'
import { toReceiverSettingsFile } from '../../src/main/engine/receiver/receiver-settings.ts'
import { openCallbackSettler } from '../../src/main/engine/run/callback-settler.ts'
import { ItemClaims } from '../../src/main/engine/run/journal/item-claims.ts'
import { Sender, type SenderOptions } from '../../src/main/engine/run/sender.ts'
import { createItemRequests } from '../../src/main/engine/sending/item-requests.ts'
import { RunSession } from '../../src/main/engine/session/run-session.ts'
import type { RunTask } from '../../src/main/engine/session/run-thread.ts'
import {
  createWorkspaceFolders,
  listRunIds,
  toJournalFile,
} from '../../src/main/engine/workspace/workspace-files.ts'
import { type SessionScenario, SIMULATED_KEY } from './draw-scenario.ts'
import type { VirtualService } from './virtual-service.ts'

/** Duration of an fsync, milliseconds. */
const SYNC_MS = 0.5

/** Steps between two checks of the workspace. */
const LOOK_STEPS = 10

/** Changes a sender's options to plant a fault. */
export type Plant = (options: SenderOptions) => SenderOptions

interface SimulatedSessionOptions {
  service: VirtualService
  scenario: SessionScenario
  runId: string
  work: RunTask['work']
  workspace: string
  /** The workspace of the next session, to which a kill copies the journals. */
  nextWorkspace: string
  /** Random numbers for the waits before retries. */
  random: () => number
  plant: Plant
  /** Checks the workspace now and then while the process runs. */
  look: () => void
}

/** The task of a session for a run of its workspace. */
export function toRunTask(workspace: string, runId: string, work: RunTask['work']): RunTask {
  return {
    runId,
    workspace,
    apiKey: SIMULATED_KEY,
    proxyCredentials: null,
    headerValues: null,
    systemProxy: null,
    appVersion: '0',
    deliveredCodes: [],
    callbackBase: null,
    mediaBase: null,
    hold: false,
    accept: [],
    whenFailing: 'stop',
    loadWorkerUrl: '',
    searchWorkerUrl: '',
    work,
  }
}

/** Callback addresses are the same in every simulation. */
const RECEIVER = JSON.stringify({ version: 1, secret: '5'.repeat(64), port: 20_001 })

/** Creates a workspace without runs. */
export function createSimulatedWorkspace(workspace: string): void {
  createWorkspaceFolders(workspace)
  writeFileSync(toReceiverSettingsFile(workspace), RECEIVER, { mode: 0o600 })
}

/** Copies journals and inbox as on disk, without leases and SQLite's shared memory. */
function copyWorkspace(from: string, to: string): void {
  createSimulatedWorkspace(to)
  const files = [
    toInboxFile,
    ...listRunIds(from).map((runId) => (folder: string) => toJournalFile(folder, runId)),
  ]
  for (const toFile of files) {
    for (const ending of ['', '-wal']) {
      const file = `${toFile(from)}${ending}`
      if (existsSync(file)) copyFileSync(file, `${toFile(to)}${ending}`)
    }
  }
}

/** One session of a run, in a process that may be killed at any of its steps. */
export class SimulatedSession {
  /** Settles when the session has ended; if it was killed, when its remains have. */
  readonly ended: Promise<void>
  isKilled = false
  readonly #options: SimulatedSessionOptions
  readonly #session: RunSession
  #steps = 0

  constructor(options: SimulatedSessionOptions) {
    this.#options = options
    const { workspace, scenario, runId, work } = options
    this.#session = new RunSession(toRunTask(workspace, runId, work), () => {}, {
      onCommit: () => this.step(),
      sync: () =>
        new Promise((resolve) => {
          setTimeout(() => {
            this.step()
            resolve()
          }, SYNC_MS)
        }),
      createSender: ({ journal, record, meter }) => {
        const { exchange, toRequest } = createItemRequests(record, workspace)
        const claims = new ItemClaims(journal, record)
        const sender = {
          plan: record.plan,
          journal,
          claims,
          settler:
            record.callbackBase === null
              ? null
              : openCallbackSettler({
                  workspace,
                  journal,
                  record,
                  claims,
                  redact: (body) => body,
                  onLatency: (latencyUs) => meter.noteCallback(latencyUs),
                }),
          meter,
          createClient: () => options.service.createClient(this),
          toRequest: ({ item, rows }) => toRequest(item, rows),
          judge: exchange.judge,
          random: options.random,
          readKeySource: () => 'of the simulation',
        } satisfies SenderOptions
        return new Sender(options.plant(sender))
      },
    })
    for (const { atMs, command } of scenario.commands) {
      setTimeout(() => {
        if (!this.isKilled) this.#session.command(command)
      }, atMs)
    }
    this.ended = this.#session.run()
  }

  /**
   * Counts events: a commit begins or ends, the disk is synced, a request goes out, an answer comes in. At
   * the scenario's step the process is killed: what it has written stays, and nothing follows.
   */
  readonly step = (): void => {
    this.#steps += 1
    if (!this.isKilled && this.#steps % LOOK_STEPS === 0) this.#options.look()
    if (this.isKilled || this.#steps !== this.#options.scenario.killAtStep) return
    this.isKilled = true
    copyWorkspace(this.#options.workspace, this.#options.nextWorkspace)
    this.#options.service.inbox.moveTo(this.#options.nextWorkspace)
    // Calls under way return first; their effects are lost with the old files.
    queueMicrotask(() => {
      this.#session.command({ kind: 'stop' })
      this.#options.service.abandon(this)
    })
  }
}
