import { rmSync } from 'node:fs'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { deleteJournal } from '../journal/delete-journal.ts'
import { removeCatalogue } from '../lookback/catalogue/catalogue-file.ts'
import type { StoredRuns } from '../query/stored-runs.ts'
import { toInboxFile } from '../receiver/inbox.ts'
import type { WorkspaceReceiver } from '../receiver/workspace-receiver.ts'
import { isThere } from '../workspace/is-there.ts'
import { isLeaseHeld, takeLease, whileUnheld } from '../workspace/lease.ts'
import {
  findLeftFiles,
  listCorrectedRuns,
  listCorrectionFiles,
  listDryRuns,
  listRunIds,
  toCorrectionFile,
  toJournalFile,
  toRecordedFiles,
} from '../workspace/workspace-files.ts'

export interface RunRemovalOptions {
  workspace: string
  stored: StoredRuns
  receiver: WorkspaceReceiver
  isHeld: (runId: string) => boolean
}

/** Removes runs completely: files next to the journal, callbacks, and exports inside the workspace. */
export class RunRemoval {
  readonly #options: RunRemovalOptions

  constructor(options: RunRemovalOptions) {
    this.#options = options
  }

  /** Permanently removes a run and retries below it. Throws `RUN_BUSY` while a process holds one of them. */
  async delete(runId: string): Promise<void> {
    await this.#deleteWhole(runId)
    await this.#tidy([runId])
  }

  /** Removes several runs; returns those that a process now holds, which are left alone. */
  async deleteAll(runIds: readonly string[]): Promise<string[]> {
    const busy: string[] = []
    const failures = new Map<string, unknown>()
    for (const runId of runIds) {
      await this.#deleteWhole(runId).catch((error: unknown) => {
        const code = error instanceof SluiceError ? error.code : null
        if (code === 'RUN_BUSY') busy.push(runId)
        // Another process has deleted it meanwhile.
        else if (code !== 'RUN_NOT_FOUND') failures.set(runId, error)
      })
    }
    await this.#tidy(runIds.filter((runId) => !busy.includes(runId) && !failures.has(runId)))
    for (const error of failures.values()) throw error
    return busy
  }

  /**
   * Removes everything ever recorded in the workspace. A person's settings stay: connections, saved mappings,
   * settings, retention, and the callback address. Returns the number of runs. Throws `RUN_BUSY` while a
   * process works here.
   */
  async wipe(): Promise<number> {
    const { workspace, stored, receiver } = this.#options
    const runIds = listRunIds(workspace)
    const all = [...runIds, ...listDryRuns(workspace)]
    for (const runId of all) this.#refuseBusy(runId)
    await receiver.close()
    const inbox = takeLease(toInboxFile(workspace), 'the callback inbox of the workspace', 0)
    try {
      for (const runId of all) {
        await stored.forget(runId)
        deleteJournal(workspace, runId)
      }
      removeCatalogue(workspace)
      for (const path of toRecordedFiles(workspace)) rmSync(path, { recursive: true, force: true })
    } finally {
      inbox.release()
    }
    rmSync(`${toInboxFile(workspace)}.lease`, { force: true })
    return runIds.length
  }

  /** Removes what a process left when it was killed while checking a correction's rows; it contains cells. */
  removeLeftCorrections(runId?: string): void {
    const { workspace } = this.#options
    for (const left of runId === undefined ? listCorrectedRuns(workspace) : [runId]) {
      if (!isThere(toCorrectionFile(workspace, left))) continue
      // A process that corrects the run holds it.
      whileUnheld(toJournalFile(workspace, left), () => {
        for (const file of listCorrectionFiles(workspace, left)) rmSync(file, { force: true })
      })
    }
  }

  /** Removes the dry runs whose process was killed: one that ends is removed as well. */
  async removeLeftDryRuns(): Promise<void> {
    const { workspace, isHeld } = this.#options
    for (const runId of listDryRuns(workspace)) {
      try {
        if (isHeld(runId) || isLeaseHeld(toJournalFile(workspace, runId))) continue
        await this.deleteAll([runId])
      } catch (error) {
        // One that cannot be removed, and is in no list, must not keep the runs from being settled.
        if (!(error instanceof SluiceError)) throw error
      }
    }
  }

  /** Removes the files of one run alone. */
  async removeFiles(runId: string): Promise<void> {
    await this.#options.stored.forget(runId)
    deleteJournal(this.#options.workspace, runId)
  }

  async #deleteWhole(runId: string): Promise<void> {
    const { stored, receiver } = this.#options
    const members = await stored.own.listMembers(runId).catch((error: unknown) => {
      if (error instanceof SluiceError && error.code === 'RUN_NOT_FOUND') throw error
      // A damaged journal can be deleted, too.
      return []
    })
    const addresses = await stored.own.readAddresses(runId).catch(() => null)
    const retries = members.filter((member) => member !== runId)
    for (const one of [runId, ...retries]) this.#refuseBusy(one)
    for (const one of [...retries.reverse(), runId]) await this.removeFiles(one)
    const token = addresses?.runToken ?? runId
    const live = await stored.readRunTokens().catch(() => null)
    if (live !== null && !live.has(token)) await receiver.forget([token])
  }

  /** Removes what killed processes left of these runs, and their catalogue entries. */
  async #tidy(runIds: readonly string[]): Promise<void> {
    const { workspace, stored } = this.#options
    for (const file of findLeftFiles(workspace, new Set(runIds))) rmSync(file, { force: true })
    await stored.runs.listRuns({ limit: 0 })
  }

  #refuseBusy(runId: string): void {
    if (this.#options.isHeld(runId)) throw new SluiceError({ id: 'run_going_on', runId })
    if (!isLeaseHeld(toJournalFile(this.#options.workspace, runId))) return
    throw new SluiceError({ id: 'run_held_elsewhere', runId })
  }
}
