import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import { COMPLETION_SCRIPTS, SHELLS } from '../../../../src/main/cli/completion/shell-scripts.ts'
import { findCommand } from '../../../helpers/find-command.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'
import { runInProcess } from '../run-in-process.ts'

const entry = fileURLToPath(new URL('../../../../src/main/cli/main.ts', import.meta.url))

/** Input for a shell that has read its script, as if tab was pressed after the words. */
const PRESS_TAB = {
  // Readline's own variables, with words split as it does.
  bash: (words: string[]) => `source ./script
COMP_WORDS=(sluice ${words.join(' ')}); COMP_CWORD=${words.length}
_sluice sluice && printf '%s\n' "\${COMPREPLY[@]}"`,
  // Without a terminal there is no completion widget; the test prints what it would get.
  zsh: (words: string[]) => `compdef() {}; compset() {}
_describe() { print -rl -- "\${(@)\${(@P)argv[-1]}%%:*}" }
_files() { print -rl -- *(N) }
source ./script
words=(sluice ${words.join(' ')}); CURRENT=${words.length + 1}
_sluice`,
  fish: (words: string[]) => `source ./script
complete -C 'sluice ${words.map((word) => (word === "''" ? '' : word)).join(' ')}' | string replace -r '\\t.*' ''`,
}

const shells = (['bash', 'zsh', 'fish'] as const).filter((shell) => findCommand(shell, '') !== null)

describe.each(process.platform === 'win32' ? [] : shells)('the completion script for %s', (shell) => {
  let folder: string
  const press = (...words: string[]) => {
    const flags = { bash: ['--norc', '-c'], zsh: ['-f', '-c'], fish: ['--no-config', '-c'] }[shell]
    const { stdout, stderr } = spawnSync(shell, [...flags, PRESS_TAB[shell](words)], {
      cwd: folder,
      encoding: 'utf8',
      env: {
        PATH: `${join(folder, 'bin')}:${process.env['PATH'] ?? ''}`,
        HOME: folder,
        LANG: 'C.UTF-8',
        NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
      },
    })
    expect(stderr).toBe('')
    return stdout.split('\n').filter((line) => line !== '')
  }

  beforeEach(() => {
    folder = createTemporaryFolder()
    mkdirSync(join(folder, 'bin'))
    const command = join(folder, 'bin/sluice')
    writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${entry}' "$@"\n`)
    chmodSync(command, 0o755)
    writeFileSync(join(folder, 'script'), COMPLETION_SCRIPTS[shell])
    for (const name of ['posts.csv', 'my posts.csv']) writeFileSync(join(folder, name), '')
  })

  it('completes commands, values and files', () => {
    expect(press('ta')).toEqual(['task'])
    expect(press('task', 'posts.csv', '--api', "''")).toEqual(['v1', 'v2'])
    expect(press('task', "''")).toEqual(expect.arrayContaining(['posts.csv', 'my posts.csv']))
  })

  it.runIf(shell === 'bash')(
    'joins the words that readline splits at = and :, and completes the last piece',
    () => {
      onlyInLongForm()
      expect(press('task', 'posts.csv', '--api', '=', 'v')).toEqual(['v1', 'v2'])
      expect(press('task', '--base-url', 'http', ':', '//a', 'po')).toEqual(['posts.csv'])
    },
  )
})

describe('sluice completion', () => {
  it.each(SHELLS)('prints the script for %s', async (shell) => {
    const result = await runInProcess(['completion', shell], { workspace: createTemporaryFolder() })
    expect(result).toEqual({ code: 0, stdout: COMPLETION_SCRIPTS[shell], stderr: '' })
    expect(result.stdout).toContain('__complete')
    // No escapes of the template are left in the scripts.
    expect(result.stdout).not.toContain('\\$')
  })

  it('names the shells it knows', async () => {
    const { code, stderr } = await runInProcess(['completion', 'tcsh'], {
      workspace: createTemporaryFolder(),
    })
    expect(code).toBe(2)
    expect(stderr).toContain('bash, zsh, fish, powershell')
  })
})
