import { copyFileSync, existsSync } from 'node:fs'
import { ItemClaims } from '../../src/main/engine/run/journal/item-claims.ts'
import { Sender, type SenderOptions } from '../../src/main/engine/run/sender.ts'
import { ApiKey } from '../../src/main/engine/secrets/bound-secret.ts'
import { createItemRequests } from '../../src/main/engine/sending/item-requests.ts'
import { RunSession } from '../../src/main/engine/session/run-session.ts'
import type { RunTask } from '../../src/main/engine/session/run-thread.ts'
import {
  createWorkspaceFolders,
  listRunIds,
  toJournalFile,
} from '../../src/main/engine/workspace/workspace-files.ts'
import type { Plan } from '../../src/shared/plan/plan.ts'
import type { SessionScenario } from './draw-scenario.ts'
import type { VirtualService } from './virtual-service.ts'

/** An fsync takes this long, milliseconds. */
const SYNC_MS = 0.5

/** Changes what a sender is made of, to plant a fault in it. */
export type Plant = (options: SenderOptions) => SenderOptions

/** What a session of a simulation is given. */
interface SimulatedSessionOptions {
  plan: Plan
  service: VirtualService
  scenario: SessionScenario
  runId: string
  work: RunTask['work']
  workspace: string
  /** The workspace of the next session, to which a kill copies the journals. */
  nextWorkspace: string
  /** Spreads the waits before retries. */
  random: () => number
  plant: Plant
}

/** What a session is told to do with a run of its workspace. */
export function toRunTask(plan: Plan, workspace: string, runId: string, work: RunTask['work']): RunTask {
  return {
    runId,
    workspace,
    apiKey: ApiKey.create('key', plan.connection, 'of the simulation').seal(),
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

/** Copies journals as they are on the disk, without what only SQLite's shared memory has, and without their leases. */
function copyJournals(from: string, to: string): void {
  createWorkspaceFolders(to)
  for (const runId of listRunIds(from)) {
    for (const ending of ['', '-wal']) {
      const file = `${toJournalFile(from, runId)}${ending}`
      if (existsSync(file)) copyFileSync(file, `${toJournalFile(to, runId)}${ending}`)
    }
  }
}

/** One session of a run, in a process that may be killed at any of its steps. */
export class SimulatedSession {
  /** Settles when the session has ended, or what is left of a killed one has. */
  readonly ended: Promise<void>
  isKilled = false
  readonly #options: SimulatedSessionOptions
  readonly #session: RunSession
  #steps = 0

  constructor(options: SimulatedSessionOptions) {
    this.#options = options
    const { plan, workspace, scenario, runId, work } = options
    this.#session = new RunSession(toRunTask(plan, workspace, runId, work), () => {}, {
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
        const sender = {
          plan: record.plan,
          journal,
          claims: new ItemClaims(journal, record),
          settler: null,
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
   * Counts what happens: a commit begins or ends, the disk is synced, a request goes out, an answer comes in. At the
   * step of the scenario the process is killed: what it has written stays, and nothing follows.
   */
  readonly step = (): void => {
    this.#steps += 1
    if (this.isKilled || this.#steps !== this.#options.scenario.killAtStep) return
    this.isKilled = true
    copyJournals(this.#options.workspace, this.#options.nextWorkspace)
    // What is under way here returns first; what it does is lost with its files.
    queueMicrotask(() => {
      this.#session.command({ kind: 'stop' })
      this.#options.service.abandon(this)
    })
  }
}
