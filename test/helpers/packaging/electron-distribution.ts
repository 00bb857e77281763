import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

// Replaces the folder that Electron's zip unpacks to: the files that electron-builder renames, edits and
// keeps, with a program that has Electron's fuse wire and does nothing.

/** A system, by its name in electron-builder's options. */
export type PackedSystem = 'mac' | 'win' | 'linux'

const SENTINEL = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX'

// The fuses: run as Node, cookie encryption, NODE_OPTIONS, inspect arguments, asar integrity, only from asar,
// own snapshot, file privileges, and one that is newer than the tools.
const DEFAULT_FUSES = '101100010'

/** Bytes of a program with Electron's fuses somewhere in the middle. */
function createProgram(): Buffer {
  return Buffer.concat([
    Buffer.from(`a program\0${SENTINEL}`),
    Buffer.from([1, DEFAULT_FUSES.length]),
    Buffer.from(`${DEFAULT_FUSES}\0more of it`),
  ])
}

/** The used parts of resedit; its own types would need those of the DOM. */
interface Resedit {
  NtExecutable: { createEmpty(is32Bit: boolean, isDll: boolean): NtExecutable }
  NtExecutableResource: {
    from(executable: NtExecutable): { entries: unknown[]; outputResource(to: NtExecutable): void }
  }
  Resource: { VersionInfo: { createEmpty(): VersionInfo } }
}

interface NtExecutable {
  generate(): ArrayBuffer
}

interface VersionInfo {
  lang: number
  setStringValues(language: { lang: number; codepage: number }, values: Record<string, string>): void
  outputToResourceEntries(entries: unknown[]): void
}

/** A Windows program with a version resource, as electron-builder edits it. */
function createWindowsProgram(): Buffer {
  const resedit: Resedit = createRequire(import.meta.url)('resedit')
  const executable = resedit.NtExecutable.createEmpty(false, false)
  const resource = resedit.NtExecutableResource.from(executable)
  const version = resedit.Resource.VersionInfo.createEmpty()
  version.lang = 1033
  version.setStringValues(
    { lang: 1033, codepage: 1200 },
    { ProductName: 'Electron', FileDescription: 'Electron' },
  )
  version.outputToResourceEntries(resource.entries)
  resource.outputResource(executable)
  return Buffer.concat([Buffer.from(executable.generate()), createProgram()])
}

function toPlist(values: Record<string, string>): string {
  const entries = Object.entries(values).map(([key, value]) => `<key>${key}</key><string>${value}</string>`)
  return `<?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>${entries.join('')}</dict></plist>`
}

function listMacFiles(): Record<string, string | Buffer> {
  const contents = 'Electron.app/Contents'
  const helpers = ['', ' (GPU)', ' (Plugin)', ' (Renderer)'].map((suffix) => `Electron Helper${suffix}`)
  return {
    [`${contents}/Info.plist`]: toPlist({
      CFBundleExecutable: 'Electron',
      CFBundleIdentifier: 'com.github.Electron',
      CFBundleIconFile: 'electron.icns',
    }),
    [`${contents}/MacOS/Electron`]: 'starts the framework',
    [`${contents}/Frameworks/Electron Framework.framework/Electron Framework`]: createProgram(),
    [`${contents}/Frameworks/Electron Framework.framework/Versions/A/Resources/en.lproj/locale.pak`]: 'words',
    [`${contents}/Frameworks/Electron Framework.framework/Versions/A/Resources/de.lproj/locale.pak`]: 'Worte',
    [`${contents}/Resources/electron.icns`]: 'icon',
    [`${contents}/Resources/en.lproj/empty`]: '',
    [`${contents}/Resources/de.lproj/empty`]: '',
    ...Object.fromEntries(
      helpers.flatMap((helper) => [
        [`${contents}/Frameworks/${helper}.app/Contents/Info.plist`, toPlist({ CFBundleExecutable: helper })],
        [`${contents}/Frameworks/${helper}.app/Contents/MacOS/${helper}`, 'starts the framework'],
      ]),
    ),
  }
}

function listFiles(system: PackedSystem): Record<string, string | Buffer> {
  const everywhere = {
    LICENSE: 'MIT',
    'LICENSES.chromium.html': '<html></html>',
    version: '45.4.1',
  }
  if (system === 'mac') return { ...everywhere, ...listMacFiles() }
  const beside = {
    ...everywhere,
    'icudtl.dat': 'data',
    'locales/en-US.pak': 'words',
    'locales/de.pak': 'Worte',
  }
  if (system === 'win') return { ...beside, 'electron.exe': createWindowsProgram(), 'ffmpeg.dll': 'library' }
  return {
    ...beside,
    electron: createProgram(),
    'chrome-sandbox': 'sandbox',
    chrome_crashpad_handler: 'handler',
    'libffmpeg.so': 'library',
  }
}

/** Fills a folder with the replacement for one system's distribution. */
export function writeElectronDistribution(folder: string, system: PackedSystem): void {
  for (const [path, content] of Object.entries(listFiles(system))) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content, { mode: 0o755 })
  }
}
