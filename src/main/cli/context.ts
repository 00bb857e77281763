import process from 'node:process'
import type { WriteStream } from 'node:tty'
import type { ExitCode } from '../../shared/messages/errors.ts'
import { askWord, askYesNo } from './session/ask.ts'
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
  /** Whether there is a person who can be asked. */
  readonly canAsk: boolean
  /** Asks a yes-or-no question; only where someone can be asked. */
  readonly ask: (question: string) => Promise<boolean>
  /** Asks for a word to be typed; only where someone can be asked. */
  readonly askWord: (question: string) => Promise<string>
  /** Set by the command that ran; what the process exits with. */
  exitCode: ExitCode
}

/** What a context is made of; by default, this process's own streams and environment. */
export interface CliSurroundings {
  stdout: WriteStream
  stderr: WriteStream
  env: NodeJS.ProcessEnv
  canAsk: boolean
  ask: (question: string) => Promise<boolean>
  askWord: (question: string) => Promise<string>
}

/** Describes where a command line runs. */
export function createCliContext(surroundings: Partial<CliSurroundings> = {}): CliContext {
  const { stdout = process.stdout, stderr = process.stderr, env = process.env } = surroundings
  return {
    out: createOutput(stdout),
    err: createOutput(stderr),
    outTerminal: createTerminal(stdout, env),
    errTerminal: createTerminal(stderr, env),
    env,
    canAsk: surroundings.canAsk ?? (process.stdin.isTTY === true && stderr.isTTY === true),
    ask: surroundings.ask ?? askYesNo,
    askWord: surroundings.askWord ?? askWord,
    exitCode: 0,
  }
}
