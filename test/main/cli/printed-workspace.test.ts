import { join } from 'node:path'
import { expect, it } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { withSandbox } from '../../helpers/sandbox.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { writeSource } from './write-source.ts'

/** The words of a printed command, as a POSIX shell reads them. */
function toWords(command: string): string[] {
  return [...command.matchAll(/'((?:[^']|'\\'')*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted?.replaceAll("'\\''", "'") ?? plain ?? '',
  )
}

/** The arguments of the commands of ours that a text has on lines of their own, or at the end of a line. */
function listCommands(text: string): string[][] {
  return [...text.matchAll(/npm run -s sluice -- (.*?)(?: {2,}.*)?$/gm)].map(([, words = '']) =>
    toWords(words),
  )
}

it('prints commands with the workspace that was given, so that they find the same runs', async () => {
  onlyInLongForm()
  const folder = createTemporaryFolder()
  const workspace = join(folder, "Ann's runs")
  const sandbox = await withSandbox()
  const sluice = (...args: string[]) =>
    runInProcess(args, { workspace: join(folder, 'another'), env: { SLUICE_API_KEY: sandbox.key } })
  const source = writeSource(folder, 'posts.csv', 'user_id,text_data\nu1,hello\nu_2,forbidden\n')
  const sent = await sluice('task', source, '--base-url', sandbox.baseUrl, '--workspace', workspace)
  const unknown = await sluice('show', 'nothing', '--workspace', workspace)
  const commands = listCommands(`${sent.stdout}\n${sent.stderr}\n${unknown.stderr}`)
  expect(commands.length).toBeGreaterThan(1)
  for (const command of commands) {
    expect(command.slice(0, 2)).toEqual(['--workspace', workspace])
    if (command.includes('show')) expect((await sluice(...command)).code).toBe(0)
  }
  expect((await sluice('runs')).stdout).toContain('No runs in')
})

it('takes the workspace once, before or after the command', async () => {
  const workspace = createTemporaryFolder()
  const sluice = (...args: string[]) => runInProcess(args, { workspace: createTemporaryFolder() })
  for (const args of [
    ['--workspace', workspace, 'runs'],
    ['runs', '--workspace', workspace],
    [`--workspace=${workspace}`, 'runs'],
  ]) {
    expect((await sluice(...args)).stdout, args.join(' ')).toContain(`No runs in ${workspace}`)
  }
  for (const args of [
    ['--workspace', workspace, 'runs', '--workspace', workspace],
    ['--workspace', workspace, '--workspace', workspace, 'runs'],
  ]) {
    const { code, stderr } = await sluice(...args)
    expect({ code, stderr }).toMatchObject({ code: 2, stderr: expect.stringContaining('was given twice') })
  }
})
