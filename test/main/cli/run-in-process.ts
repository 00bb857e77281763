import { PassThrough } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { type CliSurroundings, createCliContext } from '../../../src/main/cli/context.ts'
import { runCli } from '../../../src/main/cli/run-cli.ts'
import type { SluiceResult } from './spawn-sluice.ts'

function createSink(): { stream: WriteStream; text: () => string } {
  const stream = new PassThrough()
  let text = ''
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return { stream: stream as unknown as WriteStream, text: () => text }
}

/** Where a command line runs whose output is kept, and that output. */
export function createKeptContext(surroundings: Partial<CliSurroundings> = {}) {
  const stdout = createSink()
  const stderr = createSink()
  const context = createCliContext({ ...surroundings, stdout: stdout.stream, stderr: stderr.stream })
  return { context, stdout: stdout.text, stderr: stderr.text }
}

/** Runs a command in this process, its streams and environment its own: for all that is no matter of processes. */
export async function runInProcess(
  args: readonly string[],
  options: {
    workspace: string
    env?: Record<string, string>
    /** Answers what is asked; without it nobody can be asked. */
    ask?: (question: string) => boolean
    /** Types the word that is asked for. */
    askWord?: (question: string) => string
  },
): Promise<SluiceResult> {
  const { ask } = options
  const { context, stdout, stderr } = createKeptContext({
    env: { SLUICE_WORKSPACE: options.workspace, ...options.env },
    canAsk: ask !== undefined,
    ask: async (question) => ask?.(question) ?? false,
    askWord: async (question) => options.askWord?.(question) ?? '',
  })
  const code = await runCli(args, context)
  return { code, stdout: stdout(), stderr: stderr() }
}
