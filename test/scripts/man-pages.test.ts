import { spawnSync } from 'node:child_process'
import type { Command } from 'commander'
import { beforeAll, expect, it } from 'vitest'
import { createManPages } from '../../scripts/pack-cli/man-pages.ts'
import { COMMAND_NAMES, createProgram } from '../../src/main/cli/program.ts'
import { onlyInLongForm } from '../helpers/long-form.ts'
import { createKeptContext } from '../main/cli/run-in-process.ts'

let pages: ReadonlyMap<string, string>

beforeAll(async () => {
  pages = await createManPages()
})

function listOptions(command: Command): string[] {
  const own = command.options.filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? [])
  return [...own, ...command.commands.flatMap(listOptions)]
}

it('has a page for the program and for each command, with all of its options', async () => {
  const program = await createProgram(createKeptContext().context, COMMAND_NAMES)
  expect([...pages.keys()]).toEqual(['sluice.1', ...COMMAND_NAMES.map((name) => `sluice-${name}.1`)])
  for (const command of program.commands.filter((one) => COMMAND_NAMES.includes(one.name()))) {
    const page = pages.get(`sluice-${command.name()}.1`)?.replaceAll('\\-', '-') ?? ''
    for (const option of listOptions(command)) expect(page).toContain(option)
  }
})

it('names the exit codes, the environment variables, and examples to paste', () => {
  const page = pages.get('sluice.1') ?? ''
  expect(page).toContain('.B 130\ninterrupted')
  expect(page).toContain('.B SLUICE_API_KEY\n')
  expect(pages.get('sluice-task.1')).toContain('\n  sluice task ')
  expect([...pages.values()].join('')).not.toContain('npm run')
})

const hasGroff = spawnSync('groff', ['--version']).status === 0

it.skipIf(!hasGroff)('is read by groff without a warning, and shows text as it is in the help', () => {
  onlyInLongForm()
  for (const input of pages.values()) {
    const { stdout, stderr } = spawnSync('groff', ['-man', '-Tutf8', '-ww'], { input, encoding: 'utf8' })
    expect(stderr).toBe('')
    expect(stdout).not.toContain('\\[u')
  }
  const shown = spawnSync('groff', ['-man', '-Tutf8', '-P-cbou'], {
    input: pages.get('sluice-load.1') ?? '',
    encoding: 'utf8',
  }).stdout
  expect(shown).toContain("'http_req_failed:rate<0.01'")
})
