import type { Command, Option } from 'commander'
import { expect, test } from 'vitest'
import { createCliContext } from '../../../../src/main/cli/context.ts'
import { isRepeatable } from '../../../../src/main/cli/options/given-once.ts'
import { COMMAND_NAMES, createProgram } from '../../../../src/main/cli/program.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { runInProcess } from '../run-in-process.ts'

const listCommands = (command: Command): Command[] => [command, ...command.commands.flatMap(listCommands)]

const saysSo = ({ variadic, long, description }: Option) =>
  variadic || long === '--columns' || long === '--new-by' || /\brepeatable\b(?! behaviour)/.test(description)

const options = listCommands(await createProgram(createCliContext({ env: {} }), COMMAND_NAMES)).flatMap(
  (command) => command.options.map((option) => ({ command, option })),
)

test('exactly the options that say so may be given several times', () => {
  const collecting = options.filter(
    ({ option }) => isRepeatable(option) && (option.required || option.optional),
  )
  expect(collecting.length).toBeGreaterThan(20)
  const wrong = options
    .filter(({ option }) => option.required || option.optional)
    .filter(({ option }) => isRepeatable(option) !== saysSo(option))
  expect(
    wrong.map(({ command, option }) => `${command.name()} ${option.flags}: ${option.description}`),
  ).toEqual([])
})

test.each([
  [['evaluate', 'latest', '--separator', ';', '--separator', ','], '--separator'],
  [['task', 'a.csv', '--limit', '3', '--limit=4'], '--limit'],
  [['export', 'latest', 'a.csv', '--state', 'failed', '--state', 'failed'], '--state'],
  [['export', 'latest', '-', '--format', 'csv', '--format', 'jsonl'], '--format'],
  [['runs', '--workspace', 'a', '--workspace', 'b'], '--workspace'],
  [['connection', 'set', 'x', '--base-url', 'http://a', '--base-url', 'http://b'], '--base-url'],
])('the command %j is refused, since only one of the values would count', async (args, option) => {
  const { code, stdout, stderr } = await runInProcess(args, { workspace: createTemporaryFolder() })
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toContain(`${option} takes one value and was given twice`)
})
