import { randomInt } from 'node:crypto'
import { accessSync, constants, readdirSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join, sep } from 'node:path'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { closeFolder, makeFolders } from './file-permissions.ts'
import { toUnreadable } from './is-there.ts'

const RUNS_FOLDER = 'runs'
const JOURNAL_ENDING = '.journal'
const VERDICTS_ENDING = '.verdicts'
const ANNOTATIONS_ENDING = '.annotations'
const FINDINGS_ENDING = '.findings'
const CORRECTION_ENDING = '.correction'
const DRY_RUN_ENDING = '.dry-run'

/** Returns a function that gives the path of a run's file with this ending. */
const toFileOfRun =
  (ending: string) =>
  (workspace: string, runId: string): string =>
    join(workspace, RUNS_FOLDER, runId + ending)

export const toJournalFile = toFileOfRun(JOURNAL_ENDING)

export function toRunId(journalFile: string): string {
  return basename(journalFile, JOURNAL_ENDING)
}

export function toWorkspace(journalFile: string): string {
  return dirname(dirname(journalFile))
}

/**
 * Makes the missing folders of the workspace and closes them to other users. Throws `WORKSPACE_UNUSABLE`,
 * also if a folder belongs to another user, or others can write to it and that cannot be changed.
 */
export function createWorkspaceFolders(workspace: string): void {
  try {
    makeFolders(join(workspace, RUNS_FOLDER))
  } catch (error) {
    throw SluiceError.because(error, { id: 'workspace_not_made', workspace })
  }
  for (const folder of [workspace, join(workspace, RUNS_FOLDER)]) {
    const reason = closeFolder(folder)
    if (reason === null) continue
    throw new SluiceError({ id: 'workspace_unsafe', workspace, reason })
  }
}

/** Whether this process can write to a workspace; a read-only one can still be read. */
export function isWritable(workspace: string): boolean {
  try {
    for (const folder of [workspace, join(workspace, RUNS_FOLDER)]) accessSync(folder, constants.W_OK)
    return true
  } catch {
    return false
  }
}

function readFolder(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    throw toUnreadable(folder, error)
  }
}

/** Whether a text can be a run's id; the name of a copied journal cannot. */
export function isRunId(text: string): boolean {
  return /^[\w-]+$/.test(text)
}

/**
 * Ids of the runs that have a journal, newest first; ids begin with their time of creation. Without dry runs.
 */
export function listRunIds(workspace: string): string[] {
  return [...new RunFolder(workspace).ids]
}

/** The empty file that marks a dry run, which sends nothing and is removed when it ends. */
export const toDryRunFile = toFileOfRun(DRY_RUN_ENDING)

/** Ids of the dry runs that are running, or were when their process was killed. */
export function listDryRuns(workspace: string): string[] {
  return listFilesOfRuns(workspace, DRY_RUN_ENDING)
}

/** The file with the verdicts on a run and its retries, named after the first run. */
export const toVerdictsFile = toFileOfRun(VERDICTS_ENDING)

/** The file with the name, tags and note of a run and its retries, named after the first run. */
export const toAnnotationsFile = toFileOfRun(ANNOTATIONS_ENDING)

export const toFindingsFile = toFileOfRun(FINDINGS_ENDING)

/** The file in which the rows of a run are checked while it is being corrected. */
export const toCorrectionFile = toFileOfRun(CORRECTION_ENDING)

/** Ids of the runs that have such a file: they are being corrected, or were when their process was killed. */
export function listCorrectedRuns(workspace: string): string[] {
  return listFilesOfRuns(workspace, CORRECTION_ENDING)
}

/** Ids of the runs that have a file with this ending. */
function listFilesOfRuns(workspace: string, ending: string): string[] {
  return readFolder(join(workspace, RUNS_FOLDER))
    .filter((name) => name.endsWith(ending))
    .map((name) => basename(name, ending))
}

/** The correction file and its companions while it is open. */
export function listCorrectionFiles(workspace: string, runId: string): string[] {
  const file = toCorrectionFile(workspace, runId)
  return [file, `${file}-wal`, `${file}-shm`, `${file}.lease`]
}

/** Drafts of a run's findings, left by killed processes or being written now. */
export function listFindingsDrafts(workspace: string, runId: string): string[] {
  const folder = join(workspace, RUNS_FOLDER)
  return readFolder(folder)
    .filter((name) => name.startsWith(`.${runId}${FINDINGS_ENDING}.`))
    .map((name) => join(folder, name))
}

/** The file with the rows drawn for labelling, named after the first run. */
export const toLabellingFile = toFileOfRun('.labelling')

export const toExportsFile = toFileOfRun('.exports')

/** The folder for ledger entries that became the sources of runs. */
export function toLedgerSourcesFolder(workspace: string): string {
  return join(workspace, 'ledgers')
}

/** Drafts that killed processes left next to the journals of runs that are deleted. */
export function findLeftFiles(workspace: string, runIds: ReadonlySet<string>): string[] {
  const folder = join(workspace, RUNS_FOLDER)
  return readFolder(folder)
    .filter((name) => runIds.has(/^\.?([\w-]+)\./.exec(name)?.[1] ?? ''))
    .filter((name) => !name.endsWith(`${JOURNAL_ENDING}.lease`))
    .map((name) => join(folder, name))
}

/** The source of a recheck of all appeals in review, replaced by the next one. */
export function toRecheckFile(workspace: string): string {
  return join(workspace, 'appeals-in-review.csv')
}

/** Where the window's sandbox keeps rules, lists and requests across restarts, if a person wants that. */
export function toSandboxStore(workspace: string): string {
  return join(workspace, 'sandbox.db')
}

