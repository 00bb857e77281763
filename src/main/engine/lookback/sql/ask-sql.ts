import process from 'node:process'
import type { Readable } from 'node:stream'
import type { ErrorMessage } from '../../../../shared/messages/error-messages.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { StartProcess } from '../../../own-process.ts'

/** The question for the process that runs a statement. */
export interface SqlQuestion {
  /** The journals of the queried runs. */
  files: readonly string[]
  sql: string
  /** Queries each run separately and puts its id before its rows, instead of querying all at once. */
  each?: boolean | undefined
  /** Id of the asking process. */
  askedBy: number
}

/** The outcome, once all rows are written. */
export type SqlOutcome = { kind: 'done'; rows: number } | { kind: 'failed'; error: ErrorMessage }

/** Memory that the process may use besides SQLite's, MB. */
const HEAP_MB = 512

export interface SqlOptions extends Omit<SqlQuestion, 'askedBy'> {
  /** The entry `sql-process.ts`, or its bundle, and what starts it. */
  processUrl: URL
  startProcess: StartProcess
  timeoutMs: number
  /** Ends the process early. */
  signal?: AbortSignal | undefined
  /** Called with the column names, then with each row; the next row is read once it is done. */
  onRow: (values: unknown[], index: number) => Promise<void>
}

/**
 * Runs a statement in a process of its own, which is killed at the timeout. Returns the number of rows.
 * Throws `BAD_USAGE` if the statement fails, takes too long or does anything but read the views, and the
 * signal's reason.
 */
export async function askSql({
  processUrl,
  startProcess,
  timeoutMs,
  signal,
  onRow,
  ...question
}: SqlOptions): Promise<number> {
  signal?.throwIfAborted()
  const child = startProcess(processUrl, [
    `--max-old-space-size=${HEAP_MB}`,
    '--disable-warning=ExperimentalWarning',
  ])
  const end = () => child.kill()
  signal?.addEventListener('abort', end)
  let isLate = false
  const timer = setTimeout(() => {
    isLate = true
    end()
  }, timeoutMs)
  const outcome = new Promise<SqlOutcome>((resolve) => {
    child.onMessage((message) => resolve(message as SqlOutcome))
    child.onEnd((reason) => resolve({ kind: 'failed', error: { id: 'sql_broke_off', reason } }))
  })
  // By then all rows are in the pipe and stay there. A process of the desktop app does not end by itself.
  void outcome.then(end)
  try {
    child.send({ ...question, askedBy: process.pid } satisfies SqlQuestion)
    let index = 0
    for await (const line of readLines(child.stdout)) {
      await onRow(JSON.parse(line, keepDigits) as unknown[], index)
      index += 1
    }
    const came = await outcome
    signal?.throwIfAborted()
    if (isLate) throw new SluiceError({ id: 'sql_timed_out', seconds: timeoutMs / 1000 })
    if (came.kind === 'failed') throw new SluiceError(came.error)
    // The first line has the names of the columns.
    if (index - 1 !== came.rows) throw new SluiceError({ id: 'sql_broke_off', reason: 'not all rows came' })
    return came.rows
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', end)
    end()
  }
}

/** The complete lines of a stream; the last one is not if the process was killed. */
async function* readLines(stream: Readable): AsyncGenerator<string, void, undefined> {
  let pieces: string[] = []
  for await (const piece of stream.setEncoding('utf8') as AsyncIterable<string>) {
    let from = 0
    for (let to = piece.indexOf('\n'); to !== -1; to = piece.indexOf('\n', from)) {
      yield [...pieces, piece.slice(from, to)].join('')
      pieces = []
      from = to + 1
    }
    if (from < piece.length) pieces.push(piece.slice(from))
  }
}

/** Keeps an integer too large for a number as a BigInt. */
function keepDigits(_key: string, value: unknown, { source }: { source?: string } = {}): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? '')
    ? BigInt(source ?? '')
    : value
}
