import process from 'node:process'
import type { Readable } from 'node:stream'
import type { ErrorMessage } from '../../../../shared/messages/error-messages.ts'
import { SluiceError } from '../../../../shared/messages/errors.ts'
import type { StartProcess } from '../../../own-process.ts'

/** What the process of a statement is asked. */
export interface SqlQuestion {
  /** The journals of the runs that are asked about. */
  files: readonly string[]
  sql: string
  /** Asks each run by itself and adds its id in front of its rows, rather than all of them at once. */
  each?: boolean | undefined
  /** The process that asks. */
  askedBy: number
}

/** What came of it, once all rows are written. */
export type SqlOutcome = { kind: 'done'; rows: number } | { kind: 'failed'; error: ErrorMessage }

/** What the process may take beside SQLite, MB. */
const HEAP_MB = 512

export interface SqlOptions extends Omit<SqlQuestion, 'askedBy'> {
  /** The entry `sql-process.ts`, or its bundle, and what starts it. */
  processUrl: URL
  startProcess: StartProcess
  timeoutMs: number
  /** Ends the process before the time is over. */
  signal?: AbortSignal | undefined
  /** Is given the names of the columns, and then each row; the next row is read once it is done. */
  onRow: (values: unknown[], index: number) => Promise<void>
}

/**
 * Asks a statement in a process of its own, which is ended when the time is over. Returns how many rows there were. Throws
 * `BAD_USAGE` for a statement that fails, takes too long or does anything but read the views, and what the signal gives as
 * its reason.
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
  // All rows are in the pipe then, where they stay. A process of the desktop app does not end by itself.
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

/** The lines of a stream that are whole: the last one is not if the process was ended. */
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

/** An integer that a number does not hold, as a BigInt. */
function keepDigits(_key: string, value: unknown, { source }: { source?: string } = {}): unknown {
  return typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source ?? '')
    ? BigInt(source ?? '')
    : value
}
