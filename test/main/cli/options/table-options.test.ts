import { Command } from 'commander'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { addTableOptions, readFlags } from '../../../../src/main/cli/options/table-options.ts'
import type { OptionTable } from '../../../../src/shared/options/option.ts'

const TABLE = {
  pauseMs: {
    schema: z.int().min(0).max(172_800_000).default(1_500),
    words: 'Pause, in milliseconds.',
    section: 'all',
    flag: '--pause <duration>',
  },
  mostBytes: {
    schema: z.int().min(10).max(2_000).optional(),
    words: 'Most bytes.',
    section: 'all',
    flag: '--most <size>',
  },
  count: { schema: z.int().min(1).max(9).default(3), words: 'Count.', section: 'all', flag: '--count <n>' },
  share: {
    schema: z.number().positive().max(2).optional(),
    words: 'Share.',
    section: 'all',
    flag: '--share <n>',
  },
  order: {
    schema: z.enum(['up', 'down']).default('up'),
    words: 'Order.',
    section: 'all',
    flag: '--order <order>',
    help: 'in which order',
  },
  isLoud: { schema: z.boolean().default(false), words: 'Loud.', section: 'all', flag: '--loud' },
  note: { schema: z.string().optional(), words: 'Note.', section: 'all', flag: '--long-note <text>' },
  pair: { schema: z.array(z.string()).default([]), words: 'Pair.', section: 'own', flag: '--pair <a,b>' },
  hidden: { schema: z.int().optional(), words: 'In the plan alone.', section: 'all' },
} as const satisfies OptionTable

function declare(): Command {
  const command = new Command().exitOverride().configureOutput({ writeErr: () => {} })
  return addTableOptions(command, TABLE, ['all', 'own'], { pair: (text) => text.split(',') })
}

function parse(...args: string[]) {
  return readFlags(TABLE, declare().parse(args, { from: 'user' }).opts())
}

it('options of a table are parsed by their schemas, and have the names of the plan', () => {
  expect(parse()).toEqual({})
  const given = ['--pause', '2s', '--most', '1kB', '--count', '9', '--share', '0.5', '--order', 'down']
  expect(parse(...given, '--loud', '--long-note', 'n', '--pair', 'a,b')).toEqual({
    ...{ pauseMs: 2_000, mostBytes: 1_000, count: 9, share: 0.5, order: 'down' },
    isLoud: true,
    note: 'n',
    pair: ['a', 'b'],
  })
})

it.each([
  [['--pause', '3d'], 'from 0s to 2d'],
  [['--most', '9B'], 'from 10 to 2000 bytes'],
  [['--count', '0'], 'from 1 to 9'],
  [['--share', '3'], 'at most 2'],
  [['--order', 'left'], 'up, down'],
])('%j is refused by the bounds of its schema', (args, message) => {
  expect(() => parse(...args)).toThrow(message)
})

it('the help of an option is made of its words and the default of its schema', () => {
  const descriptions = declare().options.map(({ long, description }) => `${long}: ${description}`)
  expect(descriptions).toEqual([
    '--pause: pause (default: 1s500ms)',
    '--most: most bytes',
    '--count: count (default: 3)',
    '--share: share',
    '--order: in which order (default: up)',
    '--loud: loud',
    '--long-note: note',
    '--pair: pair',
  ])
})

it('a value whose schema does not say how it is read needs a parser', () => {
  expect(() => addTableOptions(new Command(), TABLE, ['own'])).toThrow('--pair <a,b> needs a parser')
})
