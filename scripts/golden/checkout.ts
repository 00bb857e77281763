import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Engine } from '../../src/main/engine/engine.ts'
import type { ApiKey } from '../../src/main/engine/secrets/bound-secret.ts'
import { ADMIN_TOKEN_HEADER } from '../../src/main/sandbox/admin-access.ts'
import { DEFAULT_SANDBOX_KEY } from '../../src/main/sandbox/sandbox-options.ts'
import type { Plan } from '../../src/shared/plan/plan.ts'
import type { CommandResult } from '../../test/golden/answers.ts'
import type { CommandLineParts } from '../../test/golden/command-line.ts'

type Secrets = typeof import('../../src/main/engine/secrets/bound-secret.ts')

/** A sandbox of the checkout in a process of its own. */
interface GoldenSandbox {
  baseUrl: string
  taskBaseUrl: string
  /** Waits until no callback is pending. */
  waitForCallbacks(): Promise<void>
}

/** How to start a command. */
interface CommandOptions {
  env?: Record<string, string>
  onStart?: (child: ChildProcess) => void
  onStderr?: (text: string, child: ChildProcess) => void
}

/** A folder for one workspace and its sources, and the checkout that writes them. */
export interface GoldenFolder {
  workspace: string
  /** Writes a source and returns its path. */
  write(name: string, content: string | Uint8Array): string
  /** Runs a command and accepts any exit code. */
  run(args: readonly string[], options?: CommandOptions): Promise<CommandResult>
  /** Runs a command that must exit with one of these codes and print JSON; returns the document. */
  send(args: readonly string[], codes?: readonly number[]): Promise<{ run_id: string }>
  sandbox(...flags: string[]): Promise<GoldenSandbox>
  /** Starts a command that runs until the workspace is written; resolves with its first line. */
  keep(args: readonly string[]): Promise<{ line: string; end(): Promise<void> }>
  /** Calls the checkout's engine for actions that no command offers. */
  withEngine<T>(work: (engine: Engine, keyFor: (plan: Plan) => ApiKey) => Promise<T>): Promise<T>
}

/** Runs a command from a checkout's sources, in a time zone and language independent of this machine. */
function runCommand(
  checkout: string,
  args: readonly string[],
  cwd: string,
  workspace: string,
  options: CommandOptions = {},
): Promise<CommandResult> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(checkout, 'src/main/cli/main.ts'), ...args], {
      cwd,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...neutralEnvironment(), SLUICE_WORKSPACE: workspace, ...options.env },
    })
    let stdout = ''
    let stderr = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
      options.onStderr?.(stderr, child)
    })
    child.once('error', reject)
    child.once('spawn', () => options.onStart?.(child))
    child.once('close', (code) => resolve({ code, stdout, stderr }))
  })
}

function neutralEnvironment(): Record<string, string> {
  return {
    PATH: process.env['PATH'] ?? '',
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    SLUICE_KEYRING: 'off',
    NODE_COMPILE_CACHE: join(tmpdir(), 'golden-compiled'),
    SLUICE_API_KEY: DEFAULT_SANDBOX_KEY,
  }
}

/** Opens an empty folder for one workspace, has it filled, and stops everything that was started in it. */
export async function fillFolder(
  checkout: string,
  folder: string,
  fill: (golden: GoldenFolder) => Promise<void>,
): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const workspace = join(folder, 'workspace')
  const kept: { end(): Promise<void> }[] = []
  const run: GoldenFolder['run'] = (args, options) => runCommand(checkout, args, folder, workspace, options)
  const keep: GoldenFolder['keep'] = async (args) => {
    const started = await keepCommand(checkout, args, folder, workspace)
    kept.push(started)
    return started
  }
  try {
    await fill({
      workspace,
      write: (name, content) => {
        mkdirSync(join(folder, name, '..'), { recursive: true })
        writeFileSync(join(folder, name), content)
        return join(folder, name)
      },
      run,
      send: async (args, codes = [0]) => {
        const { code, stdout, stderr } = await run([...args, '--json', '--quiet'])
        if (code === null || !codes.includes(code)) {
          throw new Error(`${args.join(' ')} exited with ${code}:\n${stderr}\n${stdout}`)
        }
        return JSON.parse(stdout) as { run_id: string }
      },
      keep,
      sandbox: async (...flags) => toSandbox((await keep(['sandbox', '--json', ...flags])).line),
      withEngine: (work) => withEngine(checkout, workspace, work),
    })
  } finally {
    await Promise.all(kept.map((command) => command.end()))
  }
}

function toSandbox(line: string): GoldenSandbox {
  const { base_url: baseUrl, task_base_url: taskBaseUrl, admin_token: token } = JSON.parse(line)
  const countPending = async (): Promise<number> => {
    const answer = await fetch(`${baseUrl}/sandbox/admin/stats`, {
      headers: { [ADMIN_TOKEN_HEADER]: token },
    })
    const { callbacks } = (await answer.json()) as { callbacks: { pending: number } }
    return callbacks.pending
  }
  return {
    baseUrl,
    taskBaseUrl,
    waitForCallbacks: async () => {
      while ((await countPending()) > 0) await pause(50)
    },
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}

async function keepCommand(checkout: string, args: readonly string[], cwd: string, workspace: string) {
  const first = Promise.withResolvers<string>()
  let process: ChildProcess | null = null
  const ended = runCommand(checkout, args, cwd, workspace, {
    onStart: (child) => {
      process = child
      let text = ''
      child.stdout?.on('data', (chunk: string) => {
        text += chunk
        const [line, rest] = text.split('\n')
        if (line !== undefined && rest !== undefined) first.resolve(line)
      })
    },
  })
  void ended.then(({ stderr }) => first.reject(new Error(`${args.join(' ')} ended: ${stderr}`)), first.reject)
  const line = await first.promise
  return {
    line,
    end: async () => {
      process?.kill('SIGTERM')
      await ended
    },
  }
}

/** Loads the command line from a checkout's sources into this process. */
export async function loadCommandLine(checkout: string): Promise<CommandLineParts> {
  const parts = ['cli/context.ts', 'cli/run-cli.ts', 'engine/engine.ts'].map((path) => load(checkout, path))
  return Object.assign({}, ...(await Promise.all(parts)))
}

function load(checkout: string, path: string): Promise<object> {
  return import(pathToFileURL(join(checkout, 'src/main', path)).href)
}

async function withEngine<T>(
  checkout: string,
  workspace: string,
  work: (engine: Engine, keyFor: (plan: Plan) => ApiKey) => Promise<T>,
): Promise<T> {
  const { createEngine } = await loadCommandLine(checkout)
  const { ApiKey: Key } = (await load(checkout, 'engine/secrets/bound-secret.ts')) as Secrets
  const engine = createEngine({ workspace })
  const keyFor = ({ connection }: Plan) => Key.create(DEFAULT_SANDBOX_KEY, connection, 'of the sandbox')
  try {
    return await work(engine, keyFor)
  } finally {
    await engine.close()
  }
}
