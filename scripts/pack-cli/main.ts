// npm run pack:cli [-- --to FOLDER] [--every-system]: packs the command line as one npm package without
// dependencies, which `npm install -g FILE` installs as `sluice`. Includes the keyring library for this
// system or for every system.
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { runNpm } from '../locked-package.ts'
import { assembleProgram } from './assemble.ts'
import { KEYRING_SYSTEMS, listPresentSystems } from './keyring-library.ts'

// Always a production build, even when a test starts this script.
process.env['NODE_ENV'] = 'production'

const project = resolve(import.meta.dirname, '../..')
const { values } = parseArgs({
  options: {
    to: { type: 'string', default: join(project, 'dist') },
    'every-system': { type: 'boolean', default: false },
  },
})

/** Packs a folder and returns the path of the file. */
function pack(folder: string, target: string): string {
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', target]
  return join(target, basename(runNpm(args, folder).trim()))
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
  const systems = values['every-system'] ? KEYRING_SYSTEMS : listPresentSystems()
  await assembleProgram(folder, { systems, draft: join(aside, 'draft') })
  const target = resolve(values.to)
  mkdirSync(target, { recursive: true })
  const file = pack(folder, target)
  process.stdout.write(
    `${file}: ${toMegabytes(statSync(file).size)}, ${toMegabytes(measureFolder(folder))} when installed\nKeyring of: ${systems.join(', ') || 'no system'}\nTo install it: npm install -g ${file}\n`,
  )
} finally {
  rmSync(aside, { recursive: true, force: true })
}
