import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { createTemporaryFolder } from '../temporary-folder.ts'

/**
 * Creates a program for the current test that starts like Electron's or, with the folder of an app, like that
 * app after packing. Not for Windows.
 */
export function createStandIn(appFolder?: string): string {
  const program = join(createTemporaryFolder(), 'electron')
  const command = [
    process.execPath,
    join(import.meta.dirname, 'program.ts'),
    ...(appFolder === undefined ? [] : [appFolder]),
  ]
  writeFileSync(program, `#!/bin/sh\nexec ${command.map((part) => `'${part}'`).join(' ')} "$@"\n`, {
    mode: 0o755,
  })
  return program
}
