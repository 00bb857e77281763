// The keyring library inside the package: its loader and the native code for each system. The loader first
// looks for native code beside itself, so installing the package resolves and fetches nothing.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type BundledPackage, isAccepted } from '../licences.ts'
import { fetchPackage } from '../locked-package.ts'

const project = resolve(import.meta.dirname, '../..')
const LIBRARY = '@napi-rs/keyring'

/** The systems with keyring support in a package for all systems, by the library's names. */
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

/** The systems whose native code `npm ci` installed: this one. */
export function listPresentSystems(): KeyringSystem[] {
  return KEYRING_SYSTEMS.filter((system) => existsSync(toOwnFolder(system)))
}

/**
 * Copies the library into a folder with native code for the given systems: this system's as `npm ci`
 * installed it, the others fetched by npm. Returns its entries for the notices. Throws if a package differs
 * from package-lock.json or may not be shipped.
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
 * The licences of code compiled into the native library. Its package lists Rust crates in a table and a C
 * library in its own section, followed by the full texts.
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
