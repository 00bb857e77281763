import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ScriptCoverage } from './call-counts.ts'

/** A command of a checkout's Sluice that runs until it is stopped. */
export interface RunningCommand {
  /** The first thing it printed. */
  printed: string
  /** Interrupts it and waits for its end. */
  stop(): Promise<void>
}

/** Where a command runs, its extra environment variables, and where V8 writes its coverage. */
export interface CommandOptions {
  checkout: string
  env?: Record<string, string>
  coverageFolder?: string
}

/** Runs a command to its end and returns its stdout. Throws if its exit code is not 0. */
export async function runCommand(args: readonly string[], options: CommandOptions): Promise<string> {
  const { child, output, closed } = start(args, options)
  child.stdin.end()
  const code = await closed
  if (code !== 0) throw new Error(`sluice ${args[0]} exited with ${code}: ${output.err}`)
  return output.out
}

/** Starts a command that serves until it is stopped; resolves once `isReady` accepts its stdout so far. */
export async function startCommand(
  args: readonly string[],
  options: CommandOptions,
  isReady: (printed: string) => boolean,
): Promise<RunningCommand> {
  const { child, output, closed } = start(args, options)
  await new Promise<void>((resolve, reject) => {
    child.stdout.on('data', () => isReady(output.out) && resolve())
    void closed.then((code) => reject(new Error(`sluice ${args[0]} exited with ${code}: ${output.err}`)))
  })
  return {
    printed: output.out,
    async stop() {
      child.kill('SIGINT')
      await closed
    },
  }
}

/** The coverage that V8 wrote into a folder: one list of scripts for each thread. */
export function readCoverage(folder: string): ScriptCoverage[][] {
  return readdirSync(folder).map(
    (name) => (JSON.parse(readFileSync(join(folder, name), 'utf8')) as { result: ScriptCoverage[] }).result,
  )
}

function start(args: readonly string[], { checkout, env = {}, coverageFolder }: CommandOptions) {
  if (coverageFolder !== undefined) mkdirSync(coverageFolder, { recursive: true })
  const inherited = Object.entries(process.env).filter(([name]) => !/^(SLUICE_|NODE_V8_COVERAGE$)/.test(name))
  const child = spawn(
    process.execPath,
    ['--import', './scripts/require-node.mjs', 'src/main/cli/main.ts', ...args],
    {
      cwd: checkout,
      env: {
        ...Object.fromEntries(inherited),
        ...env,
        ...(coverageFolder === undefined ? {} : { NODE_V8_COVERAGE: coverageFolder }),
      },
    },
  )
  const output = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.err += text))
  const closed = new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  return { child, output, closed }
}
