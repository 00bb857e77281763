import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { expect, it } from 'vitest'
import { COMMAND_NAMES, createProgram } from '../../src/main/cli/program.ts'
import { createKeptContext } from '../main/cli/run-in-process.ts'
import { PROJECT_FOLDER } from './read-module.ts'

const PAGE = readFileSync(join(PROJECT_FOLDER, 'docs', 'window.md'), 'utf8')

function listOptions(command: Command): string[] {
  const own = command.options.filter(({ hidden }) => !hidden).flatMap(({ long }) => long ?? [])
  return [...own, ...command.commands.flatMap(listOptions)]
}

it('lists each command-line option, and no other, with its place in the window or why it has none', async () => {
  const program = await createProgram(createKeptContext().context, COMMAND_NAMES)
  const rows = [...PAGE.matchAll(/^\| ([^|]*`--[^|]*) \|(.*)\|$/gm)]
  const named = rows.flatMap(([, options = '']) => [...options.matchAll(/`(--[a-z0-9-]+)`/g)])
  expect(new Set(named.map(([, option]) => option))).toEqual(new Set(listOptions(program)))
  expect(rows.filter(([, , place = '']) => place.trim() === '')).toEqual([])
})
