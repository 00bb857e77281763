import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** Whether a built file is there and no older than anything it is made from, folders looked through. */
export async function isFresh(product: string, ingredients: readonly string[]): Promise<boolean> {
  const built = await stat(product).catch(() => null)
  if (built === null) return false
  const changed = await Promise.all(ingredients.map(findNewest))
  return changed.every((atMs) => atMs <= built.mtimeMs)
}

/** When a file, or the newest below a folder, was last changed, Unix milliseconds; 0 if there is none. */
async function findNewest(path: string): Promise<number> {
  const about = await stat(path).catch(() => null)
  if (about === null) return 0
  if (!about.isDirectory()) return about.mtimeMs
  const names = await readdir(path)
  const times = await Promise.all(names.map((name) => findNewest(join(path, name))))
  // A file that was removed changes only the folder.
  return Math.max(about.mtimeMs, ...times)
}
