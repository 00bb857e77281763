import { createHash } from 'node:crypto'
import { createReadStream, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { TARGETS, type TargetName, toArchiveName } from '../pack-binary/targets.ts'

/** A system with installers, by electron-builder's name. */
export type System = 'mac' | 'win' | 'linux'

/** A processor with installers. */
export type Processor = 'arm64' | 'x64'

/** An installer of a release and what its name says. */
export interface Installer {
  name: string
  system: System
  processor: Processor
  ending: string
  sizeBytes: number
  /** In base64, as update feeds need it. */
  sha512: string
}

/** The file extensions of each system's installers; app updates download the first. */
export const ENDINGS: Record<System, readonly string[]> = {
  mac: ['zip', 'dmg'],
  win: ['exe'],
  linux: ['AppImage', 'deb', 'rpm'],
}

const PROCESSORS: readonly Processor[] = ['arm64', 'x64']

/** Linux packages' names for processors. */
const LINUX_NAMES: Record<string, Record<Processor, string>> = {
  AppImage: { arm64: 'arm64', x64: 'x86_64' },
  deb: { arm64: 'arm64', x64: 'amd64' },
  rpm: { arm64: 'aarch64', x64: 'x86_64' },
}

/** The file names of all installers of a version, as given by `artifactName` in `electron-builder.yml`. */
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

/** The file name of the command line's package, as `npm run pack:cli` names it. */
export function toCommandLineName(version: string): string {
  return `sluice-${version}.tgz`
}

/**
 * The file names of the command line, as `npm run pack:cli` and `npm run pack:binary -- --archive` name them.
 */
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
 * neither an installer nor the command line, so that a release is complete and holds nothing else.
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
