import { z } from 'zod'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { fixesSchema, fromStoredFixes, toStoredFixes } from '../../../shared/plan/fixes.ts'
import { type Plan, planSchema, type SentPlan } from '../../../shared/plan/plan.ts'
import { type SourceFingerprint, sourceFingerprintSchema } from '../../../shared/plan/source-fingerprint.ts'
import { type ReadAs, readAsSchema } from '../../../shared/run/read-as.ts'
import type { SessionKind } from '../../../shared/run/run.ts'
import { type DatabaseSync, toNumber, toText } from '../workspace/sqlite.ts'
import { toRunId } from '../workspace/workspace-files.ts'
import { insertSession } from './sessions.ts'

const namesSchema = z.array(z.string())
const earlierFixesSchema = z.array(z.object({ until: z.int(), fixes: fixesSchema }))

/** How far a run has come, according to its journal. The lease tells whether it is still running. */
export type StoredState = 'intake' | 'ready' | 'running' | 'completed' | 'stopped' | 'interrupted'

/** The run itself, as its journal holds it. Times are Unix milliseconds. */
export interface RunRecord {
  runId: string
  /** What `{{run}}` stands for: the id of the first run of a chain of retries. */
  runToken: string
  parentRunId: string | null
  /** The child run that took over what did not succeed, except unknown rows; this run is then not resumed. */
  supersededBy: string | null
  /** The child run that took over the rows of unknown outcome. */
  unknownTakenBy: string | null
  /** The child run that took over the invalid and left-out rows to correct them. */
  invalidTakenBy: string | null
  /** Whether this is a correcting retry: it took over invalid rows and checked all its rows again. */
  corrects: boolean
  name: string
  plan: SentPlan
  columns: string[]
  /** The header as in the source, with empty and duplicate names; null if there was none. */
  header: string[] | null
  state: StoredState
  stopReason: string | null
  /** What to do about it; null if there is nothing. */
  stopAdvice: string | null
  createdAtMs: number
  startedAtMs: number | null
  endedAtMs: number | null
  /** Time spent sending, over all sessions, milliseconds. */
  sendingMs: number
  rowsRead: number
  /** Number of items; for tasks, of valid rows. */
  items: number
  /** The watermark: every item up to this one may have been sent. */
  claimed: number
  /** Rows of the items up to the watermark. */
  claimedRows: number
  /** Base of the callback URLs; null for sync runs and if callbacks go to another receiver. */
  callbackBase: string | null
  /** Base of the media host's URLs; null if it is not used. */
  mediaBase: string | null
  /** Callbacks of the inbox up to this one have been processed. */
  inboxRead: number
  appVersion: string
  /** Fingerprint of the source when it was read; null if it was not recorded. */
  sourceFingerprint: SourceFingerprint | null
  /** How each file of the source was read; null if that was not recorded. */
  readAs: ReadAs[] | null
}

