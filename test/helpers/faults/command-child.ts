import { PassThrough } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { createCliContext } from '../../../src/main/cli/context.ts'
import { runCli } from '../../../src/main/cli/run-cli.ts'
import { keepFilesPrivate } from '../../../src/main/engine/workspace/file-permissions.ts'

// The command line in a process that runs the commands of faulty-commands.ts one after another.

function createSink(): { stream: WriteStream; text: () => string } {
  const stream = new PassThrough()
  let text = ''
  stream.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk
  })
  return { stream: stream as unknown as WriteStream, text: () => text }
}

keepFilesPrivate()
process.on('message', async ({ args, env }: { args: string[]; env: Record<string, string> }) => {
  const [stdout, stderr] = [createSink(), createSink()]
  const context = createCliContext({
    stdout: stdout.stream,
    stderr: stderr.stream,
    env,
    canAsk: false,
    lastingKeys: { absence: 'tests have no keyring' },
  })
  const code = await runCli(args, context)
  process.send?.({ code, stdout: stdout.text(), stderr: stderr.text() })
})
