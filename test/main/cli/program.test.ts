import { describe, expect, it } from 'vitest'
import { createCliContext } from '../../../src/main/cli/context.ts'
import { COMMAND_NAMES, createProgram } from '../../../src/main/cli/program.ts'

const context = createCliContext()
const full = await createProgram(context, COMMAND_NAMES)

describe('the list of commands', () => {
  it('is the same with none of them loaded as with all of them', async () => {
    const listed = await createProgram(context, [])
    expect(listed.helpInformation()).toBe(full.helpInformation())
    expect(full.commands.map((command) => command.name())).toEqual(COMMAND_NAMES)
    for (const command of full.commands) expect(command.summary()).not.toBe('')
  })

  it.each(COMMAND_NAMES)('loads %s if the arguments name it, and only then', async (name) => {
    for (const words of [
      [name, '--help'],
      ['help', name],
      ['--', name],
    ]) {
      const program = await createProgram(context, words)
      const loaded = program.commands.filter((command) => command.description() !== '')
      expect(loaded.map((command) => command.name())).toEqual([name])
    }
  })
})
