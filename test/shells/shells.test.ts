import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { BUILT_FOLDER } from '../helpers/build/bundles.ts'
import { seeScreen } from '../helpers/e2e/walk.ts'
import { createStandIn } from '../helpers/electron-stand-in/create-stand-in.ts'
import { chooseShells } from '../helpers/shells/choose-shells.ts'
import { createPackagedShell } from '../helpers/shells/packaged-shell.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

describe('choosing shells', () => {
  const NOTHING = { PATH: '', ELECTRON_OVERRIDE_DIST_PATH: '/nowhere' }

  it('takes each that is on the machine, and says why others are missing', () => {
    const distribution = createTemporaryFolder()
    const [chromium, electron] = [join(distribution, 'chromium'), join(distribution, 'electron')]
    for (const program of [chromium, electron]) writeFileSync(program, '')
    writeFileSync(join(distribution, 'version'), '45.0.0')
    const env = { PATH: distribution, ELECTRON_OVERRIDE_DIST_PATH: distribution, DISPLAY: ':1' }
    expect(chooseShells(env, 'linux')).toEqual([
      { name: 'browser', program: chromium },
      { name: 'stand-in', program: chromium },
      { name: 'electron', program: electron, version: '45.0.0' },
      { name: 'packaged', why: expect.stringContaining('SLUICE_PACKAGED_APP') },
    ])
    expect(chooseShells({ ...NOTHING, SLUICE_PACKAGED_APP: '/app' }, 'win32')).toEqual([
      { name: 'browser', why: expect.stringContaining('Chromium') },
      { name: 'stand-in', why: expect.stringContaining('Windows') },
      { name: 'electron', why: expect.stringContaining('not on this machine') },
      { name: 'packaged', program: '/app' },
    ])
    writeFileSync(join(distribution, 'version'), '44.0.0')
    expect(chooseShells(env, 'linux')[2]).toEqual({
      name: 'electron',
      why: expect.stringMatching(/is Electron 44\.0\.0; the tests need 45\./),
    })
  })

  it('takes only the one that SLUICE_SHELL names, and fails if it is missing or unknown', () => {
    const env = { ...NOTHING, SLUICE_SHELL: 'packaged', SLUICE_PACKAGED_APP: '/app' }
    const chosen = chooseShells(env).flatMap((choice) => ('program' in choice ? [choice.name] : []))
    expect(chosen).toEqual(['packaged'])
    expect(() => chooseShells({ ...NOTHING, SLUICE_SHELL: 'electron' })).toThrow(
      'SLUICE_SHELL=electron cannot run',
    )
    expect(() => chooseShells({ ...NOTHING, SLUICE_SHELL: 'safari' })).toThrow(
      'must be one of browser, stand-in',
    )
  })
})

const canStandIn = chooseShells().some((shell) => shell.name === 'stand-in' && 'program' in shell)

describe.runIf(canStandIn)('a packed app', () => {
  it('is reached by the port that it writes into its folder', async () => {
    const folder = createTemporaryFolder()
    const shell = createPackagedShell(createStandIn(BUILT_FOLDER))
    const { page, kill, ended } = await shell.start({
      userData: join(folder, 'user data'),
      workspace: folder,
    })
    await seeScreen(page, 'Runs')
    await kill()
    expect(await ended).toBeNull()
  })

  it('fails the test if it ends before it shows a window', async () => {
    const folder = createTemporaryFolder()
    const program = join(folder, 'app')
    writeFileSync(program, '#!/bin/sh\nexit 3\n', { mode: 0o755 })
    const started = createPackagedShell(program).start({ userData: folder, workspace: folder })
    await expect(started).rejects.toThrow('the app ended with 3 before it showed a window')
  })
})
