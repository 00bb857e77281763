// The keyring's library inside the package: its loader, and native code for each system. The loader looks for the native
// code next to itself first, so nothing has to be resolved or fetched where the package is installed.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type BundledPackage, isAccepted } from '../licences.ts'
import { fetchPackage } from '../locked-package.ts'

const project = resolve(import.meta.dirname, '../..')
const LIBRARY = '@napi-rs/keyring'

/** The systems whose keyring a package for everybody can use, as the library calls them. */
export const KEYRING_SYSTEMS = [
  'darwin-arm64',
  'darwin-x64',
  'linux-arm64-gnu',
  'linux-arm64-musl',
  'linux-x64-gnu',
  'linux-x64-musl',
  'win32-arm64-msvc',
  'win32-x64-msvc',
] as const

export type KeyringSystem = (typeof KEYRING_SYSTEMS)[number]

/** The systems that `npm ci` installed the native code of: this one. */
export function listPresentSystems(): KeyringSystem[] {
  return KEYRING_SYSTEMS.filter((system) => existsSync(toOwnFolder(system)))
}

/**
 * Puts the library into a folder, with the native code of systems: that of this one as `npm ci` installed it, that of
 * others fetched by npm. Returns what the notices say of it. Throws if a package is not the one that package-lock.json
 * names, or may not be shipped.
 */
export function copyKeyringLibrary(
  folder: string,
  systems: readonly KeyringSystem[],
  draft: string,
): BundledPackage[] {
  const own = join(project, 'node_modules', LIBRARY)
  mkdirSync(folder, { recursive: true })
  for (const file of ['index.js', 'package.json']) cpSync(join(own, file), join(folder, file))
  const packages = systems.map((system) => {
    const installed = toOwnFolder(system)
    const from = existsSync(installed) ? installed : fetchPackage(`${LIBRARY}-${system}`, draft)
    const native = readdirSync(from).find((file) => file.endsWith('.node'))
    if (native === undefined) throw new Error(`${LIBRARY}-${system} holds no native code`)
    cpSync(join(from, native), join(folder, native))
    return describeLicences(from)
  })
  return [...packages, describeLoader(own)]
}

function toOwnFolder(system: string): string {
  return join(project, 'node_modules', `${LIBRARY}-${system}`)
}

function describeLoader(folder: string): BundledPackage {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return { name, version, identifier: license, text: readFileSync(join(folder, 'LICENSE'), 'utf8') }
}

/**
 * The licences of what is compiled into the native code: its package lists Rust crates in a table, a C library in a
 * section of its own, and then all of them in full.
 */
function describeLicences(folder: string): BundledPackage {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const text = readFileSync(join(folder, 'LICENSE.third-party.md'), 'utf8')
  const crates = Array.from(
    text.matchAll(/^\| ([\w-]+) \| [\d.]+\S* \| (.+) \|$/gm),
    ([, crate, licence = '']) => ({
      crate,
      licence,
    }),
  )
  const vendored = Array.from(
    text.matchAll(/^`(.+)`, not under the crate license/gm),
    ([, licence = '']) => ({
      crate: 'a C library',
      licence,
    }),
  )
  if (crates.length === 0) throw new Error(`${name} lists no licences of what is compiled into it`)
  const refused = [...crates, ...vendored].filter(({ licence }) => !isAccepted(licence))
  if (refused.length > 0) {
    const list = refused.map(({ crate, licence }) => `${crate} is under ${licence}`)
    throw new Error(`${name} cannot be shipped: ${list.join(', ')}`)
  }
  return { name, version, identifier: license, text }
}
