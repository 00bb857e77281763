import { execFileSync, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import process from 'node:process'

/**
 * Ends a process and everything it started, at once. Ending its process group would be simpler, but a group
 * of its own has no terminal, where password managers ask.
 */
export function killTree(pid: number): void {
  if (process.platform === 'win32') {
    spawnSync('taskkill', ['/pid', String(pid), '/T', '/F'], { windowsHide: true })
    return
  }
  for (const one of [pid, ...listDescendants(pid)]) {
    try {
      process.kill(one, 'SIGKILL')
    } catch {
      // It has already ended.
    }
  }
}

function listDescendants(pid: number): number[] {
  const parents = listParents()
  const found = [pid]
  for (const parent of found) {
    for (const [child, itsParent] of parents) if (itsParent === parent) found.push(child)
  }
  return found.slice(1)
}

/** All processes, each with its parent; empty if the system does not say. */
function listParents(): [pid: number, parent: number][] {
  try {
    return process.platform === 'linux' ? readProc() : askPs()
  } catch {
    return []
  }
}

function readProc(): [number, number][] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name): [number, number][] => {
      try {
        // The program's name, in parentheses, may hold anything.
        const fields = readFileSync(`/proc/${name}/stat`, 'latin1')
          .replace(/^.*\) /s, '')
          .split(' ')
        return [[Number(name), Number(fields[1])]]
      } catch {
        return []
      }
    })
}

function askPs(): [number, number][] {
  const text = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  return text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([pid = 0, parent = 0]) => [pid, parent])
}
