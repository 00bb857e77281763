import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The bytes that a search looks for: a secret as text, for Windows, in an URL, and in base64 at any offset. */
function toForms(secret: string): Buffer[] {
  const inBase64 = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]).toString('base64')
    return text.slice(offset === 0 ? 0 : offset + 1, -4)
  })
  return [secret, encodeURIComponent(secret), ...inBase64]
    .map((text) => Buffer.from(text))
    .concat(Buffer.from(secret, 'utf16le'))
}

/** Whether bytes hold a secret, in any of the forms that it is likely to take. */
export function holdsSecret(bytes: string | Uint8Array, secret: string): boolean {
  const searched = Buffer.from(bytes)
  return toForms(secret).some((form) => searched.includes(form))
}

/**
 * Every file below a folder that holds a secret, or whose name does; also those that are still being written. A file may
 * be removed while the folder is searched: its name is still looked at.
 */
export function findFilesWith(folder: string, secret: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => {
      const path = join(entry.parentPath, entry.name)
      const bytes = entry.isFile() ? readIfPresent(path) : null
      return holdsSecret(path, secret) || (bytes !== null && holdsSecret(bytes, secret))
    })
    .map((entry) => join(entry.parentPath, entry.name))
}

/**
 * Every process of this machine whose command line or environment holds a secret, as far as they can be read; none where
 * there is no /proc.
 */
export function findProcessesWith(secret: string): string[] {
  return listProcesses().flatMap((pid) =>
    ['cmdline', 'environ'].flatMap((what) => {
      const file = `/proc/${pid}/${what}`
      const bytes = readIfReadable(file)
      return bytes !== null && holdsSecret(bytes, secret) ? [file] : []
    }),
  )
}

function listProcesses(): number[] {
  try {
    return readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map(Number)
  } catch {
    return []
  }
}

/** The bytes of a file; null if it was removed since it was listed. Any other failure is thrown: nothing goes unsearched. */
function readIfPresent(file: string): Buffer | null {
  try {
    return readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** The bytes of a process's file; null if the process has ended or belongs to someone else. */
function readIfReadable(file: string): Buffer | null {
  try {
    return readFileSync(file)
  } catch {
    return null
  }
}
