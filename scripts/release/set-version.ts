// npm run release:set-version -- VERSION: writes a version to package.json, package-lock.json and src/shared/version.ts.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const PROJECT_FOLDER = join(import.meta.dirname, '../..')
const SOURCE = join(PROJECT_FOLDER, 'src/shared/version.ts')

const [version = '', ...others] = process.argv.slice(2)
const npm = process.env['npm_execpath']
if (!/^\d+\.\d+\.\d+$/.test(version) || others.length > 0 || npm === undefined) {
  process.stderr.write('usage: npm run release:set-version -- VERSION\n')
  process.exit(2)
}
const args = [npm, 'version', version, '--no-git-tag-version', '--allow-same-version', '--ignore-scripts']
execFileSync(process.execPath, args, { cwd: PROJECT_FOLDER, stdio: ['ignore', 'ignore', 'inherit'] })
const source = readFileSync(SOURCE, 'utf8')
writeFileSync(SOURCE, source.replace(/(APP_VERSION = ')[^']+/, `$1${version}`))
process.stdout.write(`${version}\n`)
