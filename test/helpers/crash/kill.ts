import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { CrashTask } from './crash-child.ts'

const CHILD = fileURLToPath(new URL('./crash-child.ts', import.meta.url))

/**
 * When to kill a child process: before or after a commit, as in `before:12`, some time after its source was
 * read, or after an event.
 */
export type Kill =
  | { kind: 'commit'; at: string }
  | { kind: 'time'; afterMs: number }
  | { kind: 'event'; happened: Promise<unknown> }

/** Numbers in [0, 1) that repeat for a seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** Chooses when to kill, and counts it. One commit in three is among a session's first, which create runs. */
export function toKill(random: () => number, report: { struck: Record<string, number> }): Kill {
  const choice = random()
  const kind = choice < 0.35 ? 'before' : choice < 0.7 ? 'after' : 'time'
  report.struck[kind] = (report.struck[kind] ?? 0) + 1
  if (kind === 'time') return { kind, afterMs: Math.floor(random() * 150) }
  return { kind: 'commit', at: `${kind}:${1 + Math.floor(random() * (random() < 0.33 ? 6 : 40))}` }
}

/** Runs the task in a child process; resolves with whether it was killed, rejects if it failed otherwise. */
export function runKilled(task: CrashTask, kill: Kill | null): Promise<boolean> {
  const env = { ...process.env, CRASH_AT_COMMIT: kill?.kind === 'commit' ? kill.at : '' }
  const child = spawn(process.execPath, [CHILD, JSON.stringify(task)], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => {
    stderr += chunk.toString()
  })
  // Random times count from the reading of the source, so that they fall into the sending.
  child.stdout.on('data', () => {
    if (kill?.kind === 'time') setTimeout(() => child.kill('SIGKILL'), kill.afterMs)
  })
  if (kill?.kind === 'event') void kill.happened.then(() => child.kill('SIGKILL'))
  return new Promise((resolve, reject) => {
    child.on('exit', (code, signal) => {
      if (signal === 'SIGKILL') resolve(true)
      else if (code === 0) resolve(false)
      else reject(new Error(`the child ended with ${code ?? signal}: ${stderr}`))
    })
  })
}
