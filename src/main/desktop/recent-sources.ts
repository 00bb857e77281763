import { readFileSync, writeFileSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { z } from 'zod'

/** How many sources the menu offers, and how many are remembered. */
const RECENT_MAX = 10

/** A source that was opened before, and whether it is still there. */
export interface RecentSource {
  path: string
  isThere: boolean
}

const listSchema = z.array(z.string().min(1)).max(RECENT_MAX)

/**
 * The files and folders that were opened last. macOS keeps such a list itself; Linux has none for all desktops, and
 * Windows only lists files of types that belong to the app.
 *
 * Keeps the list in a file, which is made when something is opened. A file that cannot be used is an empty list.
 * `onChange` is called whenever what is known has changed.
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
      // One after the other: what does not answer then holds up one of the few threads that look at files.
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
      // The list is a convenience: without it, sources are opened by the dialog.
    }
    look()
  }
  return {
    /** The newest first, as they were found last. */
    get known() {
      return known
    },
    add: (path: string): void => write([path, ...read().filter((other) => other !== path)]),
    clear: (): void => write([]),
    /** Looks whether they are still there, which a share that is gone may take a minute to answer. */
    look,
  }
}
