import process from 'node:process'
import type { ExitCode } from '../../shared/errors.ts'
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
  /** Set by the command that ran; what the process exits with. */
  exitCode: ExitCode
}

/** Describes this process's own streams and environment. */
export function createCliContext(): CliContext {
  return {
    out: createOutput(process.stdout),
    err: createOutput(process.stderr),
    outTerminal: createTerminal(process.stdout),
    errTerminal: createTerminal(process.stderr),
    env: process.env,
    canAsk: process.stdin.isTTY === true && process.stderr.isTTY === true,
    exitCode: 0,
  }
}
