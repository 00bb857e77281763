import { createHash } from 'node:crypto'

/** A package in `package-lock.json`, keyed by its folder. */
interface LockedPackage {
  version: string
  integrity?: string
  license?: string
  dev?: boolean
  optional?: boolean
  devOptional?: boolean
  dependencies?: Record<string, string>
}

/** The parts of a `package-lock.json` that are read here. */
export interface PackageLock {
  name: string
  version: string
  packages: Record<string, LockedPackage>
}

const NODE_MODULES = 'node_modules/'

// A development dependency for npm, but an installed Sluice runs in it: it contains Chromium and Node.
const ELECTRON = `${NODE_MODULES}electron`

/** Native code in the command line's package, one for each system; npm installs only this system's. */
const KEYRINGS = `${NODE_MODULES}@napi-rs/keyring-`

function toName(path: string): string {
  return path.slice(path.lastIndexOf(NODE_MODULES) + NODE_MODULES.length)
}

function isShipped(path: string, { dev, optional, devOptional }: LockedPackage): boolean {
  return path === ELECTRON || path.startsWith(KEYRINGS) || (path !== '' && !dev && !optional && !devOptional)
}

/** The folder in which Node finds a package that the package in the folder `from` requires. */
function resolvePackage(packages: PackageLock['packages'], from: string, name: string): string | null {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf(`/${NODE_MODULES}`)))) {
    const path = `${folder === '' ? '' : `${folder}/`}${NODE_MODULES}${name}`
    if (packages[path] !== undefined) return path
    if (folder === '') return null
  }
}

function toComponent(path: string, { version, integrity, license }: LockedPackage) {
  const name = toName(path)
  const hash = /^sha512-(.+)$/.exec(integrity ?? '')?.[1]
  if (hash === undefined || license === undefined) {
    throw new Error(`package-lock.json has no SHA-512 or no license for ${path}`)
  }
  return {
    'bom-ref': path,
    type: path === ELECTRON ? 'framework' : 'library',
    name,
    version,
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
    hashes: [{ alg: 'SHA-512', content: Buffer.from(hash, 'base64').toString('hex') }],
    licenses: [{ expression: license }],
  }
}

/** A UUID derived from a text, so that repeated builds give the same file. */
function toSerialNumber(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex')
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    `8${hex.slice(17, 20)}`,
    hex.slice(20, 32),
  ]
  return `urn:uuid:${parts.join('-')}`
}

/**
 * The CycloneDX document of everything an installed Sluice may contain: the locked packages in the bundles,
 * the keyring's native code, and Electron. It omits tools and the packages that supply Node to the scripts,
 * which are not shipped. `npm sbom` does not fit, because it omits packages that tools need as well.
 */
export function writeBillOfMaterials({ name, version, packages }: PackageLock): string {
  const shipped = Object.entries(packages).filter(([path, one]) => isShipped(path, one))
  const isListed = new Set(shipped.map(([path]) => path))
  const listNeeded = (path: string, needed: string[]) =>
    needed
      .map((one) => resolvePackage(packages, path, one))
      .filter((one) => one !== null && isListed.has(one))
  const root = `pkg:npm/${name}@${version}`
  const bom = {
    $schema: 'http://cyclonedx.org/schema/bom-1.6.schema.json',
    bomFormat: 'CycloneDX',
    specVersion: '1.6',
    serialNumber: toSerialNumber(JSON.stringify([root, shipped])),
    version: 1,
    metadata: { component: { 'bom-ref': root, type: 'application', name, version, purl: root } },
    components: shipped.map(([path, one]) => toComponent(path, one)),
    dependencies: [
      {
        ref: root,
        dependsOn: listNeeded('', [...Object.keys(packages['']?.dependencies ?? {}), 'electron']),
      },
      ...shipped.map(([path, one]) => ({
        ref: path,
        // Electron's package needs others only to download its program, and only the program is shipped.
        dependsOn: path === ELECTRON ? [] : listNeeded(path, Object.keys(one.dependencies ?? {})),
      })),
    ],
  }
  return `${JSON.stringify(bom, null, 2)}\n`
}
