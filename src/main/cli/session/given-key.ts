import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { SluiceError } from '../../../shared/messages/errors.ts'
import type { KeyCommandFailure } from '../../../shared/messages/service-messages.ts'
import { toSystemCode, toThrown } from '../../../shared/messages/thrown.ts'
import { type Addresses, ApiKey, handled, redactSecrets } from '../../engine/secrets/bound-secret.ts'
import type { CliContext } from '../context.ts'
import { resolveFromCaller } from '../invocation.ts'
import type { GivenKeyFlags } from '../options/key-options.ts'
import { toPrintable } from '../terminal/output.ts'
import { killTree } from './kill-tree.ts'

/** Longest text that is accepted as a key, characters. */
const KEY_MAX = 16_384

/** Shortest word of a command's output that is removed from its stderr, characters. */
const WORD_MIN = 6

/** How long a command may take to print a key, including a person who unlocks something, milliseconds. */
const COMMAND_MAX_MS = 60_000

/** How long a command's processes may keep its output open once it ended and printed a key, milliseconds. */
const PIPES_MAX_MS = 1_000

/** Longest text of a command's stderr that is shown, characters. */
const STDERR_MAX = 16_384

/**
 * The key in the file of `--api-key-file`, bound to its addresses. White space around it does not count.
 * Throws `NO_API_KEY`; no message shows any of the key.
 */
export function readKeyFile(file: string, addresses: Addresses, env: NodeJS.ProcessEnv): ApiKey {
  const path = resolveFromCaller(file, env)
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const thrown = toThrown(error)
    // A path that does not exist may be the key itself.
    const code = toSystemCode(error)
    const isNone = code === 'ENOENT' || code === 'ENAMETOOLONG'
    const shown = isNone ? { path: 'the file of --api-key-file', reason: code } : { path }
    throw new SluiceError({ id: 'key_file_unreadable', ...thrown, ...shown })
  }
  return toKey(text.replace(/^\uFEFF/, ''), addresses, `in ${path}`)
}

/**
 * The key that `--api-key-command` prints, bound to its addresses. The command's stderr is shown line by
 * line, without the key. Rejects with `NO_API_KEY`; messages name only the program, since its arguments may
 * be secret too.
 */
async function runKeyCommand(
  context: CliContext,
  [program = '', ...args]: readonly string[],
  addresses: Addresses,
  timeoutMs: number,
): Promise<ApiKey> {
  const show = (line: string) => {
    if (line !== '') void context.err.writeLine(toPrintable(`${program}: ${redactSecrets(line)}`))
  }
  // These lines may contain the key, which is known only at the end.
  const held: string[] = []
  const onLine = (line: string) => {
    if (mayHoldKey(line)) held.push(line)
    else show(line)
  }
  const { stdout, failure } = await run(program, args, { env: context.env, timeoutMs, onLine })
  handled.add(stdout.trim())
  // Output of several words is refused as a key, but one of them may be the key.
  for (const word of stdout.split(/\s+/)) if (word.length >= WORD_MIN) handled.add(word)
  for (const line of held) show(line)
  if (failure !== null) {
    const named = failure.kind === 'not_started' ? 'the program of --api-key-command' : program
    throw new SluiceError({ id: 'key_command_failed', program: named, failure })
  }
  return toKey(stdout, addresses, `that ${program} printed`)
}

/**
 * Whether a line has a word as long as a key. Addresses to log in at do not count, unless they have a
 * password. A key in base64 can have slashes like a path, but has more digits.
 */
function mayHoldKey(line: string): boolean {
  const text = line.replaceAll(/\bhttps?:\/\/[^\s@]+(?!\S)/g, '')
  return /[\w+=~-]{16,}/.test(text) || (text.match(/[\w+=~/-]{16,}/g) ?? []).some((word) => /\d/.test(word))
}

/** Without the system's message, which repeats the program's name: that may be the key itself. */
function toNotStarted(error: unknown): KeyCommandFailure {
  return { kind: 'not_started', reason: toSystemCode(error) ?? 'refused' }
}