/** Files about runs, their callbacks and files in progress: everything except a person's settings. */
const RECORDED =
  /^(inbox|catalogue|baselines\.json|appeals-in-review\.csv|sandbox\.db|fingerprint\.secret|written-files\.json)([.-].*)?$|^(downloads|uploads|stdin|media|demo|ledgers)$|^open-.*\.html$|^\..*\.part$/

/** Paths of everything ever recorded in a workspace, except the inbox's lease, which the caller holds. */
export function toRecordedFiles(workspace: string): string[] {
  const runs = join(workspace, RUNS_FOLDER)
  return [
    ...readFolder(runs).map((name) => join(runs, name)),
    ...readFolder(workspace)
      .filter((name) => RECORDED.test(name) && name !== 'inbox.lease')
      .map((name) => join(workspace, name)),
  ]
}

export interface RunFilesState {
  /** Changes whenever the run or its annotations are written; null if they were written just now. */
  fingerprint: string | null
  sizeBytes: number
}

/**
 * A file changed less than this many milliseconds ago may change again without a new time stamp. FAT has the
 * coarsest time stamps.
 */
const RECENT_MS = 2_500

/** Endings of the files of a run that its state depends on. */
const STATE_ENDINGS = [JOURNAL_ENDING, `${JOURNAL_ENDING}-wal`, VERDICTS_ENDING, ANNOTATIONS_ENDING]

/** The state of a run's files at a moment, Unix milliseconds. */
export function readRunFilesState(
  workspace: string,
  runId: string,
  nowMs: number,
  /** Tells which files are missing and need not be looked up. */
  names?: RunFolder | undefined,
): RunFilesState {
  // Concatenated by hand, since there may be tens of thousands.
  const folder = workspace + sep + RUNS_FOLDER + sep
  const parts: string[] = []
  let sizeBytes = 0
  let isRecent = false
  for (const ending of STATE_ENDINGS) {
    const found = names?.hasFile(runId, ending) === false ? null : readStats(folder + runId + ending)
    // It is read each time, and its reader reports what is wrong.
    isRecent ||= found === 'unreadable'
    // Readers leave an empty WAL behind.
    if (found === null || found === 'unreadable' || (found.size === 0 && ending !== JOURNAL_ENDING)) continue
    const { size, mtimeMs, ctimeMs } = found
    parts.push(`${ending}:${size}:${mtimeMs}:${ctimeMs}`)
    sizeBytes += size
    isRecent ||= Math.abs(nowMs - ctimeMs) < RECENT_MS
  }
  return { fingerprint: isRecent ? null : parts.join(), sizeBytes }
}

function readStats(path: string): Stats | 'unreadable' | null {
  try {
    return statSync(path, { throwIfNoEntry: false }) ?? null
  } catch {
    return 'unreadable'
  }
}

export class RunFolder {
  /** Ids of the runs that have a journal, newest first, without dry runs. */
  readonly ids: readonly string[]
  /** Ids of the runs that have a file, by the file's ending. */
  readonly #runs = new Map([...STATE_ENDINGS, DRY_RUN_ENDING].map((ending) => [ending, new Set<string>()]))

  /** Throws `WORKSPACE_UNUSABLE`. */
  constructor(workspace: string) {
    for (const name of readFolder(join(workspace, RUNS_FOLDER))) {
      const end = name.indexOf('.')
      this.#runs.get(name.slice(end))?.add(name.slice(0, end))
    }
    const found = this.#runs.get(JOURNAL_ENDING) ?? []
    this.ids = [...found]
      .filter((id) => isRunId(id) && this.hasRun(id))
      .sort()
      .reverse()
  }

  hasFile(runId: string, ending: string): boolean {
    return this.#runs.get(ending)?.has(runId) ?? false
  }

  /** Whether the run had a journal and was no dry run. */
  hasRun(runId: string): boolean {
    return this.hasFile(runId, JOURNAL_ENDING) && !this.hasFile(runId, DRY_RUN_ENDING)
  }
}

/** Paths of a run's journal and the files beside it, without the journal's lease; some may not exist. */
export function toRunFiles(workspace: string, runId: string): string[] {
  const file = toJournalFile(workspace, runId)
  const verdicts = toVerdictsFile(workspace, runId)
  const annotations = toAnnotationsFile(workspace, runId)
  const labelling = toLabellingFile(workspace, runId)
  return [
    ...[`${verdicts}-journal`, `${verdicts}.lease`, verdicts],
    ...[`${labelling}.lease`, labelling],
    ...[annotations, `${annotations}.lease`, toExportsFile(workspace, runId)],
    toFindingsFile(workspace, runId),
    ...listCorrectionFiles(workspace, runId),
    ...[`${file}-wal`, `${file}-shm`, `${file}-journal`, file],
    // Removed last: what is left of a dry run never becomes a run.
    toDryRunFile(workspace, runId),
  ]
}

/** No vowels, so that no words appear, and no letters that look like digits. */
const ALPHABET = 'bcdfghjkmnpqrstvwxz23456789'
const RANDOM_LENGTH = 4

/**
 * Creates the id of a new run: its UTC time to the millisecond and a random tail, such as
 * `20261121-094329-347k3f9`. Sorts by time and contains neither `_` nor `;`, so that it can be part of a
 * post_id (docs/interface.md §2.1).
 */
export function createRunId(nowMs: number = Date.now()): string {
  const [date = '', time = ''] = new Date(nowMs).toISOString().split('T')
  const tail = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')
  const [clock = '', ms = ''] = time.replace('Z', '').split('.')
  return `${date.replaceAll('-', '')}-${clock.replaceAll(':', '')}-${ms}${tail}`
}
