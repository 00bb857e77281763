import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * A secret's byte forms to search for: as text, as text for Windows, in a URL, and in base64 at any offset.
 */
function toForms(secret: string): Buffer[] {
  const inBase64 = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), Buffer.from(secret)]).toString('base64')
    return text.slice(offset === 0 ? 0 : offset + 1, -4)
  })
  return [secret, encodeURIComponent(secret), ...inBase64]
    .map((text) => Buffer.from(text))
    .concat(Buffer.from(secret, 'utf16le'))
}

/** Whether bytes contain a secret in any likely form. */
export function holdsSecret(bytes: string | Uint8Array, secret: string): boolean {
  const searched = Buffer.from(bytes)
  return toForms(secret).some((form) => searched.includes(form))
}

/**
 * Every file below a folder that contains a secret in its content or name, including files that are being
 * written. A file may be removed during the search: its name is still checked.
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
 * Every process of this machine with a secret in its command line or environment, as far as these can be
 * read; empty without /proc.
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

/**
 * The bytes of a file; null if it was removed after listing. Any other failure is thrown, so that nothing
 * remains unsearched.
 */
function readIfPresent(file: string): Buffer | null {
  try {
    return readFileSync(file)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** The bytes of a process' file; null if the process has ended or belongs to another user. */
function readIfReadable(file: string): Buffer | null {
  try {
    return readFileSync(file)
  } catch {
    return null
  }
}
