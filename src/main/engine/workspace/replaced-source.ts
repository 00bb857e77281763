import { realpathSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { PlanSource } from '../../../shared/plan/plan.ts'
import { listSourcePaths } from '../../../shared/plan/source-paths.ts'

/** A source that writing to a path would replace: the path is that source, lies in it, or holds it. */
export interface ReplacedSource {
  path: string
  how: 'is' | 'in' | 'holds'
}

/**
 * Finds the first named source that writing to `file` would replace; null if there is none. Files are
 * compared by identity, since links, upper case or another path may lead to the same file. A path that does
 * not exist yet replaces nothing; what is not a regular file, such as /dev/stdout, is not replaced.
 */
export function findReplacedSource(
  source: Pick<PlanSource, 'path' | 'more'>,
  file: string,
): ReplacedSource | null {
  const target = toPlace(file)
  if (target === null) return null
  for (const path of listSourcePaths(source)) {
    const named = toPlace(path)
    if (named === null) continue
    if (isSame(target, named)) return { path, how: 'is' }
    if (isWithin(target, named)) return { path, how: 'in' }
    if (isWithin(named, target)) return { path, how: 'holds' }
  }
  return null
}

interface Place {
  real: string
  device: bigint
  inode: bigint
  isFolder: boolean
}

function toPlace(path: string): Place | null {
  try {
    const found = statSync(path, { bigint: true })
    if (!found.isFile() && !found.isDirectory()) return null
    return { real: realpathSync(path), device: found.dev, inode: found.ino, isFolder: found.isDirectory() }
  } catch {
    // An unreachable path is reported by the code that reads or writes it.
    return null
  }
}

function isSame(one: Place, other: Place): boolean {
  // Some Windows file systems have no inodes.
  const hasInode = one.inode !== 0n && one.inode === other.inode
  return one.real === other.real || (hasInode && one.device === other.device)
}

function isWithin(inner: Place, outer: Place): boolean {
  if (!outer.isFolder) return false
  for (let at = inner.real; dirname(at) !== at; ) {
    at = dirname(at)
    const above = toPlace(at)
    if (above !== null && isSame(above, outer)) return true
  }
  return false
}
