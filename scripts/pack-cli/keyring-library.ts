// The keyring's library inside the package: its loader, and native code for each system. The loader looks for the native
// code next to itself first, so nothing has to be resolved or fetched where the package is installed.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { type BundledPackage, isAccepted } from '../licences.ts'

const project = resolve(import.meta.dirname, '../..')
const LIBRARY = '@napi-rs/keyring'

/** The systems whose keyring a package for everybody can use, as the library calls them. */
const SYSTEMS = [
  'darwin-arm64',
  'darwin-x64',
  'linux-arm64-gnu',
  'linux-arm64-musl',
  'linux-x64-gnu',
  'linux-x64-musl',
  'win32-arm64-msvc',
  'win32-x64-msvc',
]

/** What a package of the lock file is. */
interface LockedPackage {
  version: string
  integrity: string
}

/** What was put into the folder. */
interface CopiedLibrary {
  systems: string[]
  /** For the notices. */
  packages: BundledPackage[]
}

/**
 * Puts the library into a folder: for this system as `npm ci` installed it, or for every system, which fetches the native
 * code of the others by npm. Throws where a package is not the one that package-lock.json names, or may not be shipped.
 */
export function copyKeyringLibrary(
  folder: string,
  options: { everySystem: boolean; draft: string },
): CopiedLibrary {
  const own = join(project, 'node_modules', LIBRARY)
  mkdirSync(folder, { recursive: true })
  for (const file of ['index.js', 'package.json']) cpSync(join(own, file), join(folder, file))
  const present = SYSTEMS.filter((system) => existsSync(toOwnFolder(system)))
  const systems = options.everySystem ? SYSTEMS : present
  const packages = systems.map((system) => {
    const from = present.includes(system) ? toOwnFolder(system) : fetchPackage(system, options.draft)
    const native = readdirSync(from).find((file) => file.endsWith('.node'))
    if (native === undefined) throw new Error(`${LIBRARY}-${system} holds no native code`)
    cpSync(join(from, native), join(folder, native))
    return describeLicences(from)
  })
  return { systems, packages: [...packages, describeLoader(own)] }
}

function toOwnFolder(system: string): string {
  return join(project, 'node_modules', `${LIBRARY}-${system}`)
}

/** Fetches a package of the lock file, and compares it with the hash there. */
function fetchPackage(system: string, draft: string): string {
  const name = `${LIBRARY}-${system}`
  const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'))
  const locked: LockedPackage | undefined = lock.packages[`node_modules/${name}`]
  if (locked === undefined) throw new Error(`package-lock.json does not name ${name}`)
  const folder = join(draft, system)
  mkdirSync(folder, { recursive: true })
  const fetched = runNpm(['pack', `${name}@${locked.version}`, '--silent', '--pack-destination', folder])
  const file = join(folder, fetched.trim().split('\n').at(-1) ?? '')
  const hash = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
  if (hash !== locked.integrity) throw new Error(`${name} is not the package that package-lock.json names`)
  execFileSync('tar', ['-xzf', file, '-C', folder])
  return join(folder, 'package')
}

function runNpm(args: string[]): string {
  const npm = process.env['npm_execpath']
  const options = { cwd: project, encoding: 'utf8' } as const
  return npm === undefined
    ? execFileSync('npm', args, { ...options, shell: process.platform === 'win32' })
    : execFileSync(process.execPath, [npm, ...args], options)
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
