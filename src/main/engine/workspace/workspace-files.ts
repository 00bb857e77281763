import { randomInt } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { toThrownText } from '../../../shared/messages/thrown.ts'
import { closeFolder } from './file-permissions.ts'

const RUNS_FOLDER = 'runs'
const JOURNAL_ENDING = '.journal'

/** Where a run's journal is. */
export function toJournalFile(workspace: string, runId: string): string {
  return join(workspace, RUNS_FOLDER, `${runId}${JOURNAL_ENDING}`)
}

/** The id of a journal's run. */
export function toRunId(journalFile: string): string {
  return basename(journalFile, JOURNAL_ENDING)
}

/** The workspace that holds a journal. */
export function toWorkspace(journalFile: string): string {
  return dirname(dirname(journalFile))
}

/**
 * Makes the workspace's folders where they are missing, and closes them to other users. Throws `WORKSPACE_UNUSABLE`,
 * also where a folder is another user's, or others can write to it and that cannot be changed.
 */
export function createWorkspaceFolders(workspace: string): void {
  try {
    makeFolders(join(workspace, RUNS_FOLDER))
  } catch (error) {
    throw new SluiceError(
      { id: 'workspace_not_made', workspace, reason: toThrownText(error) },
      { cause: error },
    )
  }
  for (const folder of [workspace, join(workspace, RUNS_FOLDER)]) {
    const reason = closeFolder(folder)
    if (reason === null) continue
    throw new SluiceError({ id: 'workspace_unsafe', workspace, reason })
  }
}

/** One folder after the other: Node's own recursive mkdir never returns on file systems such as /proc. */
function makeFolders(folder: string): void {
  if (existsSync(folder)) return
  makeFolders(dirname(folder))
  mkdirSync(folder, { mode: 0o700 })
}

/** Whether a text can be the id of a run: the name of a copied journal is not one. */
export function isRunId(text: string): boolean {
  return /^[\w-]+$/.test(text)
}

/** Ids of the runs that have a journal, newest first; ids begin with the time they were made. */
export function listRunIds(workspace: string): string[] {
  return readdirSync(join(workspace, RUNS_FOLDER))
    .filter((name) => name.endsWith(JOURNAL_ENDING))
    .map((name) => name.slice(0, -JOURNAL_ENDING.length))
    .filter(isRunId)
    .sort()
    .reverse()
}

/** Where the verdicts on a run and its retries are, named after the first run. */
export function toVerdictsFile(workspace: string, runId: string): string {
  return join(workspace, RUNS_FOLDER, `${runId}.verdicts`)
}

/** Paths of a run's journal files and of the verdicts on it, without the journal's lease; some may not exist. */
export function toRunFiles(workspace: string, runId: string): string[] {
  const file = toJournalFile(workspace, runId)
  const verdicts = toVerdictsFile(workspace, runId)
  return [`${verdicts}-journal`, `${verdicts}.lease`, verdicts, `${file}-wal`, `${file}-shm`, file]
}

/** Without vowels, so that no words appear, and without letters that look like digits. */
const ALPHABET = 'bcdfghjkmnpqrstvwxz23456789'
const RANDOM_LENGTH = 4

/**
 * A new run's id: its time in UTC to the millisecond and a random tail, as in `20261121-094329-347k3f9`. Sorts by time,
 * and holds neither `_` nor `;`, so that it can be part of a post_id (docs/interface.md §2.1).
 */
export function createRunId(nowMs: number = Date.now()): string {
  const [date = '', time = ''] = new Date(nowMs).toISOString().split('T')
  const tail = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  const [clock = '', ms = ''] = time.replace('Z', '').split('.')
  return `${date.replaceAll('-', '')}-${clock.replaceAll(':', '')}-${ms}${tail}`
}
