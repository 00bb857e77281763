import { closeSync, ftruncateSync, openSync, readdirSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { threadId } from 'node:worker_threads'
import { refuseIrregular } from '../../workspace/regular-file.ts'
import { isRunId } from '../../workspace/workspace-files.ts'

const PREFIX = 'catalogue.reading-'

/** Suffix of a run's id if reading it had failed to end once before. */
const AGAIN = ' again'

/**
 * Records in a file which journal a thread is reading, so that a journal whose reading never ends, or ends
 * the process, is known later: SQLite cannot be interrupted, and a crafted file can keep it busy forever. A
 * killed process was reading some journal by chance, so a run counts only if its reading did not end twice.
 */
export class ReadingMark {
  readonly #file: string
  readonly #descriptor: number | null
  /** By run, how often its reading did not end. */
  readonly #unended: ReadonlyMap<string, number>

  /** Collects the marks of processes that are gone. */
  constructor(workspace: string) {
    this.#file = join(workspace, `${PREFIX}${process.pid}-${threadId}`)
    this.#unended = takeUnended(workspace, this.#file)
    this.#descriptor = openIfPossible(this.#file)
  }

  /** Whether the reading of a run did not end, twice. */
  isEndless(runId: string): boolean {
    return (this.#unended.get(runId) ?? 0) > 1
  }

  /** Reads a run; the file names it until reading has ended. */
  during<Result>(runId: string, read: () => Result): Result {
    const descriptor = this.#descriptor
    if (descriptor === null) return read()
    try {
      writeSync(descriptor, this.#unended.has(runId) ? runId + AGAIN : runId, 0)
    } catch {
      // On a full disk, for example.
    }
    try {
      return read()
    } finally {
      ftruncateSync(descriptor)
    }
  }

  close(): void {
    if (this.#descriptor === null) return
    closeSync(this.#descriptor)
    rmSync(this.#file, { force: true })
  }
}

/** Reads and removes the marks of processes that are gone, and one of an earlier process with our id. */
function takeUnended(workspace: string, own: string): Map<string, number> {
  const unended = new Map<string, number>()
  for (const name of listNames(workspace)) {
    const [, pid] = /^catalogue\.reading-(\d+)-\d+$/.exec(name) ?? []
    const file = join(workspace, name)
    if (pid === undefined || (file !== own && isAlive(Number(pid)))) continue
    try {
      refuseIrregular(file)
      const text = readFileSync(file, 'utf8')
      const runId = text.replace(AGAIN, '')
      if (isRunId(runId)) unended.set(runId, text === runId ? 1 : 2)
      rmSync(file, { force: true })
    } catch {
      // Another process collects it.
    }
  }
  return unended
}

function listNames(workspace: string): string[] {
  try {
    return readdirSync(workspace)
  } catch {
    return []
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** Null if that fails, as in a read-only folder, or if something not ours is there, such as a link. */
function openIfPossible(file: string): number | null {
  try {
    return openSync(file, 'wx', 0o600)
  } catch {
    return null
  }
}
