// Packages for other systems, which `npm ci` leaves out: npm fetches them, and package-lock.json verifies
// them.
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const project = resolve(import.meta.dirname, '..')

/** A version of a package and the hash that the registry must serve. */
export interface LockedPackage {
  version: string
  integrity: string
}

/** The entry of a package in package-lock.json. Throws if there is none. */
export function findLocked(name: string): LockedPackage {
  const lock = JSON.parse(readFileSync(join(project, 'package-lock.json'), 'utf8'))
  const locked: LockedPackage | undefined = lock.packages[`node_modules/${name}`]
  if (locked === undefined) throw new Error(`package-lock.json does not name ${name}`)
  return locked
}

/** Fetches a package into a folder of its own below `draft`. Throws if its hash differs. */
export function fetchPackage(name: string, draft: string, locked = findLocked(name)): string {
  const folder = join(draft, `${name.replaceAll('/', '-')}-${locked.version}`)
  mkdirSync(folder, { recursive: true })
  const fetched = runNpm(['pack', `${name}@${locked.version}`, '--silent', '--pack-destination', folder])
  const file = join(folder, fetched.trim().split('\n').at(-1) ?? '')
  const hash = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
  if (hash !== locked.integrity)
    throw new Error(`${name} ${locked.version} has another hash than was recorded`)
  execFileSync('tar', ['-xzf', file, '-C', folder])
  return join(folder, 'package')
}

/** The output of npm: of the npm that runs this script, otherwise of the one on the PATH. */
export function runNpm(args: readonly string[], cwd = project): string {
  const npm = process.env['npm_execpath']
  const options = { cwd, encoding: 'utf8' } as const
  return npm === undefined
    ? execFileSync('npm', args, { ...options, shell: process.platform === 'win32' })
    : execFileSync(process.execPath, [npm, ...args], options)
}
