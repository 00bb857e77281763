import { chmodSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { onlyInLongForm } from '../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { runInProcess } from './run-in-process.ts'
import { spawnSluice } from './spawn-sluice.ts'

describe('open', () => {
  it('opens a file in the browser, so that no process list shows the token', async () => {
    onlyInLongForm()
    const [workspace, folder] = [createTemporaryFolder(), createTemporaryFolder()]
    const [browser, seen] = [join(folder, 'browser'), join(folder, 'seen')]
    // What the system's opener is told to start: notes its arguments, and ends Sluice as Ctrl-C would.
    writeFileSync(browser, `#!/bin/sh\necho "$@" > "${seen}.new"\nmv "${seen}.new" "${seen}"\n`)
    chmodSync(browser, 0o700)
    let stop: NodeJS.Timeout | undefined
    const result = await spawnSluice(['open'], {
      workspace,
      fromSources: true,
      env: { BROWSER: browser },
      onStdout: (_text, child) => {
        stop ??= setInterval(() => {
          if (process.platform === 'linux' && !existsSync(seen)) return
          clearInterval(stop)
          child.kill('SIGINT')
        }, 20)
      },
    })
    const [, file = ''] = /does not open, open (\S+)\n$/.exec(result.stdout) ?? []
    expect(result.stdout).toMatch(
      /^Sluice is running at http:\/\/sluice-\w+\.localhost:\d+\. Press Ctrl-C to stop\. .*\n$/,
    )
    expect(result.stdout).not.toContain('#')
    if (process.platform === 'linux') expect(readFileSync(seen, 'utf8').trim()).toBe(file)
    expect(file.startsWith(workspace)).toBe(true)
    expect(readdirSync(workspace).filter((name) => name.endsWith('.html'))).toEqual([])
    expect(result).toMatchObject({ code: 0, stderr: expect.stringContaining('Stopping') })
  })

  it('refuses an invalid port', async () => {
    const result = await runInProcess(['open', '--port', '70000'], { workspace: createTemporaryFolder() })
    expect(result).toMatchObject({ code: 2, stdout: '' })
    expect(result.stderr).toContain('from 0 to 65535')
  })
})
