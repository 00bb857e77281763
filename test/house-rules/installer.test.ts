import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isPlanName } from '../../src/shared/bridge/plans.ts'
import { SOURCE_ENDINGS } from '../../src/shared/plan/source-formats.ts'
import { PROJECT_FOLDER } from './read-module.ts'

/** The parts of electron-builder's configuration that these tests read. */
interface InstallerConfig {
  files: { filter: string[] }[]
  asar: boolean
  electronFuses: Record<string, boolean>
  mac: {
    target: { target: string; arch: string[] }[]
    hardenedRuntime: boolean
    entitlements: string
    entitlementsInherit: string
    fileAssociations: { ext: string[]; rank: string }[]
  }
  fileAssociations: { ext: string; rank: string; mimeType: string }[]
  protocols: { schemes: string[] }[]
  win: { target: { target: string; arch: string[] }[]; fileAssociations?: unknown }
  linux: { target: { target: string; arch: string[] }[] }
}

interface ConfigModule {
  getConfig(projectFolder: string, file: string, options: null): Promise<InstallerConfig>
  /** Rejects if the configuration does not match electron-builder's own schema. */
  validateConfiguration(config: unknown, debugLogger: { isEnabled: boolean }): Promise<void>
}

// electron-builder does not export its check, which is in the library below it.
const requireBeside = createRequire(createRequire(import.meta.url).resolve('electron-builder'))
const { getConfig, validateConfiguration }: ConfigModule = requireBeside(
  'app-builder-lib/out/util/config/config.js',
)

const config = await getConfig(PROJECT_FOLDER, 'electron-builder.yml', null)
const validate = (one: unknown) => validateConfiguration(one, { isEnabled: false })

describe('electron-builder.yml', () => {
  it("matches electron-builder's own schema, which refuses unknown settings", async () => {
    await expect(validate(structuredClone(config))).resolves.toBeUndefined()
    await expect(validate({ ...structuredClone(config), asarr: true })).rejects.toThrow(
      "unknown property 'asarr'",
    )
    await expect(validate({ ...structuredClone(config), mac: { notarize: {} } })).rejects.toThrow('notarize')
  })

  it('makes every installer for both processors', () => {
    const arch = ['arm64', 'x64']
    expect(config.mac.target).toEqual([
      { target: 'dmg', arch },
      { target: 'zip', arch },
    ])
    expect(config.win.target).toEqual([{ target: 'nsis', arch }])
    expect(config.linux.target).toEqual([
      { target: 'AppImage', arch },
      { target: 'deb', arch },
      { target: 'rpm', arch },
    ])
  })

  it('sets every fuse that keeps the installed app from running as something else', () => {
    expect(config.asar).toBe(true)
    expect(config.electronFuses).toMatchObject({
      runAsNode: false,
      enableNodeOptionsEnvironmentVariable: false,
      enableNodeCliInspectArguments: false,
      enableEmbeddedAsarIntegrityValidation: true,
      onlyLoadAppFromAsar: true,
      grantFileProtocolExtraPrivileges: false,
      loadBrowserProcessSpecificV8Snapshot: false,
    })
  })

  it('hardens the macOS runtime, and permits it only to compile JavaScript', () => {
    expect(config.mac.hardenedRuntime).toBe(true)
    expect(config.mac.entitlementsInherit).toBe(config.mac.entitlements)
    const text = readFileSync(join(PROJECT_FOLDER, config.mac.entitlements), 'utf8')
    expect([...text.matchAll(/<key>([^<]+)<\/key>\s*<true\/>/g)].map(([, key]) => key)).toEqual([
      'com.apple.security.cs.allow-jit',
    ])
    expect(text.match(/<key>/g)).toHaveLength(1)
  })

  it('registers the scheme of links to runs, and offers to open sources without becoming their default program', () => {
    expect(config.protocols.flatMap(({ schemes }) => schemes)).toEqual(['sluice'])
    const associated = config.mac.fileAssociations.flatMap(({ ext }) => ext.map((one) => `.${one}`))
    expect(associated).toContain('.csv')
    expect(SOURCE_ENDINGS).toEqual(expect.arrayContaining(associated))
    expect(config.mac.fileAssociations.map(({ rank }) => rank)).toEqual(['Alternate'])
    expect(config.win.fileAssociations).toBeUndefined()
  })

  it('associates plan files with the app on every system', () => {
    expect(config.fileAssociations).toMatchObject([{ rank: 'Owner', mimeType: 'application/x-sluice-plan' }])
    expect(config.fileAssociations.map(({ ext }) => isPlanName(`posts.${ext}`))).toEqual([true])
  })

  it('packs only what the build made, and no package', () => {
    const patterns = config.files.flatMap(({ filter }) => filter)
    expect(patterns.filter((pattern) => !pattern.startsWith('!'))).toEqual(['out/**', 'package.json'])
    expect(patterns).toContain('!node_modules')
    const { main } = JSON.parse(readFileSync(join(PROJECT_FOLDER, 'package.json'), 'utf8'))
    expect(main).toBe('out/main/main.js')
  })
})
