import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Figures of the service with known delays about itself; milliseconds. */
export interface Truth {
  count: number
  p50: number
  p90: number
  p99: number
  max: number
  /** Arrivals in each slot of 100 ms after the first. */
  slots: number[]
}

/**
 * A request seen by the service, all times in Unix microseconds: its answer was written between the last two.
 */
export interface SeenRequest {
  post_id: string
  arrived_us: number
  writing_us: number
  written_us: number
}

/** A service with known delays, in its own process. */
export interface DelayServer {
  baseUrl: string
  /** Forgets everything it saw; its stalls start again. */
  reset(): Promise<void>
  truth(): Promise<Truth>
  requests(): Promise<SeenRequest[]>
  /** Requests per second of a service with one worker, while it was busy. */
  reached(): Promise<number>
  close(): void
}

const SOURCE = fileURLToPath(new URL('../delay-server', import.meta.url))

/** The command that builds Go programs; null if there is none. */
function findGo(): string | null {
  return ['go', '/usr/local/go/bin/go'].find((go) => spawnSync(go, ['version']).status === 0) ?? null
}

/** Builds the service once, for any number of servers. Throws if Go is not installed. */
export function buildDelayServer(): {
  start(flags: readonly string[]): Promise<DelayServer>
  remove(): void
} {
  const go = findGo()
  if (go === null) throw new Error('the service with known delays is built with Go, which is not installed')
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const program = join(folder, 'delay-server')
  const built = spawnSync(go, ['build', '-o', program, '.'], { cwd: SOURCE, encoding: 'utf8' })
  if (built.status !== 0) throw new Error(`go build failed: ${built.stderr}`)
  return {
    start: (flags) => start(program, flags),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  }
}

async function start(program: string, flags: readonly string[]): Promise<DelayServer> {
  const child: ChildProcess = spawn(program, flags, { stdio: ['ignore', 'pipe', 'inherit'] })
  const baseUrl = await new Promise<string>((resolve, reject) => {
    child.stdout?.once('data', (chunk: Buffer) => resolve(chunk.toString().trim()))
    child.once('exit', (code) => reject(new Error(`the service ended with ${code}`)))
  })
  return {
    baseUrl,
    reset: async () => {
      await fetch(`${baseUrl}/reset`)
    },
    truth: async () => (await (await fetch(`${baseUrl}/truth`)).json()) as Truth,
    requests: async () => (await (await fetch(`${baseUrl}/requests`)).json()) as SeenRequest[],
    reached: async () => (await (await fetch(`${baseUrl}/reached`)).json()) as number,
    close: () => child.kill(),
  }
}
