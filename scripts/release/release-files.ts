import { createHash } from 'node:crypto'
import { createReadStream, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { TARGETS, type TargetName, toArchiveName } from '../pack-binary/targets.ts'

/** A system that there are installers for, as electron-builder names it. */
export type System = 'mac' | 'win' | 'linux'

/** A processor that there are installers for. */
export type Processor = 'arm64' | 'x64'

/** An installer of a release, with what its name says. */
export interface Installer {
  name: string
  system: System
  processor: Processor
  ending: string
  sizeBytes: number
  /** In base64, as update feeds have it. */
  sha512: string
}

/** The endings of each system's installers; the first is the one that an update of the app downloads. */
export const ENDINGS: Record<System, readonly string[]> = {
  mac: ['zip', 'dmg'],
  win: ['exe'],
  linux: ['AppImage', 'deb', 'rpm'],
}

const PROCESSORS: readonly Processor[] = ['arm64', 'x64']

/** What Linux packages call a processor. */
const LINUX_NAMES: Record<string, Record<Processor, string>> = {
  AppImage: { arm64: 'arm64', x64: 'x86_64' },
  deb: { arm64: 'arm64', x64: 'amd64' },
  rpm: { arm64: 'aarch64', x64: 'x86_64' },
}

/** The file names of all installers of a version, as `artifactName` of `electron-builder.yml` makes them. */
export function listInstallerNames(version: string): Omit<Installer, 'sizeBytes' | 'sha512'>[] {
  return (['mac', 'win', 'linux'] as const).flatMap((system) =>
    ENDINGS[system].flatMap((ending) =>
      PROCESSORS.map((processor) => {
        const named = LINUX_NAMES[ending]?.[processor] ?? processor
        return { name: `Sluice-${version}-${system}-${named}.${ending}`, system, processor, ending }
      }),
    ),
  )
}

/** The file name of the command line's package, as `npm run pack:cli` makes it. */
export function toCommandLineName(version: string): string {
  return `sluice-${version}.tgz`
}

/** The file names of the command line, as `npm run pack:cli` and `npm run pack:binary -- --archive` make them. */
export function listCommandLineNames(version: string): string[] {
  const targets = Object.keys(TARGETS) as TargetName[]
  return [toCommandLineName(version), ...targets.map((target) => toArchiveName(version, target))]
}

/** The hash of a file's content. */
export async function hashFile(path: string, algorithm: 'sha256' | 'sha512'): Promise<Buffer> {
  const hash = createHash(algorithm)
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest()
}

/**
 * The installers of a version in a folder. Throws if one is missing, or if the folder holds anything that is
 * neither an installer nor the command line: a release contains what was meant, and all of it.
 */
export async function readInstallers(folder: string, version: string): Promise<Installer[]> {
  const expected = listInstallerNames(version)
  const known = new Set([...expected.map(({ name }) => name), ...listCommandLineNames(version)])
  const found = new Set(readdirSync(folder))
  const missing = [...known].filter((name) => !found.has(name))
  const unknown = [...found].filter((name) => !known.has(name))
  if (missing.length > 0) throw new Error(`missing in ${folder}: ${missing.join(', ')}`)
  if (unknown.length > 0)
    throw new Error(`not part of version ${version}, in ${folder}: ${unknown.join(', ')}`)
  return Promise.all(
    expected.map(async (installer) => {
      const path = join(folder, installer.name)
      const sha512 = await hashFile(path, 'sha512')
      return { ...installer, sizeBytes: statSync(path).size, sha512: sha512.toString('base64') }
    }),
  )
}
