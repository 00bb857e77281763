import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'

/** Arguments and working directory of a second start. */
interface SecondStart {
  args: string[]
  folder: string
}

/**
 * Whether this process is the only instance for a folder of user data. The first instance hears of every
 * later start; a later one leaves a message and gets false.
 */
export function takeInstanceLock(userData: string, onSecond: (start: SecondStart) => void): boolean {
  const starts = join(userData, 'second-starts')
  mkdirSync(starts, { recursive: true })
  const lock = join(userData, 'instance.pid')
  if (isHeld(lock)) {
    const name = randomUUID()
    writeFileSync(join(userData, name), JSON.stringify({ args: process.argv, folder: process.cwd() }))
    renameSync(join(userData, name), join(starts, name))
    return false
  }
  writeFileSync(lock, String(process.pid))
  watch(starts, () => {
    for (const name of readdirSync(starts)) {
      const start = JSON.parse(readFileSync(join(starts, name), 'utf8')) as SecondStart
      rmSync(join(starts, name))
      onSecond(start)
    }
  }).unref()
  return true
}

/** Whether the process that wrote the file is alive. */
function isHeld(lock: string): boolean {
  try {
    return process.kill(Number(readFileSync(lock, 'utf8')), 0)
  } catch {
    return false
  }
}
