import { PassThrough, Readable } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { onTestFinished } from 'vitest'
import { type CliSurroundings, createCliContext } from '../../../src/main/cli/context.ts'
import { runCli } from '../../../src/main/cli/run-cli.ts'
import type { Engine } from '../../../src/main/engine/engine.ts'
import { createEngine } from '../../../src/main/engine/engine.ts'
import { checkDocuments } from './documents/check-documents.ts'
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

const engines = new Map<string, Engine>()

/**
 * The engine of a workspace, which stays open until the test that first needed it has finished, to save its
 * threads.
 */
async function openEngine(workspace: string): Promise<Engine> {
  let engine = engines.get(workspace)
  if (engine === undefined) {
    const opened = createEngine({ workspace })
    engine = { ...opened, close: async () => {} }
    engines.set(workspace, engine)
    onTestFinished(async () => {
      engines.delete(workspace)
      await opened.close()
    })
  }
  return engine
}

/**
 * Runs a command in this process, its streams and environment its own: for all that is no matter of
 * processes.
 */
export async function runInProcess(
  args: readonly string[],
  options: {
    workspace: string
    env?: Record<string, string>
    /** Answers what is asked; without it nobody can be asked. */
    ask?: (question: string) => boolean
    /** What comes from standard input. */
    stdin?: string | Uint8Array
    /** Types the word that is asked for. */
    askWord?: (question: string) => string
    /** Types the secret that is asked for. */
    askSecret?: (question: string) => string
    /** Where typed keys outlive the command (default: nowhere). */
    lastingKeys?: CliSurroundings['lastingKeys']
  },
): Promise<SluiceResult> {
  const { ask } = options
  const { context, stdout, stderr } = createKeptContext({
    env: { SLUICE_WORKSPACE: options.workspace, ...options.env },
    stdin: Readable.from([options.stdin ?? '']),
    canAsk: ask !== undefined,
    ask: async (question) => ask?.(question) ?? false,
    askWord: async (question) => options.askWord?.(question) ?? '',
    askSecret: async (question) => options.askSecret?.(question) ?? '',
    lastingKeys: options.lastingKeys ?? { absence: 'tests have no keyring' },
    // However busy the machine is, no line tells how far a run is.
    lineEveryMs: 3_600_000,
    openEngine,
  })
  const code = await runCli(args, context)
  checkDocuments(args, stdout())
  return { code, stdout: stdout(), stderr: stderr() }
}
