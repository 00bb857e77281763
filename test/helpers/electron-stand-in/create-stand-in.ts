import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { createTemporaryFolder } from '../temporary-folder.ts'

/**
 * Makes a program for the running test that is started as Electron's is, or, with the folder of an app, as that app is
 * once it is packed. Not for Windows.
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
