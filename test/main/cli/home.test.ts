import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import process from 'node:process'
import { describe, expect, it } from 'vitest'
import { PROJECT_FOLDER } from '../../helpers/build/bundles.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { writeSource } from './write-source.ts'

/**
 * Runs the installed command's entry, which caches compiled code in the home; the code is null if it hangs.
 */
function runInstalled(home: string, ...args: string[]) {
  const entry = join(PROJECT_FOLDER, 'src/main/cli/installed.ts')
  const { status, stdout, stderr } = spawnSync(process.execPath, [entry, ...args], {
    encoding: 'utf8',
    timeout: 30_000,
    env: { PATH: process.env['PATH'] ?? '', LANG: 'C.UTF-8', HOME: home },
  })
  return { code: status, stdout, stderr }
}

describe.skipIf(process.platform === 'win32')('a home that cannot hold anything', () => {
  it.runIf(process.platform === 'linux')('below /proc does not keep the command from ending', () => {
    expect(runInstalled('/proc/none', '--version')).toMatchObject({ code: 0, stderr: '' })
  })

  it('is named with the workspace that cannot be created in it', () => {
    const file = writeSource(createTemporaryFolder(), 'home', 'a file')
    const { code, stdout, stderr } = runInstalled(file, 'runs')
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
    expect(stderr).toContain(`cannot create the workspace ${file}`)
    expect(stderr).toContain('with --workspace DIR or SLUICE_WORKSPACE')
  })
})