/** Writes the run's one row, and its first session. The caller has a transaction open. */
export function insertRunRecord(
  db: DatabaseSync,
  record: Pick<
    RunRecord,
    'runId' | 'runToken' | 'parentRunId' | 'name' | 'plan' | 'createdAtMs' | 'appVersion'
  > &
    Partial<Pick<RunRecord, 'callbackBase' | 'mediaBase' | 'corrects'>> & {
      isImport?: boolean
      trialRows?: number | undefined
    },
): void {
  db.prepare(
    `INSERT INTO run (run_id, run_token, parent_run_id, name, plan, created_at, app_version, callback_base,
     media_base, corrects) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ).run(
    record.runId,
    record.runToken,
    record.parentRunId,
    record.name,
    toStoredPlan(record.plan),
    record.createdAtMs,
    record.appVersion,
    record.callbackBase ?? null,
    record.mediaBase ?? null,
    Number(record.corrects ?? false),
  )
  insertSession(db, {
    kind: toFirstKind(record),
    startedAtMs: record.createdAtMs,
    appVersion: record.appVersion,
    options: { trialRows: record.trialRows },
  })
}

function toFirstKind(record: {
  parentRunId: string | null
  corrects?: boolean
  isImport?: boolean
}): SessionKind {
  if (record.isImport) return 'import'
  if (record.parentRunId === null) return 'start'
  return record.corrects ? 'correction' : 'retry'
}

const RUN_NAME = /^[\w-]+$/
/** Matches a retry that was deleted after it had sent rows, too; see `toDeletedName`. */
const SUCCESSOR_NAME = /^[\w-]+( \(deleted\))?$/

/** Reads a run's row; null if the process died before writing it. Throws `WORKSPACE_UNUSABLE` if damaged. */
export function readRunRecord(db: DatabaseSync): RunRecord | null {
  const row = db.prepare('SELECT * FROM run').get()
  if (row === undefined) return null
  const toDamaged = (column: string, cause?: unknown) => {
    const file = db.location() ?? ''
    const said = { file, runId: toRunId(file), reason: `its ${column} is damaged` }
    return new SluiceError({ id: 'journal_damaged', ...said }, { cause })
  }
  const parse = <Value>(column: string, schema: z.ZodType<Value>): Value => {
    try {
      return schema.parse(JSON.parse(String(row[column])))
    } catch (cause) {
      throw toDamaged(column, cause)
    }
  }
  /** Run names become file names, so they are checked. */
  const toName = (column: string, names = RUN_NAME): string => {
    const name = String(row[column])
    if (!names.test(name)) throw toDamaged(column)
    return name
  }
  const toSuccessor = (column: string) => (row[column] === null ? null : toName(column, SUCCESSOR_NAME))
  return {
    runId: String(row['run_id']),
    runToken: toName('run_token'),
    parentRunId: row['parent_run_id'] === null ? null : toName('parent_run_id'),
    supersededBy: toSuccessor('superseded_by'),
    unknownTakenBy: toSuccessor('unknown_taken_by'),
    invalidTakenBy: toSuccessor('invalid_taken_by'),
    corrects: Number(row['corrects']) === 1,
    name: String(row['name']),
    plan: {
      ...fromStored(parse('plan', planSchema)),
      ...(toText(row['earlier_fixes']) !== null && {
        earlierFixes: parse('earlier_fixes', earlierFixesSchema).map(({ until, fixes }) => ({
          until,
          fixes: fromStoredFixes(fixes),
        })),
      }),
    },
    columns: parse('columns', namesSchema),
    header: toText(row['header']) === null ? null : parse('header', namesSchema),
    state: String(row['state']) as StoredState,
    stopReason: toText(row['stop_reason']),
    stopAdvice: toText(row['stop_advice']),
    createdAtMs: Number(row['created_at']),
    startedAtMs: toNumber(row['started_at']),
    endedAtMs: toNumber(row['ended_at']),
    sendingMs: Number(row['sending_ms']),
    rowsRead: Number(row['rows_read']),
    items: Number(row['items']),
    claimed: Number(row['claimed']),
    claimedRows: Number(row['claimed_rows']),
    callbackBase: toText(row['callback_base']),
    mediaBase: toText(row['media_base']),
    inboxRead: Number(row['inbox_read']),
    appVersion: String(row['app_version']),
    sourceFingerprint:
      toText(row['source_fingerprint']) === null
        ? null
        : parse('source_fingerprint', sourceFingerprintSchema),
    readAs: toText(row['read_as']) === null ? null : parse('read_as', z.array(readAsSchema)),
  }
}

/** A plan as the journal stores it: defaults of fixes spelled out, earlier fixes left out. */
export function toStoredPlan({ earlierFixes: _kept, ...plan }: SentPlan): string {
  return JSON.stringify(plan.fixes === undefined ? plan : { ...plan, fixes: toStoredFixes(plan.fixes) })
}

function fromStored(plan: Plan): Plan {
  return plan.fixes === undefined ? plan : { ...plan, fixes: fromStoredFixes(plan.fixes) }
}

/** The columns of the run's row that change while it runs. */
export interface RunChanges {
  state?: StoredState
  /** What {@link toStoredPlan} gives. */
  plan?: string
  stop_reason?: string | null
  stop_advice?: string | null
  columns?: string
  header?: string | null
  started_at?: number
  ended_at?: number | null
  sending_ms?: number
  rows_read?: number
  items?: number
  claimed?: number
  claimed_rows?: number
  inbox_read?: number
  superseded_by?: string | null
  unknown_taken_by?: string | null
  invalid_taken_by?: string | null
  /** A {@link SourceFingerprint} as JSON. */
  source_fingerprint?: string | null
  /** An array of {@link ReadAs} as JSON. */
  read_as?: string | null
  /** Fixes by the session until which they held, as JSON. */
  earlier_fixes?: string
}

/** Changes the named columns of the run's row. The caller has a transaction open. */
export function updateRunRecord(db: DatabaseSync, changes: RunChanges): void {
  const entries = Object.entries(changes).filter(([, value]) => value !== undefined)
  const assignments = entries.map(([column]) => `${column} = ?`).join(', ')
  db.prepare(`UPDATE run SET ${assignments}`).run(...entries.map(([, value]) => value))
}
