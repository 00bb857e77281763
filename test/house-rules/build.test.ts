import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { extractAll } from '@electron/asar'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { formatNotices, readPackages } from '../../scripts/licences.ts'
import {
  checkPackagedApp,
  findPackagedApp,
  listFiles,
  measureFolder,
  readExpectedHash,
  readFuses,
} from '../../scripts/release/packaged-app.ts'
import { buildPart } from '../helpers/build/build-part.ts'
import { onlyInLongForm } from '../helpers/long-form.ts'
import type { PackedSystem } from '../helpers/packaging/electron-distribution.ts'
import { packHere } from '../helpers/packaging/pack-here.ts'
import type { SeenApp } from '../helpers/packaging/use-packaged-app.ts'
import { PROJECT_FOLDER, parseModule } from './read-module.ts'

const CONFIG_FILE = join(PROJECT_FOLDER, 'electron-builder.yml')
const SYSTEMS: PackedSystem[] = ['mac', 'win', 'linux']

// One build for all tests, outside the project, so that nothing but the built files can be found there.
let folder = ''
const packed = new Map<PackedSystem, string>()

/** The folder of a system's packaged app. */
function findPacked(system: PackedSystem): string {
  return packed.get(system) ?? ''
}

/**
 * The long form builds with `npm run build`; the short form uses this test's build with the same
 * configuration.
 */
async function buildApp(output: string): Promise<void> {
  if (inject('isLong')) buildByCommand(output)
  else {
    const parts = {
      main: await buildPart('main', 'desktop'),
      preload: await buildPart('preload', 'preload'),
      renderer: await buildPart('renderer', 'renderer'),
    }
    for (const [part, built] of Object.entries(parts)) cpSync(built, join(output, part), { recursive: true })
  }
  const lists = ['main', 'preload', 'renderer'].map((part) => join(output, part, 'licences.json'))
  writeFileSync(join(output, 'THIRD-PARTY-NOTICES.txt'), formatNotices(readPackages(lists)))
}

function buildByCommand(output: string): void {
  const tool = join(PROJECT_FOLDER, 'node_modules', 'electron-vite', 'bin', 'electron-vite.js')
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [tool, 'build', '--outDir', output, '--logLevel', 'warn'],
    {
      cwd: PROJECT_FOLDER,
      encoding: 'utf8',
      env: { ...process.env, NODE_ENV: undefined, VITEST: undefined },
    },
  )
  if (status !== 0) throw new Error(`the build failed:\n${stdout}${stderr}`)
}

beforeAll(async () => {
  folder = mkdtempSync(join(realpathSync(tmpdir()), 'sluice-package-'))
  await buildApp(join(folder, 'out'))
  for (const system of SYSTEMS) packed.set(system, await packHere(folder, system))
}, 240_000)

afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('the build', () => {
  const readBuilt = (path: string) => readFileSync(join(folder, 'out', path), 'utf8')

  it('needs no package but electron', () => {
    const main = readdirSync(join(folder, 'out', 'main')).filter((name) => name.endsWith('.js'))
    const specifiers = main.flatMap((name) =>
      parseModule(name, readBuilt(`main/${name}`)).imports.map(({ specifier }) => specifier),
    )
    expect([...new Set(specifiers.filter((specifier) => !/^(node:|\.)/.test(specifier)))]).toEqual([
      'electron',
    ])
  })

  it('makes the preload script one CommonJS file, as a sandboxed preload must be', () => {
    const preload = readBuilt('preload/preload.cjs')
    expect([...preload.matchAll(/require\("([^"]+)"\)/g)].map(([, name]) => name)).toEqual(['electron'])
    expect(preload).not.toMatch(/^(import|export) /m)
  })

  it('leaves a nonce placeholder at every script and style of the page, and nothing inline', () => {
    const page = readBuilt('renderer/index.html')
    const tags = page.match(/<(script|style|link rel="stylesheet")[^>]*>/g) ?? []
    expect(tags.length).toBeGreaterThanOrEqual(2)
    for (const tag of tags) expect(tag).toContain('nonce="__CSP_NONCE__"')
    expect(page).not.toMatch(/<script[^>]*>[^<]|<style| style="| on[a-z]+="/)
  })
})

describe.each(SYSTEMS)('the app packed for %s', (system) => {
  it('has the fuses of electron-builder.yml, as read from its program', async () => {
    expect(await readFuses(findPackagedApp(findPacked(system)))).toEqual({
      runAsNode: false,
      enableCookieEncryption: false,
      enableNodeOptionsEnvironmentVariable: false,
      enableNodeCliInspectArguments: false,
      enableEmbeddedAsarIntegrityValidation: true,
      onlyLoadAppFromAsar: true,
      loadBrowserProcessSpecificV8Snapshot: false,
      grantFileProtocolExtraPrivileges: false,
    })
  })

  it('holds every file that runs and no other, and the hashes by which Electron checks them', async () => {
    const app = findPackagedApp(findPacked(system))
    expect(await checkPackagedApp(app, CONFIG_FILE)).toEqual([])
    expect(readExpectedHash(app)).toEqual(system === 'linux' ? null : expect.stringMatching(/^[0-9a-f]{64}$/))
    const files = listFiles(app)
    expect([...new Set(files.map((path) => dirname(path)))].toSorted()).toEqual([
      '.',
      'out',
      'out/main',
      'out/preload',
      'out/renderer',
      'out/renderer/assets',
    ])
    expect(files.filter((path) => /node_modules|\.map$|\.ts$|cli\.js$|licences\.json$/.test(path))).toEqual(
      [],
    )
    expect(measureFolder(dirname(app.resources))).toBeLessThan(12e6)
  })

  it('keeps one language of Chromium', () => {
    const files = readdirSync(findPacked(system), { recursive: true, encoding: 'utf8' })
    expect(files.filter((path) => /\bde\.(pak|lproj)/.test(path))).toEqual([])
    expect(files.filter((path) => /\ben(-US)?\.(pak|lproj)$/.test(path)).length).toBeGreaterThan(0)
  })
})

describe('the app packed for macOS', () => {
  it('names the files it opens: plans as their owner, rows and folders as an alternative', () => {
    const plist = readFileSync(join(findPackagedApp(findPacked('mac')).resources, '..', 'Info.plist'), 'utf8')
    const types = plist.slice(plist.indexOf('<key>CFBundleDocumentTypes</key>'))
    const read = (key: string) =>
      [...types.matchAll(new RegExp(`<key>${key}</key>\\s*<(string|array)>([\\s\\S]*?)</\\1>`, 'g'))].map(
        ([, , value = '']) => value.replace(/<[^>]*>/g, ' ').trim(),
      )
    expect(read('LSHandlerRank').toSorted()).toEqual(['Alternate', 'Alternate', 'Owner'])
    expect(read('CFBundleTypeExtensions').join(' ').split(/\s+/)).toEqual(
      expect.arrayContaining(['sluiceplan', 'csv', 'xlsx', 'jsonl']),
    )
    expect(read('LSItemContentTypes')).toEqual(['public.folder'])
  })
})

describe('reading a package back', () => {
  it('finds a changed fuse, a changed file, a foreign file and a program that expects another archive', async () => {
    const app = findPackagedApp(findPacked('win'))
    const archive = join(app.resources, 'app.asar')
    const [program, bytes] = [readFileSync(app.program), readFileSync(archive)]
    const find = async () => (await checkPackagedApp(app, CONFIG_FILE)).join('\n')

    const fuses = program.indexOf('dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX') + 34
    writeFileSync(
      app.program,
      Buffer.concat([program.subarray(0, fuses), Buffer.from('1'), program.subarray(fuses + 1)]),
    )
    expect(await find()).toBe('fuse runAsNode is true, not false')

    const other = Buffer.from(
      program.toString('latin1').replace(readExpectedHash(app) ?? '', '0'.repeat(64)),
      'latin1',
    )
    writeFileSync(app.program, other)
    expect(await find()).toMatch(
      /^the program expects app\.asar with the hash 0{64}, and it has [0-9a-f]{64}$/,
    )
    writeFileSync(app.program, program)

    // The archive's last bytes belong to one of its files.
    writeFileSync(archive, Buffer.concat([bytes.subarray(0, -1), Buffer.from([(bytes.at(-1) ?? 0) ^ 1])]))
    expect(await find()).toMatch(/^app\.asar holds \S+ with other bytes than its hash says$/)
    writeFileSync(archive, bytes)

    writeFileSync(join(app.resources, 'default_app.asar'), '')
    expect(await find()).toBe('default_app.asar stands beside app.asar')
    rmSync(join(app.resources, 'default_app.asar'))
    expect(await find()).toBe('')
  })
})

describe('the app in its archive', () => {
  it("loads its page, and sends rows with only the archive's threads and files", () => {
    onlyInLongForm()
    const unpacked = join(folder, 'unpacked', 'app.asar')
    mkdirSync(dirname(unpacked))
    extractAll(join(findPackagedApp(findPacked('linux')).resources, 'app.asar'), unpacked)
    const script = join(PROJECT_FOLDER, 'test', 'helpers', 'packaging', 'use-packaged-app.ts')
    const { stdout, stderr } = spawnSync(process.execPath, [script, unpacked], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], SLUICE_WORKSPACE: join(folder, 'workspace') },
      timeout: 60_000,
    })
    expect(stderr).toBe('')
    const seen: SeenApp = JSON.parse(stdout)
    expect(seen).toEqual({
      page: { status: 200, hasPolicy: true, missing: [], assets: expect.any(Number) },
      platform: 'desktop',
      succeeded: 364,
      columns: expect.arrayContaining(['text_data', 'user_id']),
    })
    expect(seen.page.assets).toBeGreaterThanOrEqual(2)
  })
})
