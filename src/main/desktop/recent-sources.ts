import { readFileSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { z } from 'zod'

/** Most sources remembered and shown in the menu. */
const RECENT_MAX = 10

/** A source opened earlier, and whether it still exists. */
export interface RecentSource {
  path: string
  isThere: boolean
}

const listSchema = z.array(z.string().min(1)).max(RECENT_MAX)

/**
 * Keeps the files and folders opened last. macOS has such a list itself; Linux has none common to all
 * desktops, and Windows lists only file types that belong to the app.
 *
 * The list is in a file that is created when something is opened; an unusable file counts as empty.
 * `onChange` is called whenever the known sources have changed.
 */
export function createRecentSources(file: string, onChange: () => void) {
  let known: RecentSource[] = []
  let looked: Promise<void> = Promise.resolve()
  let isDue = false
  const read = (): string[] => {
    try {
      return listSchema.parse(JSON.parse(readFileSync(file, 'utf8')))
    } catch {
      return []
    }
  }
  const look = () => {
    if (isDue) return
    isDue = true
    looked = looked.then(async () => {
      isDue = false
      const now: RecentSource[] = []
      // One at a time, so that an unresponsive share blocks only one of the few threads for file access.
      for (const path of read()) now.push({ path, isThere: (await stat(path).catch(() => null)) !== null })
      if (JSON.stringify(now) === JSON.stringify(known)) return
      known = now
      onChange()
    })
  }
  const write = (paths: readonly string[]) => {
    try {
      writeFileSync(file, JSON.stringify(paths.slice(0, RECENT_MAX)))
    } catch {
      // The list is a convenience; without it, sources are opened in the dialog.
    }
    look()
  }
  return {
    /** Newest first, as last checked. */
    get known() {
      return known
    },
    add: (path: string): void => write([path, ...read().filter((other) => other !== path)]),
    clear: (): void => write([]),
    /** Checks whether the sources still exist; an unreachable share may take a minute. */
    look,
  }
}