/** Runs a program to its end; `onLine` takes each line of its stderr as it comes. */
function run(
  program: string,
  args: readonly string[],
  options: { env: NodeJS.ProcessEnv; timeoutMs: number; onLine: (line: string) => void },
): Promise<{ stdout: string; failure: KeyCommandFailure | null }> {
  const { env, timeoutMs, onLine } = options
  return new Promise((resolve) => {
    let stdout = ''
    const child = start(program, args, env)
    if (child instanceof Error) {
      resolve({ stdout, failure: toNotStarted(child) })
      return
    }
    const lines = new LineSplitter(onLine)
    let graceTimer: NodeJS.Timeout | undefined
    const end = (failure: KeyCommandFailure | null) => {
      clearTimeout(timer)
      clearTimeout(graceTimer)
      // Processes that the program started may hold the pipes open longer.
      child.stdout.destroy()
      child.stderr.destroy()
      lines.end()
      resolve({ stdout, failure })
    }
    const timer = setTimeout(() => {
      // Another process may have the id of one that has ended.
      const isRunning = child.exitCode === null && child.signalCode === null
      if (isRunning && child.pid !== undefined) killTree(child.pid)
      end({ kind: 'timeout', ms: timeoutMs })
    }, timeoutMs)
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      if (stdout.length <= KEY_MAX) stdout += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => lines.add(text))
    child.once('error', (error) => end(toNotStarted(error)))
    const endAs = (exitCode: number | null, signal: NodeJS.Signals | null) => {
      if (exitCode === 0) end(null)
      else end(signal === null ? { kind: 'exit', exitCode: exitCode ?? 1 } : { kind: 'signal', signal })
    }
    child.once('close', endAs)
    child.once('exit', (exitCode, signal) => {
      graceTimer = setTimeout(() => {
        // By now the pipes have been read. A program that only starts another may leave the printing to it.
        setImmediate(() => {
          if (exitCode !== 0 || stdout.trim() !== '') endAs(exitCode, signal)
        })
      }, PIPES_MAX_MS).unref()
    })
  })
}

/** Splits a command's stderr into lines, up to a limit. */
class LineSplitter {
  readonly #onLine: (line: string) => void
  #rest = ''
  #taken = 0

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
  }

  add(text: string): void {
    const taken = text.slice(0, Math.max(0, STDERR_MAX - this.#taken))
    this.#taken += taken.length
    const lines = (this.#rest + taken).split(/\r?\n/)
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#onLine(line)
    // A cut-off key would not be recognized.
    if (taken.length < text.length) this.#rest = ''
  }

  /** Hands over a last line without a line break. */
  end(): void {
    this.#onLine(this.#rest)
    this.#rest = ''
  }
}

/** Some errors are thrown, others are events of the child. */
function start(program: string, args: readonly string[], env: NodeJS.ProcessEnv) {
  try {
    return spawn(program, args, {
      cwd: resolveFromCaller('.', env),
      env,
      // Standard input may be the source of the run.
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    })
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  }
}

function toKey(text: string, addresses: Addresses, source: string): ApiKey {
  const key = text.trim()
  if (key === '') throw new SluiceError({ id: 'key_source_empty', source })
  if (key.length > KEY_MAX) throw new SluiceError({ id: 'key_source_too_long', source, max: KEY_MAX })
  return ApiKey.create(key, addresses, source)
}

/** The key that options give for one command; null if they give none. See {@link readKeyFile}. */
export async function readGivenKey(
  context: CliContext,
  { apiKeyFile, apiKeyCommand }: GivenKeyFlags,
  addresses: Addresses,
  { commandMaxMs = COMMAND_MAX_MS }: { commandMaxMs?: number } = {},
): Promise<ApiKey | null> {
  if (apiKeyFile !== undefined) return readKeyFile(apiKeyFile, addresses, context.env)
  if (apiKeyCommand === undefined) return null
  return runKeyCommand(context, apiKeyCommand, addresses, commandMaxMs)
}
