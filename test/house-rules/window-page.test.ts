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

it('says for each command-line option where the window has it', async () => {
  const program = await createProgram(createKeptContext().context, COMMAND_NAMES)
  const named = PAGE.matchAll(/`(--[a-z0-9-]+)`/g)
  expect(new Set([...named].map(([, option]) => option))).toEqual(new Set(listOptions(program)))
})
