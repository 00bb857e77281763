import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { extractFile, getRawHeader, listPackage, statFile } from '@electron/asar'
import { FuseV1Options, getCurrentFuseWire } from '@electron/fuses'
import { parse } from 'yaml'

/** An app that electron-builder packed as a folder. */
export interface PackagedApp {
  system: 'mac' | 'win' | 'linux'
  /** The program to start. */
  program: string
  /** The folder that holds `app.asar`. */
  resources: string
}

/** Finds the app in a folder that electron-builder made, such as `dist/linux-unpacked`. Throws if there is none. */
export function findPackagedApp(folder: string): PackagedApp {
  const mac = join(folder, 'Sluice.app', 'Contents')
  const candidates: PackagedApp[] = [
    { system: 'mac', program: join(mac, 'MacOS', 'Sluice'), resources: join(mac, 'Resources') },
    { system: 'win', program: join(folder, 'Sluice.exe'), resources: join(folder, 'resources') },
    { system: 'linux', program: join(folder, 'sluice-desktop'), resources: join(folder, 'resources') },
  ]
  const found = candidates.find(({ program }) => existsSync(program))
  if (found === undefined) throw new Error(`${folder} holds no packaged Sluice`)
  return found
}

/** The names of the fuses in `electron-builder.yml`, by their position in the fuse wire. */
function toBuilderName(fuse: FuseV1Options): string {
  const name = FuseV1Options[fuse] ?? ''
  return `${name.charAt(0).toLowerCase()}${name.slice(1)}`
}

// The byte of an enabled fuse.
const FUSE_ON = '1'.charCodeAt(0)

/** The state of each fuse in the program, by the names of `electron-builder.yml`. */
export async function readFuses({ program }: PackagedApp): Promise<Record<string, boolean>> {
  const wire = await getCurrentFuseWire(program)
  const fuses: Record<string, boolean> = {}
  for (const [fuse, state] of Object.entries(wire)) {
    const known = FuseV1Options[Number(fuse)]
    if (known !== undefined) fuses[toBuilderName(Number(fuse))] = Number(state) === FUSE_ON
  }
  return fuses
}

/** The files inside `app.asar`, with `/` in their paths. */
export function listFiles({ resources }: PackagedApp): string[] {
  const archive = join(resources, 'app.asar')
  return listPackage(archive, { isPack: false })
    .map((path) => path.replaceAll('\\', '/').replace(/^\//, ''))
    .filter((path) => !('files' in statFile(archive, path)))
    .toSorted()
}

/** Files inside `app.asar` whose bytes do not match the archive's own list of hashes. */
function findChangedFiles(app: PackagedApp): string[] {
  const archive = join(app.resources, 'app.asar')
  return listFiles(app).filter((path) => {
    const entry = statFile(archive, path)
    const promised = 'integrity' in entry ? entry.integrity.hash : null
    return createHash('sha256').update(extractFile(archive, path)).digest('hex') !== promised
  })
}

/** The hash of the hash list in `app.asar`, which Electron compares at start. */
function hashArchiveHeader({ resources }: PackagedApp): string {
  const { headerString } = getRawHeader(join(resources, 'app.asar'))
  return createHash('sha256').update(headerString).digest('hex')
}

/** The hash of `app.asar` that the program expects; null on Linux, where Electron checks none. */
export function readExpectedHash({ system, program, resources }: PackagedApp): string | null {
  if (system === 'linux') return null
  if (system === 'mac') {
    const plist = readFileSync(join(resources, '..', 'Info.plist'), 'utf8')
    const integrity = plist.slice(plist.indexOf('<key>ElectronAsarIntegrity</key>'))
    return (
      /<key>Resources\/app\.asar<\/key>[\s\S]*?<key>hash<\/key>\s*<string>([0-9a-f]{64})</.exec(
        integrity,
      )?.[1] ?? ''
    )
  }
  // On Windows it is JSON in the program's resources.
  const bytes = readFileSync(program, 'latin1')
  const listed = /\[\{"file":"resources\\\\app\.asar","alg":"SHA256","value":"([0-9a-f]{64})"/.exec(bytes)
  return listed?.[1] ?? ''
}

/** Files that no other file names: Electron, whatever starts a thread, or a person opens them. */
const ENTRIES = [
  'package.json',
  'out/THIRD-PARTY-NOTICES.txt',
  'out/main/main.js',
  'out/main/run-worker.js',
  'out/main/load-worker.js',
  'out/main/sent-before-worker.js',
  'out/main/query-worker.js',
  'out/main/receiver-worker.js',
  'out/main/sandbox-worker.js',
  'out/main/sql-process.js',
  'out/main/sample.csv',
  'out/main/async-sample.csv',
  'out/main/terms-sample.csv',
  'out/preload/preload.cjs',
  'out/renderer/index.html',
] as const

/**
 * The given built files that the installed app can reach from its entries, by files that name each other.
 * `read` returns the text of a file.
 */
function findReachable(files: readonly string[], read: (path: string) => string): string[] {
  const reached = new Set<string>(ENTRIES)
  for (const path of reached) {
    if (!/\.(js|cjs|html|css)$/.test(path)) continue
    const text = read(path)
    for (const other of files) if (!reached.has(other) && text.includes(basename(other))) reached.add(other)
  }
  return [...reached].toSorted()
}

/** Files beside `app.asar`: the system's own and the update settings. */
const BESIDE =
  /^(app-update\.yml|elevate\.exe|icon\.icns|electron\.icns|[\w-]+\.lproj|apparmor-profile|package-type)$/

/** All faults of a packaged app, as sentences; `configFile` is the `electron-builder.yml` used to pack it. */
export async function checkPackagedApp(app: PackagedApp, configFile: string): Promise<string[]> {
  const problems: string[] = []
  const { electronFuses }: { electronFuses: Record<string, boolean> } = parse(
    readFileSync(configFile, 'utf8'),
  )
  const fuses = await readFuses(app)
  for (const [name, wanted] of Object.entries(electronFuses)) {
    if (name in fuses && fuses[name] !== wanted)
      problems.push(`fuse ${name} is ${fuses[name]}, not ${wanted}`)
    if (!(name in fuses)) problems.push(`fuse ${name} is missing`)
  }

  const files = listFiles(app)
  const archive = join(app.resources, 'app.asar')
  const reachable = findReachable(files, (path) =>
    files.includes(path) ? extractFile(archive, path).toString('utf8') : '',
  )
  problems.push(
    ...reachable.filter((path) => !files.includes(path)).map((path) => `app.asar lacks ${path}`),
    ...files
      .filter((path) => !reachable.includes(path))
      .map((path) => `app.asar holds ${path}, which nothing uses`),
    ...findChangedFiles(app).map((path) => `app.asar holds ${path} with other bytes than its hash says`),
  )
  const expected = readExpectedHash(app)
  const actual = hashArchiveHeader(app)
  if (expected !== null && expected !== actual) {
    problems.push(`the program expects app.asar with the hash ${expected || '(none)'}, and it has ${actual}`)
  }
  const beside = readdirSync(app.resources).filter((name) => name !== 'app.asar' && !BESIDE.test(name))
  problems.push(...beside.map((name) => `${name} stands beside app.asar`))
  return problems
}

/** The total size of all files below a folder, bytes. */
export function measureFolder(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile())
  return files.reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
}
