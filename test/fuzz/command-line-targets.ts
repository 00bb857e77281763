import { Writable } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { type Command, CommanderError } from 'commander'
import fc from 'fast-check'
import { createCliContext } from '../../src/main/cli/context.ts'
import { COMMAND_NAMES, createProgram } from '../../src/main/cli/program.ts'
import { SluiceError } from '../../src/shared/messages/errors.ts'
import { awkwardText, createTarget, expectSame, expectTrue, type FuzzTarget } from './fuzz-target.ts'

/** The command line with every command replaced by one that records that it was reached. */
async function createHarmlessProgram(): Promise<{ program: Command; reached: { name: string }[] }> {
  const sink = () => new Writable({ write: (_chunk, _encoding, done) => done() }) as unknown as WriteStream
  const context = createCliContext({ stdout: sink(), stderr: sink(), env: {}, canAsk: false })
  const program = await createProgram(context, COMMAND_NAMES)
  const reached: { name: string }[] = []
  const disarm = (command: Command): void => {
    // Commander keeps a command's action private; groups have none, and must stay without one.
    const isGroup = typeof Reflect.get(command, '_actionHandler') !== 'function'
    if (!isGroup) command.action(() => void reached.push({ name: command.name() }))
    for (const child of command.commands) disarm(child)
  }
  disarm(program)
  return { program, reached }
}

const { program, reached } = await createHarmlessProgram()

function listCommands(command: Command, path: string[]): { path: string[]; flags: string[] }[] {
  const own = {
    path,
    flags: command.options.flatMap((one) => [one.long, one.short].filter((flag) => flag != null)),
  }
  return [own, ...command.commands.flatMap((child) => listCommands(child, [...path, child.name()]))]
}

const COMMANDS = listCommands(program, []).filter(({ path }) => path.length > 0)
const VALUES = [
  ...[
    'rows.csv',
    'text_data=Message',
    'post_id={{row}}',
    '10',
    '0',
    '-1',
    '1e9',
    '5%',
    '2s',
    '10:30s,50:1m',
    'p(99)<500',
  ],
  ...[
    'http://127.0.0.1:1',
    'https://x',
    'ftp://x',
    'NaN',
    '..',
    '%2e%2E',
    '--',
    '-',
    '=',
    'a=',
    '=b',
    'sync',
    'async',
    'v2',
  ],
]

const commandLine = fc.nat(COMMANDS.length - 1).chain((index) => {
  const { path, flags } = COMMANDS[index] ?? { path: [], flags: [] }
  const word = fc.oneof(
    { weight: 3, arbitrary: fc.constantFrom(...(flags.length === 0 ? ['--help'] : flags)) },
    { weight: 3, arbitrary: fc.constantFrom(...VALUES) },
    { weight: 1, arbitrary: awkwardText },
    {
      weight: 1,
      arbitrary: fc
        .tuple(fc.constantFrom(...flags, '--no'), awkwardText)
        .map(([flag, text]) => `${flag}=${text}`),
    },
  )
  return fc.array(word, { maxLength: 7 }).map((words) => [...path, ...words])
})

/** Targets that parse command lines without running them. */
export const COMMAND_LINE_TARGETS: readonly FuzzTarget[] = [
  createTarget(
    'command line: any arguments are taken, or refused as arguments are',
    1.5,
    commandLine,
    async (args) => {
      reached.length = 0
      try {
        await program.parseAsync(args, { from: 'user' })
        expectTrue(reached.length <= 1, 'more than one command was reached')
        expectTrue(
          !args.some(
            (arg) => arg === '--index' && ['..', '%2e%2E'].includes(args[args.indexOf(arg) + 1] ?? ''),
          ) || reached.length === 0,
          'an index that leaves its path',
        )
      } catch (error) {
        if (!(error instanceof CommanderError) && !(error instanceof SluiceError)) throw error
        expectSame(reached.length, 0, 'commands that were reached and refused')
      }
    },
  ),
]
