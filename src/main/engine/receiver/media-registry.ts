import { existsSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrownText } from '../../../shared/messages/thrown.ts'
import { isLeaseHeld } from '../workspace/lease.ts'
import { replaceFileSync } from '../workspace/replace-file.ts'
import { toJournalFile } from '../workspace/workspace-files.ts'

const folderSchema = z.object({
  /** The token in the run's media URLs, shared by the child runs of a retry. */
  runToken: z.string().regex(/^[\w-]+$/),
  /** The run whose journal is held as long as the files are needed. */
  runId: z.string().regex(/^[\w-]+$/),
  /** Absolute path. */
  folder: z.string().min(1),
})

/** A folder whose files a run needs served. */
export type MediaFolder = z.infer<typeof folderSchema>

/** Longest time until the death of a run's process is noticed, milliseconds. */
const LEASE_LOOK_MS = 1_000

/** Age from which a folder of a run that nobody holds counts as abandoned, milliseconds. */
const LEFT_BEHIND_MS = 3_600_000

/**
 * The served folders, each a small file in the workspace, so that whichever process listens serves all of
 * them. A folder is served only while its run is held.
 */
export class MediaRegistry {
  readonly #workspace: string
  readonly #folder: string
  readonly #nowMs: () => number
  readonly #heldAtMs = new Map<string, number>()

  constructor(workspace: string, nowMs: () => number) {
    this.#workspace = workspace
    this.#folder = join(workspace, 'media')
    this.#nowMs = nowMs
  }

  /** Starts serving a folder. Throws `BAD_SOURCE` if it does not exist, and `WORKSPACE_UNUSABLE`. */
  add({ runToken, runId, folder }: MediaFolder): void {
    const registered = folderSchema.parse({ runToken, runId, folder: toRealFolder(folder) })
    const file = this.#toFile(runToken)
    try {
      if (!existsSync(this.#folder)) mkdirSync(this.#folder, { mode: 0o700 })
      replaceFileSync(file, JSON.stringify(registered), { isPrivate: true })
    } catch (error) {
      throw SluiceError.because(error, { id: 'media_registry_unwritable', file })
    }
  }

  /** Stops serving it, unless another run with the same token has taken it over. */
  async remove({ runToken, runId }: Pick<MediaFolder, 'runToken' | 'runId'>): Promise<void> {
    this.#heldAtMs.delete(runId)
    const registered = await this.#read(runToken)
    if (registered?.runId === runId) rmSync(this.#toFile(runToken), { force: true })
  }

  /** Removes what runs of dead processes left behind. */
  async clear(): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const file = join(this.#folder, name)
      const { mtimeMs = 0 } = (await stat(file).catch(() => null)) ?? {}
      // A run registers its folder before it holds its journal, so a new one may not be held yet.
      if (this.#nowMs() - mtimeMs < LEFT_BEHIND_MS) continue
      const registered = await this.#read(basename(name, '.json'))
      if (registered === null || !this.#isRunHeld(registered.runId)) rmSync(file, { force: true })
    }
  }

  /** The real path of the folder served for a run's token; null if there is none. */
  async find(runToken: string): Promise<string | null> {
    const registered = await this.#read(runToken)
    return registered !== null && this.#isRunHeld(registered.runId) ? registered.folder : null
  }

  /** Remembers for a second that a run is held; that it is not is checked always: it may have just begun. */
  #isRunHeld(runId: string): boolean {
    const seenMs = this.#heldAtMs.get(runId)
    if (seenMs !== undefined && this.#nowMs() - seenMs < LEASE_LOOK_MS) return true
    const journal = toJournalFile(this.#workspace, runId)
    const isHeld = existsSync(journal) && isLeaseHeld(journal)
    if (isHeld) this.#heldAtMs.set(runId, this.#nowMs())
    else this.#heldAtMs.delete(runId)
    return isHeld
  }

  async #read(runToken: string): Promise<MediaFolder | null> {
    try {
      return folderSchema.parse(JSON.parse(await readFile(this.#toFile(runToken), 'utf8')))
    } catch {
      // Missing or from another version: serve nothing.
      return null
    }
  }

  #toFile(runToken: string): string {
    return join(this.#folder, `${runToken}.json`)
  }
}

function toRealFolder(folder: string): string {
  try {
    const real = realpathSync.native(folder)
    if (statSync(real).isDirectory()) return real
  } catch (error) {
    throw toNoFolder(folder, error)
  }
  throw toNoFolder(folder, undefined)
}

function toNoFolder(folder: string, cause: unknown): SluiceError {
  return new SluiceError(
    { id: 'media_folder_unusable', folder, reason: cause === undefined ? null : toThrownText(cause) },
    { cause },
  )
}
