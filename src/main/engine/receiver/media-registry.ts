import { existsSync, mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { SluiceError } from '../../../shared/errors.ts'
import { isLeaseHeld } from '../journal/lease.ts'
import { toJournalFile } from '../journal/workspace-files.ts'

const folderSchema = z.object({
  /** What the run's media URLs carry; the child runs of a retry share it. */
  runToken: z.string().regex(/^[\w-]+$/),
  /** The run whose journal is held as long as the files are needed. */
  runId: z.string().regex(/^[\w-]+$/),
  /** Absolute path. */
  folder: z.string().min(1),
})

/** A folder whose files a run needs served. */
export type MediaFolder = z.infer<typeof folderSchema>

/** How long it may take until the death of a run's process is noticed, milliseconds. */
const LEASE_LOOK_MS = 1_000

/**
 * The folders that are served, each a small file of the workspace, so that whichever process listens serves those of
 * all. One whose run nobody holds any more is not served.
 */
export class MediaRegistry {
  readonly #workspace: string
  readonly #nowMs: () => number
  readonly #looks = new Map<string, { atMs: number; isHeld: boolean }>()

  constructor(workspace: string, nowMs: () => number) {
    this.#workspace = workspace
    this.#nowMs = nowMs
  }

  /** Serves a folder from now on. Throws `BAD_SOURCE` where there is no such folder, and `WORKSPACE_UNUSABLE`. */
  add({ runToken, runId, folder }: MediaFolder): void {
    const registered = folderSchema.parse({ runToken, runId, folder: toRealFolder(folder) })
    const file = this.#toFile(runToken)
    const draft = `${file}.${process.pid}.draft`
    try {
      if (!existsSync(dirname(file))) mkdirSync(dirname(file), { mode: 0o700 })
      writeFileSync(draft, JSON.stringify(registered), { mode: 0o600 })
      renameSync(draft, file)
    } catch (error) {
      rmSync(draft, { force: true })
      throw toUnwritable(file, error)
    }
  }

  /** Serves it no more, unless another run of the same token has taken it over. */
  async remove({ runToken, runId }: Pick<MediaFolder, 'runToken' | 'runId'>): Promise<void> {
    this.#looks.delete(runId)
    const registered = await this.#read(runToken)
    if (registered?.runId === runId) rmSync(this.#toFile(runToken), { force: true })
  }

  /** The real path of the folder that is served for a run's token; null where none is. */
  async find(runToken: string): Promise<string | null> {
    const registered = await this.#read(runToken)
    return registered !== null && this.#isRunHeld(registered.runId) ? registered.folder : null
  }

  #isRunHeld(runId: string): boolean {
    const known = this.#looks.get(runId)
    if (known !== undefined && this.#nowMs() - known.atMs < LEASE_LOOK_MS) return known.isHeld
    const journal = toJournalFile(this.#workspace, runId)
    const isHeld = existsSync(journal) && isLeaseHeld(journal)
    this.#looks.set(runId, { atMs: this.#nowMs(), isHeld })
    return isHeld
  }

  async #read(runToken: string): Promise<MediaFolder | null> {
    try {
      return folderSchema.parse(JSON.parse(await readFile(this.#toFile(runToken), 'utf8')))
    } catch {
      // Missing, or of another version: then nothing is served.
      return null
    }
  }

  #toFile(runToken: string): string {
    return join(this.#workspace, 'media', `${runToken}.json`)
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
  return new SluiceError({
    code: 'BAD_SOURCE',
    message: `cannot serve the files of ${folder}: ${cause instanceof Error ? cause.message : 'it is no folder'}`,
    hint: 'Name a folder that exists and can be read.',
    cause,
  })
}

function toUnwritable(file: string, cause: unknown): SluiceError {
  return new SluiceError({
    code: 'WORKSPACE_UNUSABLE',
    message: `cannot write ${file}: ${cause instanceof Error ? cause.message : String(cause)}`,
    hint: 'Check that the workspace folder is writable and has free space.',
    cause,
  })
}
