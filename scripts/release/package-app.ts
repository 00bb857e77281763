// npm run package -- [--dir]: packs the built app for this system, as installers or, with --dir, as a folder only.
// Signs and notarises if the environment holds the credentials (docs/releasing.md), else packs an app that is plainly
// unsigned. Publishes nothing.
import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { build, type CliOptions, Platform } from 'electron-builder'
import { toPackaging } from './packaging.ts'

const PROJECT_FOLDER = join(import.meta.dirname, '../..')

const { env, platform } = process
const options = process.argv.slice(2)
if (options.some((option) => option !== '--dir')) {
  process.stderr.write('usage: npm run package -- [--dir]\n')
  process.exit(2)
}
if (!existsSync(join(PROJECT_FOLDER, 'out/main/main.js'))) {
  process.stderr.write('package: out/main/main.js is missing. Run npm run build first.\n')
  process.exit(2)
}

const { config, isSigned, reason } = toPackaging(platform, env)
process.stdout.write(`package: ${isSigned ? 'signed' : `not signed: ${reason}`}\n`)
const cliOptions: CliOptions = { projectDir: PROJECT_FOLDER, publish: 'never', config }
if (options.includes('--dir')) cliOptions.targets = Platform.current().createTarget('dir')
for (const file of await build(cliOptions)) process.stdout.write(`${file}\n`)
// The next step of the workflow checks the signatures, or that there are none.
if (env['GITHUB_OUTPUT']) appendFileSync(env['GITHUB_OUTPUT'], `signed=${isSigned}\n`)
