import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Whether a built file exists and is at least as new as all of its sources, including files in folders. */
export async function isFresh(product: string, ingredients: readonly string[]): Promise<boolean> {
  const built = await stat(product).catch(() => null)
  if (built === null) return false
  const changed = await Promise.all(ingredients.map(findNewest))
  return changed.every((atMs) => atMs <= built.mtimeMs)
}

/** When a file, or the newest below a folder, last changed, Unix milliseconds; 0 if there is none. */
async function findNewest(path: string): Promise<number> {
  const about = await stat(path).catch(() => null)
  if (about === null) return 0
  if (!about.isDirectory()) return about.mtimeMs
  const names = await readdir(path)
  const times = await Promise.all(names.map((name) => findNewest(join(path, name))))
  // Removing a file changes only the folder's time.
  return Math.max(about.mtimeMs, ...times)
}
