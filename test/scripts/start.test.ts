import { spawn } from 'node:child_process'
import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { findElectron } from '../../scripts/find-electron.ts'
import { isFresh } from '../../src/main/web/is-fresh.ts'
import { onlyInLongForm } from '../helpers/long-form.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

describe('finding Electron', () => {
  const MISSING = { why: expect.stringMatching(/^Electron is not on this machine/) }

  it('returns its downloaded program and its version', () => {
    const folder = createTemporaryFolder()
    const find = () => findElectron(folder, {}, 'darwin')
    expect(find()).toEqual(MISSING)
    const path = 'Electron.app/Contents/MacOS/Electron'
    writeFileSync(join(folder, 'path.txt'), path)
    expect(find()).toEqual(MISSING)
    const program = join(folder, 'dist', path)
    mkdirSync(dirname(program), { recursive: true })
    writeFileSync(program, '')
    expect(find()).toEqual({ program, version: 'unknown' })
    writeFileSync(join(folder, 'dist/version'), 'v45.4.1\n')
    expect(find()).toEqual({ program, version: '45.4.1' })
  })

  it('looks where the environment says first, and needs a display on Linux', () => {
    const [folder, elsewhere] = [createTemporaryFolder(), createTemporaryFolder()]
    const env = { ELECTRON_OVERRIDE_DIST_PATH: elsewhere, DISPLAY: ':1' }
    expect(findElectron(folder, env, 'linux')).toEqual(MISSING)
    writeFileSync(join(elsewhere, 'electron'), '')
    writeFileSync(join(elsewhere, 'version'), '44.0.0')
    const found = { program: join(elsewhere, 'electron'), version: '44.0.0' }
    expect(findElectron(folder, env, 'linux')).toEqual(found)
    expect(findElectron(folder, { ...env, DISPLAY: '' }, 'linux')).toEqual({
      why: expect.stringMatching(/^There is no display/),
    })
  })
})

describe('what was built', () => {
  it('is fresh while none of its sources is newer, including nested and removed files', async () => {
    const folder = createTemporaryFolder()
    const [product, source] = [join(folder, 'index.html'), join(folder, 'src')]
    mkdirSync(join(source, 'deep'), { recursive: true })
    writeFileSync(join(source, 'deep/a.ts'), '')
    const at = (path: string, seconds: number) => utimesSync(path, seconds, seconds)
    for (const path of [join(source, 'deep/a.ts'), join(source, 'deep'), source]) at(path, 1000)
    expect(await isFresh(product, [source])).toBe(false)
    writeFileSync(product, '')
    at(product, 2000)
    expect(await isFresh(product, [source, join(folder, 'missing')])).toBe(true)
    at(join(source, 'deep'), 3000)
    expect(await isFresh(product, [source])).toBe(false)
    at(join(source, 'deep'), 1000)
    at(join(source, 'deep/a.ts'), 3000)
    expect(await isFresh(product, [source])).toBe(false)
  })
})

describe('npm start', () => {
  it('serves the window in a browser if Electron is missing, says so in one line, and ends with Ctrl-C', async () => {
    onlyInLongForm()
    const script = fileURLToPath(new URL('../../scripts/start.ts', import.meta.url))
    const child = spawn(process.execPath, [script, '--no-browser'], {
      stdio: ['ignore', 'pipe', 'pipe'],
      // A process group of its own, so that the signal reaches all of it, as from a terminal.
      detached: true,
      env: {
        PATH: process.env['PATH'],
        SLUICE_WORKSPACE: createTemporaryFolder(),
        ELECTRON_OVERRIDE_DIST_PATH: createTemporaryFolder(),
      },
    })
    let stdout = ''
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
      if (stdout.endsWith('\n') && child.pid !== undefined) process.kill(-child.pid, 'SIGINT')
    })
    const code = await new Promise((resolve) => child.once('close', resolve))
    expect(stdout).toMatch(/^http:\/\/sluice-\w+\.localhost:\d+\/enter#[\w-]{43}\n$/)
    expect(stderr).toMatch(/^Electron is not on this machine .*so the same screens open in the browser\.\n/)
    expect(stderr).toContain('Stopping')
    expect(code).toBe(0)
  })
})
