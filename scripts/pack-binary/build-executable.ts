import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PackedProgram } from '../../src/main/cli/unpack-program.ts'
import { buildExecutableEntry } from '../main-bundle.ts'
import { BLOB, FUSE, readExecutableFormat, removeWindowsSignature } from './executable-format.ts'
import type { Target } from './targets.ts'

/** What an executable is made of, and where it goes. */
export interface ExecutableParts {
  target: Target
  /** The folder of the installed command's files. */
  program: string
  /** The Node that goes into it, and one of the same version that runs here. */
  node: string
  builder: string
  /** An empty folder for what is made on the way. */
  draft: string
  to: string
}

/**
 * Writes one program that holds Node and all files of the command line, by Node's own single executable applications
 * (docs/decisions/0029). Throws if what came out is not what the target asks for.
 */
export async function buildExecutable({ target, program, node, builder, draft, to }: ExecutableParts) {
  const blob = await buildBlob(program, builder, draft)
  mkdirSync(dirname(to), { recursive: true })
  writeFileSync(to, removeWindowsSignature(readFileSync(node)))
  chmodSync(to, 0o755)
  injectBlob(to, blob, target)
  // Apple silicon starts nothing unsigned, and nobody can sign for macOS elsewhere.
  if (target.system === 'mac' && process.platform === 'darwin') execFileSync('codesign', ['--sign', '-', to])
  const { system, processor, holdsProgram } = readExecutableFormat(readFileSync(to))
  if (system !== target.system || processor !== target.processor || !holdsProgram) {
    throw new Error(
      `${to} is for ${system} on ${processor}, ${holdsProgram ? 'and' : 'but not'} with our files`,
    )
  }
}

/** What the injecting library says of sections that it does not know is kept for when it fails. */
function injectBlob(to: string, blob: string, { system }: Target): void {
  const tool = fileURLToPath(import.meta.resolve('postject/dist/cli.js'))
  const segment = system === 'mac' ? ['--macho-segment-name', 'NODE_SEA'] : []
  const args = [tool, to, BLOB, blob, '--sentinel-fuse', FUSE, ...segment]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`nothing could be put into ${to}:\n${stdout}${stderr}`)
}

/** The file of what goes into an executable: its entry, every file of the program, and a list of them. */
async function buildBlob(program: string, builder: string, draft: string): Promise<string> {
  const paths = readdirSync(program, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(program, join(parentPath, name)).replaceAll(sep, '/'))
    .toSorted()
  const hash = createHash('sha256')
  const files = paths.map((path) => {
    const bytes = readFileSync(join(program, path))
    hash.update(`${path}\0${bytes.length}\0`).update(bytes)
    return { path, sizeBytes: bytes.length }
  })
  const list = join(draft, 'program.json')
  writeFileSync(list, JSON.stringify({ hash: hash.digest('hex'), files } satisfies PackedProgram))
  const output = join(draft, 'program.blob')
  const config = join(draft, 'sea.json')
  writeFileSync(
    config,
    JSON.stringify({
      main: await buildExecutableEntry(draft),
      output,
      disableExperimentalSEAWarning: true,
      // Both belong to the system that builds.
      useSnapshot: false,
      useCodeCache: false,
      // Whatever stands in NODE_OPTIONS or in arguments is none of Node's.
      execArgvExtension: 'none',
      assets: Object.fromEntries([
        ['program.json', list],
        ...paths.map((path) => [path, join(program, path)]),
      ]),
    }),
  )
  const { status, stderr } = spawnSync(builder, ['--experimental-sea-config', config], { encoding: 'utf8' })
  if (status !== 0 || !existsSync(output)) throw new Error(`${builder} made no blob:\n${stderr}`)
  return output
}
