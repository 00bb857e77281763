import { type ChildProcess, spawn } from 'node:child_process'
import type { Readable } from 'node:stream'

/** The result of a question to a child process. */
export type Asked<Answer> = { kind: 'answer'; answer: Answer } | { kind: 'crash' | 'hang'; detail: string }

/**
 * A process that answers each line of JSON with another, in order. One that does not answer in time is
 * killed, and the next question starts another, so a file that crashes or hangs its reader does not affect
 * other files.
 */
export class AskedChild<Answer> {
  readonly #command: readonly string[]
  readonly #limitMs: number
  #child: ChildProcess | null = null
  #lines: AsyncIterator<string> | null = null
  #stderr = ''

  constructor(command: readonly string[], limitMs: number) {
    this.#command = command
    this.#limitMs = limitMs
  }

  /** Asks about one file, within the default time limit unless another is given. */
  async ask(question: unknown, limitMs = this.#limitMs): Promise<Asked<Answer>> {
    const { child, lines } = this.#start()
    child.stdin?.write(`${JSON.stringify(question)}\n`)
    const { promise: late, resolve } = Promise.withResolvers<'late'>()
    const timer = setTimeout(resolve, limitMs, 'late')
    try {
      const next = await Promise.race([lines.next(), late])
      if (next === 'late') {
        await this.close()
        return { kind: 'hang', detail: `no answer within ${limitMs / 1000} s` }
      }
      if (next.done === true) {
        const detail = this.#stderr
          .trim()
          .split('\n')
          .filter((line) => line !== '')
          .slice(0, 8)
          .join(' | ')
        await this.close()
        return { kind: 'crash', detail }
      }
      return { kind: 'answer', answer: JSON.parse(next.value) as Answer }
    } finally {
      clearTimeout(timer)
    }
  }

  /** Ends the process. */
  async close(): Promise<void> {
    const child = this.#child
    this.#child = null
    if (child === null || child.exitCode !== null || child.signalCode !== null) return
    const { promise: ended, resolve } = Promise.withResolvers<void>()
    child.once('exit', () => resolve())
    child.kill('SIGKILL')
    await ended
  }

  #start(): { child: ChildProcess; lines: AsyncIterator<string> } {
    if (this.#child !== null && this.#lines !== null) return { child: this.#child, lines: this.#lines }
    const [program = '', ...args] = this.#command
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
    this.#stderr = ''
    child.stderr.on('data', (text) => {
      this.#stderr = (this.#stderr + String(text)).slice(-10_000)
    })
    // An ended process accepts no more lines; the missing answer reports that.
    child.stdin.on('error', () => undefined)
    const lines = readLines(child.stdout)
    this.#child = child
    this.#lines = lines
    return { child, lines }
  }
}

/** Lines that end with a line feed only. `node:readline` also splits at U+2028, which occurs in texts. */
export async function* readLines(stream: Readable): AsyncGenerator<string, void, undefined> {
  let rest = ''
  for await (const piece of stream.setEncoding('utf8')) {
    const lines = (rest + String(piece)).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}
