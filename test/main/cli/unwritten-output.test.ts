import { Writable } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { expect, it } from 'vitest'
import { createCliContext } from '../../../src/main/cli/context.ts'
import { runCli } from '../../../src/main/cli/run-cli.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'

/** Runs a command in an empty workspace with an output that fails with a code of the system. */
async function runWithOutput(code: string, args: readonly string[]) {
  const error = Object.assign(new Error(`${code}: no space left on device, write`), { code })
  const said: string[] = []
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done(error) })
  const stderr = new Writable({ write: (chunk, _encoding, done) => done(void said.push(String(chunk))) })
  const context = createCliContext({
    stdout: stdout as WriteStream,
    stderr: stderr as WriteStream,
    env: { SLUICE_WORKSPACE: createTemporaryFolder() },
  })
  return { exitCode: await runCli(args, context), stderr: said.join('') }
}

it.each([[['runs', '--json']], [['help']], [['help', 'runs']], [['help', 'retries']], [['--version']]])(
  'exits with 1 if what %j prints cannot be written, such as on a full disk, and says so',
  async (args) => {
    expect(await runWithOutput('ENOSPC', args)).toEqual({
      exitCode: 1,
      stderr: 'sluice: the output is incomplete: ENOSPC: no space left on device, write\n',
    })
  },
)

it('says nothing if only the reader of a pipe is gone', async () => {
  expect(await runWithOutput('EPIPE', ['runs', '--json'])).toEqual({ exitCode: 0, stderr: '' })
})
