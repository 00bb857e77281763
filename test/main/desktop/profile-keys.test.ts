import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'

const SECRET = '{"text":"typed-into-the-desktop"}'

let electron: typeof import('./electron-stand-in.ts')

beforeEach(async () => {
  vi.resetModules()
  electron = await import('./electron-stand-in.ts')
  vi.doMock('electron', () => electron)
})

async function openKeys(platform: NodeJS.Platform = 'linux') {
  const file = join(createTemporaryFolder(), 'keys.json')
  const { createProfileKeys } = await import('../../../src/main/desktop/profile-keys.ts')
  return { file, keys: createProfileKeys(file, platform), again: () => createProfileKeys(file, platform) }
}

describe('keys in the profile', () => {
  it('are encrypted by the system in a file for their owner only, and found after a restart', async () => {
    const { file, keys, again } = await openKeys()
    expect(await keys.get('staging/default')).toBeNull()
    await Promise.all([keys.set('staging/default', SECRET), keys.set('live/default', 'another')])
    const content = readFileSync(file, 'utf8')
    expect(content).not.toContain('typed-into-the-desktop')
    expect(content).not.toContain(Buffer.from('typed-into-the-desktop').toString('base64').slice(4, 20))
    if (process.platform !== 'win32') expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(await again().get('staging/default')).toBe(SECRET)
    await keys.remove('staging/default')
    expect(await again().get('staging/default')).toBeNull()
    expect(await again().get('live/default')).toBe('another')
  })

  it('are encrypted again if the system asks for it', async () => {
    const { file, keys } = await openKeys()
    await keys.set('staging/default', SECRET)
    const before = readFileSync(file, 'utf8')
    electron.safeStorage.rotate()
    expect(await keys.get('staging/default')).toBe(SECRET)
    expect(readFileSync(file, 'utf8')).not.toBe(before)
    expect(await keys.get('staging/default')).toBe(SECRET)
  })

  it('are given out even if they cannot be encrypted again, and never replace what was typed meanwhile', async () => {
    const { keys, again } = await openKeys()
    await keys.set('staging/default', SECRET)
    electron.safeStorage.rotate()
    const encrypt = vi
      .spyOn(electron.safeStorage, 'encryptStringAsync')
      .mockRejectedValueOnce(new Error('busy'))
    expect(await keys.get('staging/default')).toBe(SECRET)
    expect(encrypt).toHaveBeenCalledOnce()
    expect(await Promise.all([keys.get('staging/default'), keys.set('staging/default', 'newer')])).toEqual([
      SECRET,
      undefined,
    ])
    expect(await again().get('staging/default')).toBe('newer')
  })

  it.each(['basic_text', 'unknown'] as const)('are not kept on Linux if its store is %s', async (backend) => {
    electron.safeStorage.backend = backend
    const { file, keys } = await openKeys()
    await expect(keys.check()).rejects.toThrow('no password store')
    await expect(keys.set('staging/default', SECRET)).rejects.toThrow('no password store')
    expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined()
  })

  it('are not kept on Linux if they would be encrypted with a password that everybody knows', async () => {
    electron.safeStorage.prefix = 'v10'
    const { file, keys } = await openKeys()
    await expect(keys.set('staging/default', SECRET)).rejects.toThrow('a password that everybody knows')
    expect(statSync(file, { throwIfNoEntry: false })).toBeUndefined()
    const elsewhere = await openKeys('darwin')
    await elsewhere.keys.set('staging/default', SECRET)
    expect(await elsewhere.keys.get('staging/default')).toBe(SECRET)
  })

  it('are not kept if the system encrypts nothing', async () => {
    electron.safeStorage.isAvailable = false
    const { keys } = await openKeys('win32')
    await expect(keys.check()).rejects.toThrow('does not encrypt anything')
  })

  it('leave a damaged file unchanged, and say so without repeating it', async () => {
    const { file, keys } = await openKeys()
    writeFileSync(file, '{"version":1,"secrets":{"a":17}} sk-hunter2')
    await expect(keys.get('a')).rejects.toThrow(`${file} cannot be read: it is damaged`)
    await expect(keys.set('b', 'x')).rejects.toThrow('it is damaged')
    expect(readFileSync(file, 'utf8')).toContain('hunter2')
  })
})
