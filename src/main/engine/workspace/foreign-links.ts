import { lstatSync, readlinkSync, type Stats } from 'node:fs'
import { dirname, join, parse, resolve, sep } from 'node:path'
import process from 'node:process'
import { toSystemCode } from '../../../shared/messages/thrown.ts'

/** Most links followed on the way to a file, as on Linux. */
const LINKS_MAX = 40

const ROOT = 0
const OTHERS_WRITE = 0o022

/** Error code for a file that another user has put where this process writes. */
const FOREIGN_FILE = 'EFOREIGN'

/**
 * Throws if the path to a file leads over another user's link, or if the file is another user's pipe or
 * device: what is written would go where that user wants. Links of root are the system's. A link to a folder
 * counts only if others can put one there, so that an administrator's folders can be used. `uid` is the user
 * who writes. No effect on Windows.
 */
export function refuseForeignLinks(file: string, uid = process.geteuid?.()): void {
  if (uid === undefined) return
  const isForeign = (found: Stats) => found.uid !== uid && found.uid !== ROOT
  const isShared = (folder: string) => (lstatSync(folder).mode & OTHERS_WRITE) !== 0
  let { root: reached, steps } = split(resolve(file))
  for (let links = 0; steps.length > 0; ) {
    const [step = '', ...rest] = steps
    const path = step === '..' ? dirname(reached) : join(reached, step)
    const found = lstatIfThere(path)
    // A path that does not exist yet leads nowhere.
    if (found === null) return
    const isLast = rest.length === 0
    if (!found.isSymbolicLink()) {
      if (isLast && !found.isFile() && !found.isDirectory() && isForeign(found)) {
        throw toForeign(path, 'belongs to another user')
      }
      reached = path
      steps = rest
      continue
    }
    if (isForeign(found) && (isLast || isShared(reached))) throw toForeign(path, 'is a link of another user')
    links += 1
    if (links > LINKS_MAX) {
      throw Object.assign(new Error(`ELOOP: too many links, open '${file}'`), {
        code: 'ELOOP',
        syscall: 'open',
      })
    }
    const target = split(resolve(reached, readlinkSync(path)))
    reached = target.root
    steps = [...target.steps, ...rest]
  }
}

function split(path: string): { root: string; steps: string[] } {
  const { root } = parse(path)
  return { root, steps: path.slice(root.length).split(sep).filter(Boolean) }
}

function lstatIfThere(path: string): Stats | null {
  try {
    return lstatSync(path)
  } catch (error) {
    // The code that writes reports what is wrong with the path.
    if (['ENOENT', 'ENOTDIR', 'EACCES'].includes(toSystemCode(error) ?? '')) return null
    throw error
  }
}

function toForeign(path: string, what: string): Error {
  return Object.assign(new Error(`${path} ${what}`), { code: FOREIGN_FILE, syscall: 'open' })
}
