import process from 'node:process'
import { createInterface } from 'node:readline/promises'
import { type Readable, Writable } from 'node:stream'
import type { WriteStream } from 'node:tty'
import type { ExitCode } from '../../shared/messages/error-entry.ts'
import type { Engine } from '../engine/engine.ts'
import { createKeyStore, type KeyStore, type LastingStore } from '../engine/secrets/key-store.ts'
import { createKeyring } from '../engine/secrets/keyring.ts'
import { KEYRING_PROCESS } from '../program-files.ts'
import { createOutput, type Output } from './terminal/output.ts'
import { createTerminal, type Terminal } from './terminal/terminal.ts'

/** What every command is given: where results and messages go, and what those places can show. */
export interface CliContext {
  /** For results alone. */
  readonly out: Output
  /** For progress, questions and errors. */
  readonly err: Output
  readonly outTerminal: Terminal
  readonly errTerminal: Terminal
  readonly env: NodeJS.ProcessEnv
  /** Standard input, opened by whoever reads it. */
  readonly openStdin: () => Readable
  readonly canAsk: boolean
  /** Asks a yes-or-no question. Requires `canAsk`. */
  readonly ask: (question: string) => Promise<boolean>
  /** Asks for a word to be typed. Requires `canAsk`. */
  readonly askWord: (question: string) => Promise<string>
  /** Asks for a secret, which is not shown. Requires `canAsk`. */
  readonly askSecret: (question: string) => Promise<string>
  /** Where typed keys outlive this process, or why they cannot. */
  readonly lastingKeys: LastingStore | { absence: string }
  readonly keyStore: KeyStore
  /** Milliseconds between two lines of progress where nothing can be redrawn. */
  readonly lineEveryMs: number
  /** Opens the engine on a workspace. Throws `WORKSPACE_UNUSABLE`. */
  readonly openEngine: (workspace: string) => Promise<Engine>
  /** Set by the command that ran; what the process exits with. */
  exitCode: ExitCode
  /** Set by commands that cannot follow all advice about a source; '' for the others. */
  command: string
}

/** What a context is made of; by default, this process's own streams and environment. */
export interface CliSurroundings
  extends Pick<
    CliContext,
    'env' | 'canAsk' | 'ask' | 'askWord' | 'askSecret' | 'lastingKeys' | 'lineEveryMs' | 'openEngine'
  > {
  stdout: WriteStream
  stderr: WriteStream
  stdin: Readable
}

const LINE_EVERY_MS = 5_000

export function createCliContext(surroundings: Partial<CliSurroundings> = {}): CliContext {
  const { stdout = process.stdout, stderr = process.stderr, env = process.env } = surroundings
  const { lastingKeys = findLastingKeys(env) } = surroundings
  const isInJob = isJobOfGithub(env)
  return {
    out: createOutput(stdout, { isInJob }),
    err: createOutput(stderr, { isInJob }),
    outTerminal: createTerminal(stdout, env),
    errTerminal: createTerminal(stderr, env),
    env,
    openStdin: () => surroundings.stdin ?? process.stdin,
    canAsk: surroundings.canAsk ?? (process.stdin.isTTY === true && stderr.isTTY === true),
    ask: surroundings.ask ?? askYesNo,
    askWord: surroundings.askWord ?? askWord,
    askSecret: surroundings.askSecret ?? askSecret,
    lastingKeys,
    keyStore: createKeyStore(lastingKeys),
    lineEveryMs: surroundings.lineEveryMs ?? LINE_EVERY_MS,
    openEngine: surroundings.openEngine ?? openEngine,
    exitCode: 0,
    command: '',
  }
}

export function isJobOfGithub(env: NodeJS.ProcessEnv): boolean {
  return env['GITHUB_ACTIONS'] === 'true'
}

/** The system's keyring, unless `SLUICE_KEYRING=off` turns it off. */
function findLastingKeys(env: NodeJS.ProcessEnv): LastingStore | { absence: string } {
  return env['SLUICE_KEYRING'] === 'off'
    ? { absence: 'SLUICE_KEYRING=off keeps Sluice from using the keyring' }
    : createKeyring(KEYRING_PROCESS)
}

async function openEngine(workspace: string): Promise<Engine> {
  // Loaded only if it is needed: help and bad usage answer at once.
  const { createEngine } = await import('../engine/engine.ts')
  return createEngine({ workspace })
}

/** Asks yes or no on the terminal. Enter, end of input and Ctrl-C mean no. Requires `context.canAsk`. */
async function askYesNo(question: string): Promise<boolean> {
  return /^y(es)?$/i.test((await askWord(`${question} [y/N]`)).trim())
}

/** Asks for a word on the terminal; empty at the end of input and after Ctrl-C. Requires `context.canAsk`. */
function askWord(question: string): Promise<string> {
  return askLine(question, process.stderr)
}

/** The same for a secret: what is typed is not shown. */
async function askSecret(question: string): Promise<string> {
  process.stderr.write(`${question} `)
  try {
    return await askLine('', new Writable({ write: (_chunk, _encoding, done) => done() }))
  } finally {
    process.stderr.write('\n')
  }
}

async function askLine(question: string, output: Writable): Promise<string> {
  const reader = createInterface({ input: process.stdin, output, terminal: true })
  const closed = new Promise<string>((resolve) => {
    reader.once('SIGINT', () => reader.close())
    reader.once('close', () => resolve(''))
  })
  try {
    return await Promise.race([reader.question(`${question} `), closed])
  } finally {
    reader.close()
  }
}

/**
 * The same signal twice within this time counts as one: the terminal sends Ctrl-C to the whole group, and npm
 * passes it on to its script again.
 */
const SAME_INTERRUPT_MS = 300

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** What to do when a person, or the system, asks the process to end. */
export interface InterruptActions {
  first(): void
  /** Called the second time, while the first is still being handled. */
  second(): void
}

/** Listens for Ctrl-C, SIGTERM and a closed terminal; returns the way to stop listening. */
export function watchInterrupts(actions: InterruptActions): () => void {
  let last: { signal: NodeJS.Signals; atMs: number } | null = null
  let count = 0
  const onSignal = (signal: NodeJS.Signals) => {
    const atMs = performance.now()
    const isSame = last?.signal === signal && atMs - last.atMs < SAME_INTERRUPT_MS
    last = { signal, atMs }
    if (isSame) return
    count += 1
    if (count === 1) actions.first()
    else actions.second()
  }
  for (const signal of SIGNALS) process.on(signal, onSignal)
  return () => {
    for (const signal of SIGNALS) process.off(signal, onSignal)
  }
}
