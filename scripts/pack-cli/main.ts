// npm run pack:cli [-- --to FOLDER] [--every-system]: the command line as one npm package, which `npm install -g FILE`
// installs as `sluice`. It holds bundles, the built window, the keyring's library (for this system, or for every one) and
// their notices: no sources, and nothing to fetch.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { HELP_TOPICS } from '../../src/main/cli/topics.ts'
import { formatNotices, readPackages } from '../licences.ts'
import { buildForNode, LICENCE_LIST, toSource } from '../main-bundle.ts'
import { copyKeyringLibrary } from './keyring-library.ts'

// Whoever starts this, tests among them, gets what is shipped.
process.env['NODE_ENV'] = 'production'

const project = resolve(import.meta.dirname, '../..')
const { values } = parseArgs({
  options: {
    to: { type: 'string', default: join(project, 'dist') },
    'every-system': { type: 'boolean', default: false },
  },
})

/** Puts everything that runs into an empty folder. */
async function assemble(folder: string, draft: string): Promise<string[]> {
  const entries = { installed: toSource('main/cli/installed.ts') }
  await buildForNode(join(folder, 'main'), entries, '../keyring/index.js')
  const everySystem = values['every-system']
  const keyring = copyKeyringLibrary(join(folder, 'keyring'), { everySystem, draft })
  // Always anew: what is in out/renderer may be built for Electron.
  execFileSync(process.execPath, [join(project, 'scripts/build-renderer.mjs'), join(folder, 'renderer')])
  const lists = ['main', 'renderer'].map((part) => join(folder, part, LICENCE_LIST))
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), formatNotices(readPackages(lists, keyring.packages)))
  for (const list of lists) rmSync(list)
  mkdirSync(join(folder, 'bin'))
  cpSync(join(import.meta.dirname, 'sluice.cjs'), join(folder, 'bin/sluice.cjs'))
  chmodSync(join(folder, 'bin/sluice.cjs'), 0o755)
  for (const { page } of HELP_TOPICS) cpSync(join(project, 'docs', page), join(folder, 'docs', page))
  cpSync(join(project, 'docs/plan.schema.json'), join(folder, 'docs/plan.schema.json'))
  cpSync(join(project, 'LICENSE'), join(folder, 'LICENSE'))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(describePackage(), null, 2)}\n`)
  return keyring.systems
}

function describePackage() {
  const { name, version, description, license, author } = JSON.parse(
    readFileSync(join(project, 'package.json'), 'utf8'),
  )
  return {
    name,
    version,
    description,
    license,
    author,
    private: true,
    type: 'module',
    bin: { sluice: 'bin/sluice.cjs' },
    engines: { node: '>=24.18' },
  }
}

/** Packs a folder with the npm that runs this script, or else the one on the PATH; the file's path. */
function pack(folder: string, target: string): string {
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', target]
  const npm = process.env['npm_execpath']
  const { status, stdout, stderr } =
    npm === undefined
      ? spawnSync('npm', args, { cwd: folder, encoding: 'utf8', shell: process.platform === 'win32' })
      : spawnSync(process.execPath, [npm, ...args], { cwd: folder, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm pack failed:\n${stdout ?? ''}${stderr ?? ''}`)
  return join(target, basename(stdout.trim()))
}

function measureFolder(folder: string): number {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0)
}

const toMegabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

const aside = mkdtempSync(join(tmpdir(), 'sluice-pack-'))
const folder = join(aside, 'package')
try {
  mkdirSync(folder)
  const systems = await assemble(folder, join(aside, 'draft'))
  const target = resolve(values.to)
  mkdirSync(target, { recursive: true })
  const file = pack(folder, target)
  process.stdout.write(
    `${file}: ${toMegabytes(statSync(file).size)}, ${toMegabytes(measureFolder(folder))} when installed\nKeyring of: ${systems.join(', ') || 'no system'}\nTo install it: npm install -g ${file}\n`,
  )
} finally {
  rmSync(aside, { recursive: true, force: true })
}
