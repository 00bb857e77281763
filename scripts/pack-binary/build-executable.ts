import { execFileSync, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { PackedProgram } from '../../src/main/cli/unpack-program.ts'
import { buildExecutableEntry } from '../main-bundle.ts'
import { BLOB, FUSE, readExecutableFormat, removeWindowsSignature } from './executable-format.ts'
import type { Target } from './targets.ts'

/** Inputs and output of an executable. */
export interface ExecutableParts {
  target: Target
  /** The folder with the files of the installed command. */
  program: string
  /** The Node to inject into, and a Node of the same version that runs on this machine. */
  node: string
  builder: string
  /** An empty folder for intermediate files. */
  draft: string
  to: string
}

/**
 * Writes one program with Node and all files of the command line, as a Node single executable application
 * (docs/decisions/0029). Throws if the result does not have the target's format.
 */
export async function buildExecutable({ target, program, node, builder, draft, to }: ExecutableParts) {
  const blob = await buildBlob(program, builder, draft)
  mkdirSync(dirname(to), { recursive: true })
  writeFileSync(to, removeWindowsSignature(readFileSync(node)))
  chmodSync(to, 0o755)
  injectBlob(to, blob, target)
  // Apple silicon refuses unsigned programs, and signing for macOS only works on macOS.
  if (target.system === 'mac' && process.platform === 'darwin') execFileSync('codesign', ['--sign', '-', to])
  const { system, processor, holdsProgram } = readExecutableFormat(readFileSync(to))
  if (system !== target.system || processor !== target.processor || !holdsProgram) {
    throw new Error(
      `${to} is for ${system} on ${processor}, ${holdsProgram ? 'and' : 'but not'} with our files`,
    )
  }
}

/** Injects the blob. The tool's warnings about unknown sections are shown only if it fails. */
function injectBlob(to: string, blob: string, { system }: Target): void {
  const tool = fileURLToPath(import.meta.resolve('postject/dist/cli.js'))
  const segment = system === 'mac' ? ['--macho-segment-name', 'NODE_SEA'] : []
  const args = [tool, to, BLOB, blob, '--sentinel-fuse', FUSE, ...segment]
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`nothing could be put into ${to}:\n${stdout}${stderr}`)
}

/** The blob of an executable: its entry, every file of the program, and a list of them. */
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
      // Both depend on the system that builds.
      useSnapshot: false,
      useCodeCache: false,
      // NODE_OPTIONS and arguments must not reach Node.
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
