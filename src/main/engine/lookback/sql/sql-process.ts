import { randomBytes } from 'node:crypto'
// A separate process for a statement that a person wrote: SQLite cannot be interrupted, so an endless
// statement is killed with its process, and one that takes all memory takes only this process's. Rows go to
// stdout, one JSON array a line, column names first.
import { once } from 'node:events'
import process from 'node:process'
import { constants, DatabaseSync, type StatementSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { inflateRawSync } from 'node:zlib'
import { SQL_VIEWS } from '../../../../shared/lookback/sql-views.ts'
import { SluiceError, toErrorMessage } from '../../../../shared/messages/errors.ts'
import { toThrownText } from '../../../../shared/messages/thrown.ts'
import { explainFailure } from '../../journal/journal-damage.ts'
import { ReaderPool, type RunFamily, readRunFamily } from '../../journal/run-family.ts'
import { isLeaseHeld } from '../../workspace/lease.ts'
import { attachReader } from '../../workspace/open-reader.ts'
import { toRunId } from '../../workspace/workspace-files.ts'
import type { SqlOutcome, SqlQuestion } from './ask-sql.ts'
import { createSqlViews, INFLATE, quoteName } from './sql-views.ts'

/** Most journals that SQLite attaches. */
const ATTACHED_MAX = 10

/** Most memory of SQLite in all and of one value, bytes. */
const HEAP_MAX_BYTES = 512 * 1024 * 1024
const VALUE_MAX_BYTES = 32 * 1024 * 1024

/** Most bytes of a stored body, decompressed. */
const BODY_MAX_BYTES = 4 * 1024 * 1024

/** The column that names the run of a row. */
const RUN_COLUMN = 'run'

/** Most runs kept open between checking their columns and reading them; each takes three descriptors. */
const KEPT_MAX = 100

/** UTF-16 code units written at once. */
const PIECE_CHARACTERS = 64 * 1024

/** Electron's counterpart of Node's channel to the parent. */
interface ParentPort {
  once(event: 'message', listener: (event: { data: SqlQuestion }) => void): void
  postMessage(outcome: SqlOutcome): void
}

// SQLite does not notice that the parent is gone, so a thread watches it.
const watch = new Worker(
  `const { ppid, pid } = process
  setInterval(() => {
    try {
      process.kill(ppid, 0)
      if (process.ppid === ppid) return
    } catch (error) {
      if (error.code === 'EPERM') return
    }
    process.kill(pid, 'SIGKILL')
  }, 500)`,
  { eval: true },
)
watch.unref()

const { parentPort } = process as { parentPort?: ParentPort }

if (parentPort !== undefined) {
  parentPort.once('message', async ({ data }) => parentPort.postMessage(await toOutcome(data)))
} else {
  process.on('disconnect', () => process.exit())
  process.once('message', async (question: SqlQuestion) => {
    // Nobody awaits the answer to a message whose sender is gone.
    if (process.ppid !== question.askedBy) process.exit()
    process.send?.(await toOutcome(question), () => process.disconnect())
  })
}

function toOutcome(question: SqlQuestion): Promise<SqlOutcome> {
  return answer(question).then(
    (rows) => ({ kind: 'done', rows }),
    (error: unknown) => ({ kind: 'failed', error: toErrorMessage(toSqlError(error, question.files)) }),
  )
}

/** A statement about runs, and the connection that has their views. */
interface Prepared {
  db: DatabaseSync
  statement: StatementSync
}

async function answer({ files, sql, each = false }: SqlQuestion): Promise<number> {
  const prepareAbout = (some: readonly string[]): Prepared => {
    const db = openConnection(some)
    try {
      return { db, statement: prepare(db, sql) }
    } catch (error) {
      db.close()
      throw error
    }
  }
  if (!each) {
    const all = prepareAbout(files)
    return writeAll(all, toNames(all), '')
  }
  // Writes nothing before every run is known to answer with the same columns.
  const kept = new Map<string, Prepared>()
  let all: string[] | null = null
  for (const file of files) {
    const one = await namingRun(file, () => prepareAbout([file]))
    const names = toNames(one)
    if (kept.size < KEPT_MAX) kept.set(file, one)
    else one.db.close()
    all ??= names
    if (names.join('\0') !== all.join('\0')) {
      throw new SluiceError({ id: 'sql_columns_differ', runId: toRunId(file), names })
    }
  }
  const isAdded = all !== null && !all.includes(RUN_COLUMN)
  let rows = 0
  for (const [index, file] of files.entries()) {
    const names = index > 0 ? null : isAdded ? [RUN_COLUMN, ...(all ?? [])] : all
    const start = isAdded ? `${JSON.stringify(toRunId(file))},` : ''
    rows += await namingRun(file, () => writeAll(kept.get(file) ?? prepareAbout([file]), names, start))
  }
  return rows
}

function toNames({ statement }: Prepared): string[] {
  return statement.columns().map(({ name }) => name)
}

/** Names the run in an error that SQLite throws while something is made from it. */
async function namingRun<Made>(file: string, make: () => Made | Promise<Made>): Promise<Made> {
  try {
    return await make()
  } catch (error) {
    if (error instanceof Error && 'errcode' in error) error.message += ` (run ${toRunId(file)})`
    throw error
  }
}

async function writeAll(
  { db, statement }: Prepared,
  names: readonly string[] | null,
  start: string,
): Promise<number> {
  try {
    return await writeRows(statement, names, start)
  } finally {
    db.close()
  }
}

function openConnection(files: readonly string[]): DatabaseSync {
  const pool = new ReaderPool()
  try {
    return openViews(files.map((file) => readFamily(pool, file)))
  } finally {
    pool.close()
  }
}

function readFamily(pool: ReaderPool, file: string): RunFamily {
  const family = readRunFamily(pool, file, (_runId, itsFile) => isLeaseHeld(itsFile))
  if (family === null) throw new SluiceError({ id: 'run_file_unplanned', file })
  const { plan, runId } = family.record
  if (plan.load !== undefined) throw new SluiceError({ id: 'sql_of_load', runId })
  return family
}

/** A connection with the views of the runs, which can read nothing else. */
function openViews(families: readonly RunFamily[]): DatabaseSync {
  const files = [...new Set(families.flatMap(({ whole }) => whole.map(({ file }) => file)))]
  if (files.length > ATTACHED_MAX) {
    throw new SluiceError({ id: 'sql_too_many_runs', runs: files.length, most: ATTACHED_MAX })
  }
  // SQLite does not ask an authorizer about columns that a FULL JOIN reads by USING, nor tell it which view
  // only counts rows, so what a statement must not read has names that it cannot know.
  const inner = `sluice_${randomBytes(16).toString('hex')}_`
  const toSchema = (file: string) => `${inner}journal_${files.indexOf(file)}`
  const db = new DatabaseSync(':memory:', { allowExtension: false })
  try {
    // Sorting or grouping must not spill bodies into files outside the workspace.
    db.exec(`PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA temp_store = MEMORY;
      PRAGMA hard_heap_limit = ${HEAP_MAX_BYTES}`)
    db.function(INFLATE, { deterministic: true }, (content) => inflate(content))
    for (const file of files) attachReader(db, file, toSchema(file), 'run')
    for (const statement of createSqlViews(families, { toSchema, inner })) db.exec(statement)
    hideTables(db, files.map(toSchema))
    db.exec('PRAGMA query_only = ON')
    db.limits.length = VALUE_MAX_BYTES
    db.setAuthorizer(createAuthorizer(inner))
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/**
 * Hides the tables of journals behind views that cannot be read, since SQLite looks for a name without a
 * schema in every attached file.
 */
function hideTables(db: DatabaseSync, schemas: readonly string[]): void {
  const names = schemas.flatMap((schema) =>
    db
      .prepare(`SELECT name FROM ${schema}.sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
      .all()
      .map(({ name }) => String(name)),
  )
  for (const name of new Set(names)) {
    db.exec(`CREATE TEMP VIEW IF NOT EXISTS ${quoteName(name)} AS SELECT * FROM main.${quoteName(name)}`)
  }
}

function inflate(content: unknown): string | null {
  if (!(content instanceof Uint8Array)) return null
  try {
    return inflateRawSync(content, { maxOutputLength: BODY_MAX_BYTES }).toString()
  } catch {
    return null
  }
}

/**
 * Allows reading our views, what views beginning with `inner` read, and JSON functions as tables; nothing
 * else, such as a journal's own tables.
 */
function createAuthorizer(inner: string) {
  const { SQLITE_OK, SQLITE_DENY, SQLITE_SELECT, SQLITE_READ, SQLITE_FUNCTION, SQLITE_RECURSIVE } = constants
  const tables = new Set(['json_each', 'json_tree', ...Object.keys(SQL_VIEWS)])
  return (
    action: number,
    first: string | null,
    second: string | null,
    _db: string | null,
    view: string | null,
  ) => {
    if (action === SQLITE_SELECT || action === SQLITE_RECURSIVE) return SQLITE_OK
    if (action === SQLITE_FUNCTION) return second === 'load_extension' ? SQLITE_DENY : SQLITE_OK
    if (action !== SQLITE_READ) return SQLITE_DENY
    // A table without a column read, as in EXISTS, comes without the name of the reading view.
    if (second === '') return /^sqlite_/i.test(first ?? '') ? SQLITE_DENY : SQLITE_OK
    const isOurs = tables.has(first ?? '') || first?.startsWith(inner) || view?.startsWith(inner)
    return isOurs ? SQLITE_OK : SQLITE_DENY
  }
}

function prepare(db: DatabaseSync, sql: string): StatementSync {
  if (isEmpty(sql)) throw new SluiceError({ id: 'sql_reads_nothing' })
  const statement = db.prepare(sql)
  // SQLite compiles only the first statement and silently ignores the rest.
  if (!isEmpty(sql.slice(statement.sourceSQL.length))) throw new SluiceError({ id: 'sql_several' })
  if (statement.columns().length === 0) throw new SluiceError({ id: 'sql_reads_nothing' })
  statement.setReturnArrays(true)
  statement.setReadBigInts(true)
  return statement
}

/** Whether a text has no statement: white space, comments and semicolons. */
function isEmpty(sql: string): boolean {
  return !/[^\s;]/.test(sql.replaceAll(/--.*|\/\*[\s\S]*?\*\//g, ''))
}

/** Writes the column names, unless they were written already, and each row, which begins with `start`. */
async function writeRows(
  statement: StatementSync,
  names: readonly string[] | null,
  start: string,
): Promise<number> {
  const { stdout } = process
  let piece = names === null ? '' : `${JSON.stringify(names)}\n`
  const flush = async () => {
    const isTaken = stdout.write(piece)
    piece = ''
    if (!isTaken) await once(stdout, 'drain')
  }
  let rows = 0
  for (const row of statement.iterate() as unknown as Iterable<unknown[]>) {
    piece += `[${start}${row.map(toJson).join(',')}]\n`
    rows += 1
    if (piece.length >= PIECE_CHARACTERS) await flush()
  }
  // The process ends once it has answered, even if a pipe still holds data, so await the last piece.
  await new Promise<void>((resolve, reject) => {
    stdout.write(piece, (error) => (error ? reject(error) : resolve()))
  })
  return rows
}

/**
 * JSON keeps every digit of an integer; bytes become hexadecimal digits, and a number that JSON cannot hold
 * becomes its name.
 */
function toJson(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof Uint8Array) return JSON.stringify(Buffer.from(value).toString('hex'))
  if (typeof value === 'number' && !Number.isFinite(value)) return JSON.stringify(String(value))
  return JSON.stringify(value)
}

function toSqlError(error: unknown, files: readonly string[]): unknown {
  if (error instanceof SluiceError) return error
  const reason = toThrownText(error)
  // A journal's JSON or file may be damaged, or what the statement itself reads as JSON may not be JSON.
  const explained = reason.includes('malformed') ? explainFailure(error, files) : error
  if (explained instanceof SluiceError) return explained
  if (error instanceof Error && 'errcode' in error) {
    const code = Number(error.errcode) & 0xff
    if (code === 7 || code === 18) return new SluiceError({ id: 'sql_too_large', reason }, { cause: error })
    if (code === 23 || code === 8) return new SluiceError({ id: 'sql_refused', reason }, { cause: error })
    return new SluiceError({ id: 'sql_failed', reason }, { cause: error })
  }
  return error
}
