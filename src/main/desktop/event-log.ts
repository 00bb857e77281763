import { appendFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { redactSecrets } from '../engine/secrets/bound-secret.ts'

/** Size at which a new log file is started, bytes, and most files kept. */
const FILE_MAX_BYTES = 1_000_000
const FILES_MAX = 3

/**
 * A text without what should not leave the machine: keys that this process has handled, the person's home
 * folder, credentials and queries of addresses, and anything else that looks like a key: 24 characters or
 * more of letters and digits without a space.
 */
function redactText(text: string): string {
  return redactSecrets(text)
    .replaceAll(homedir(), '~')
    .replace(/\/\/[^\s/@]+@/g, '//[redacted]@')
    .replace(/\?[^\s"']+/g, '?[redacted]')
    .replace(/[\w+/=-]{24,}/g, (word) => (isLikeKey(word) ? '[redacted]' : word))
}

/** A run id, which begins with date and time, is not a secret. */
function isLikeKey(word: string): boolean {
  return /\d/.test(word) && /[a-z]/i.test(word) && !/^\d{8}-\d{6}-/.test(word)
}

/** An error in one line: its name, its redacted message, and the places in our own code. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return redactText(String(error))
  const places = [...(error.stack ?? '').matchAll(/([\w.-]+\.(?:js|cjs|ts):\d+:\d+)/g)].map(
    ([, place]) => place,
  )
  return `${error.name}: ${redactText(error.message)} (${places.slice(0, 8).join(' < ')})`
}

const toFile = (folder: string, index: number) =>
  join(folder, index === 0 ? 'sluice.log' : `sluice.${index}.log`)

function rotate(folder: string): void {
  rmSync(toFile(folder, FILES_MAX - 1), { force: true })
  for (let index = FILES_MAX - 2; index >= 0; index -= 1) {
    if (existsSync(toFile(folder, index))) renameSync(toFile(folder, index), toFile(folder, index + 1))
  }
}

/** Opens the log in a folder, which is created if missing. `now` is a clock. */
export function openEventLog(folder: string, now = () => new Date()) {
  return {
    folder,
    /** Adds a line with redacted texts; a line that cannot be written is lost. */
    write(event: string, details: Record<string, string | number | boolean | null> = {}): void {
      const shown = Object.entries(details).map(([name, value]) => [
        name,
        typeof value === 'string' ? redactText(value) : value,
      ])
      const line = JSON.stringify({ at: now().toISOString(), event, ...Object.fromEntries(shown) })
      try {
        mkdirSync(folder, { recursive: true })
        const file = toFile(folder, 0)
        if (existsSync(file) && statSync(file).size + line.length > FILE_MAX_BYTES) rotate(folder)
        appendFileSync(file, `${line}\n`)
      } catch {
        // A full disk must not end a run.
      }
    },
  }
}

/** The app's events, in a file that a person may send to others: no cells, answers, addresses or keys. */
export interface EventLog extends ReturnType<typeof openEventLog> {}
