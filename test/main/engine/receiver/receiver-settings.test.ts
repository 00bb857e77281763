import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import {
  keepReceiverPort,
  readReceiverSettings,
  toReceiverSettingsFile,
} from '../../../../src/main/engine/receiver/receiver-settings.ts'
import { onlyInLongForm } from '../../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../../helpers/temporary-folder.ts'

describe('the settings of a workspace’s receiver', () => {
  it('are created at first use and then stay', () => {
    const workspace = createTemporaryFolder()
    const made = readReceiverSettings(workspace)
    expect(made.secret).toMatch(/^[0-9a-f]{64}$/)
    expect(made.port).toBeNull()
    expect(readReceiverSettings(workspace)).toEqual(made)
    expect(readReceiverSettings(createTemporaryFolder()).secret).not.toBe(made.secret)
  })

  it.skipIf(process.platform === 'win32')('are readable by their owner only', () => {
    const workspace = createTemporaryFolder()
    readReceiverSettings(workspace)
    keepReceiverPort(workspace, 25_000)
    expect(statSync(toReceiverSettingsFile(workspace)).mode & 0o777).toBe(0o600)
    expect(readdirSync(workspace).filter((name) => name.endsWith('.draft'))).toEqual([])
  })

  it('keep only the first port', () => {
    const workspace = createTemporaryFolder()
    expect(keepReceiverPort(workspace, 25_000)).toBe(25_000)
    const { secret } = readReceiverSettings(workspace)
    expect(keepReceiverPort(workspace, 26_000)).toBe(25_000)
    expect(readReceiverSettings(workspace)).toEqual({ secret, port: 25_000 })
  })

  it('are the same for processes that create them at once', async () => {
    onlyInLongForm()
    const workspace = createTemporaryFolder()
    const url = new URL('../../../../src/main/engine/receiver/receiver-settings.ts', import.meta.url).href
    const script = `import { readReceiverSettings } from ${JSON.stringify(url)}
      process.stdin.once('data', () => {
        console.log(readReceiverSettings(${JSON.stringify(workspace)}).secret)
        process.exit()
      })
      console.log('ready')`
    const children = Array.from({ length: 3 }, () =>
      spawn(process.execPath, ['--input-type=module', '--eval', script], {
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    )
    await Promise.all(children.map(({ stdout }) => once(stdout, 'data')))
    const secrets = children.map(async ({ stdin, stdout }) => {
      stdin.write('go\n')
      const [secret] = await once(stdout, 'data')
      return String(secret).trim()
    })
    const { secret } = readReceiverSettings(workspace)
    expect(await Promise.all(secrets)).toEqual([secret, secret, secret])
  })

  it('are not recreated if damaged, and their content is not shown', () => {
    const workspace = createTemporaryFolder()
    const { secret } = readReceiverSettings(workspace)
    const file = toReceiverSettingsFile(workspace)
    writeFileSync(file, readFileSync(file, 'utf8').replace('"version": 1', '"version": 9'))
    expect(() => readReceiverSettings(workspace)).toThrow(/does not contain valid receiver settings/)
    expect(() => keepReceiverPort(workspace, 1)).toThrow(expect.not.stringContaining(secret))
    expect(readFileSync(file, 'utf8')).toContain(secret)
  })

  it('say if they cannot be stored', () => {
    expect(() => readReceiverSettings('/proc/none')).toThrow(/cannot lock .*receiver\.json/)
  })
})
