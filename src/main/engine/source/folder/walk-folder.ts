import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { toSystemCode } from '../../../../shared/messages/thrown.ts'

/** An entry of a walk. Paths are relative to the folder, with forward slashes. */
export type FolderEntry =
  | { kind: 'file'; path: string; sizeBytes: number }
  /** A symbolic link to something outside the folder. */
  | { kind: 'outside'; path: string; target: string }
  /** An unreadable file or folder, or a broken link; `code` as in `EACCES`. */
  | { kind: 'unreadable'; path: string; code: string }
  /** A socket, pipe or device. */
  | { kind: 'special'; path: string }

const LEFT_BEHIND = new Set(['thumbs.db', 'ehthumbs.db', 'desktop.ini', '__macosx', 'icon\r'])

/** Whether programs or systems leave files of that name in folders: `~$` begins spreadsheets' locks. */
export function isLeftBehind(name: string): boolean {
  return /^(?:~\$|\._)/.test(name) || name === '.DS_Store' || LEFT_BEHIND.has(name.toLowerCase())
}

/** Whether a name belongs to a hidden file or folder, which is skipped. */
function isHidden(name: string): boolean {
  return name.startsWith('.') || isLeftBehind(name)
}

/**
 * Walks a folder and its subfolders, in the order of paths by UTF-16 code units, the same on every system.
 * Holds the names of one folder per level.
 *
 * A link to something that the walk visits anyway is skipped, so that nothing comes twice and loops end; a
 * link to something hidden inside the folder is followed once. `onHidden` is called for each path that is
 * hidden, or left by a program or system; a folder's ends in a slash. Throws what the system throws for the
 * folder itself.
 */
export function* walkFolder(
  root: string,
  onHidden: (path: string) => void = () => {},
): Generator<FolderEntry, void, undefined> {
  const realRoot = realpathSync(root)
  const entries = readdirSync(realRoot, { withFileTypes: true })
  yield* walkLevel({ realRoot, followed: new Set(), onHidden }, '', entries)
}

interface Walk {
  realRoot: string
  /** Real paths of hidden folders reached by a link. */
  followed: Set<string>
  onHidden: (path: string) => void
}

type Found = FolderEntry | { kind: 'folder'; path: string }

function* walkLevel(
  walk: Walk,
  above: string,
  entries: readonly Dirent[],
): Generator<FolderEntry, void, undefined> {
  const toPath = ({ name }: Dirent) => (above === '' ? name : `${above}/${name}`)
  const hidden = entries.filter(({ name }) => isHidden(name))
  for (const path of hidden.map((one) => toPath(one) + (one.isDirectory() ? '/' : '')).toSorted())
    walk.onHidden(path)
  const found = entries
    .filter(({ name }) => !isHidden(name))
    .map((entry) => ({ entry, path: toPath(entry) }))
    .map(({ entry, path }) => (entry.isSymbolicLink() ? followLink(walk, path) : look(walk, path, entry)))
    .filter((one) => one !== null)
    .map((one) => ({ one, key: one.kind === 'folder' ? `${one.path}/` : one.path }))
    .toSorted((a, b) => (a.key < b.key ? -1 : 1))
  for (const { one } of found) {
    if (one.kind !== 'folder') yield one
    else yield* enterFolder(walk, one.path)
  }
}

function* enterFolder(walk: Walk, path: string): Generator<FolderEntry, void, undefined> {
  let entries: Dirent[]
  try {
    entries = readdirSync(join(walk.realRoot, path), { withFileTypes: true })
  } catch (error) {
    yield { kind: 'unreadable', path, code: toSystemCode(error) ?? 'unknown' }
    return
  }
  yield* walkLevel(walk, path, entries)
}

function look(walk: Walk, path: string, entry: Pick<Dirent, 'isDirectory' | 'isFile'>): Found {
  if (entry.isDirectory()) return { kind: 'folder', path }
  if (!entry.isFile()) return { kind: 'special', path }
  try {
    return { kind: 'file', path, sizeBytes: statSync(join(walk.realRoot, path)).size }
  } catch (error) {
    return { kind: 'unreadable', path, code: toSystemCode(error) ?? 'unknown' }
  }
}

function followLink(walk: Walk, path: string): Found | null {
  try {
    const link = join(walk.realRoot, path)
    const target = realpathSync(link)
    const inside = relative(walk.realRoot, target)
    if (inside === '') return null
    const parts = inside.split(sep)
    // A path to another drive on Windows is absolute.
    if (parts[0] === '..' || join(walk.realRoot, inside) !== target) return { kind: 'outside', path, target }
    if (!parts.some(isHidden)) return null
    const stat = statSync(link)
    if (stat.isDirectory()) {
      if (walk.followed.has(target)) return null
      walk.followed.add(target)
    }
    return look(walk, path, stat)
  } catch (error) {
    return { kind: 'unreadable', path, code: toSystemCode(error) ?? 'unknown' }
  }
}
