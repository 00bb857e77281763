import { PassThrough, Readable } from 'node:stream'
import type { WriteStream } from 'node:tty'
import type { createCliContext } from '../../src/main/cli/context.ts'
import type { runCli } from '../../src/main/cli/run-cli.ts'
import type { createEngine } from '../../src/main/engine/engine.ts'
import type { CommandResult } from './answers.ts'

/** The modules of a command line: of the current code or of another checkout. */
export interface CommandLineParts {
  createCliContext: typeof createCliContext
  runCli: typeof runCli
  createEngine: typeof createEngine
}

/** An in-process command line on one workspace, whose engine stays open between commands. */
export interface OpenCommandLine {
  run(args: readonly string[]): Promise<CommandResult>
  close(): Promise<void>
}

/** Opens the command line. It cannot ask questions and has neither a key nor a keyring. */
export function openCommandLine(parts: CommandLineParts, workspace: string): OpenCommandLine {
  const engine = parts.createEngine({ workspace })
  const lent = { ...engine, close: async () => {} }
  return {
    run: async (args) => {
      const stdout = createSink()
      const stderr = createSink()
      const context = parts.createCliContext({
        stdout: stdout.stream,
        stderr: stderr.stream,
        env: { SLUICE_WORKSPACE: workspace },
        stdin: Readable.from(['']),
        canAsk: false,
        lastingKeys: { absence: 'a golden workspace is asked without a keyring' },
        openEngine: async () => lent,
      })
      const code = await parts.runCli(args, context)
      return { code, stdout: stdout.text(), stderr: stderr.text() }
    },
    close: () => engine.close(),
  }
}

function createSink(): { stream: WriteStream; text: () => string } {
  const stream = new PassThrough()
  let text = ''
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return { stream: stream as unknown as WriteStream, text: () => text }
}
