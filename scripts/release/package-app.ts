// npm run package -- [--dir | --update-trial]: packs the built app for this system: as installers, with --dir
// as a folder only, or with --update-trial as the one installer that release:try-update needs.
// Signs and notarises if the environment has the credentials (docs/releasing.md); otherwise the app is
// unsigned. Publishes nothing.
import { appendFileSync, existsSync } from 'node:fs'
import { join } from 'node:path'
import { Arch, build, type CliOptions, Platform } from 'electron-builder'
import { toPackaging, toUpdateTrial } from './packaging.ts'

const PROJECT_FOLDER = join(import.meta.dirname, '../..')

const { env, platform } = process
const options = process.argv.slice(2)
if (options.length > 1 || options.some((option) => option !== '--dir' && option !== '--update-trial')) {
  process.stderr.write('usage: npm run package -- [--dir | --update-trial]\n')
  process.exit(2)
}
if (!existsSync(join(PROJECT_FOLDER, 'out/main/main.js'))) {
  process.stderr.write('package: out/main/main.js is missing. Run npm run build first.\n')
  process.exit(2)
}

const isTrial = options.includes('--update-trial')
const asReleased = toPackaging(platform, env)
const { config, isSigned, reason } = isTrial ? toUpdateTrial(asReleased) : asReleased
process.stdout.write(`package: ${isSigned ? 'signed' : `not signed: ${reason}`}\n`)
const cliOptions: CliOptions = { projectDir: PROJECT_FOLDER, publish: 'never', config }
if (options.includes('--dir')) cliOptions.targets = Platform.current().createTarget('dir')
if (isTrial) {
  const target = platform === 'win32' ? 'nsis' : 'AppImage'
  cliOptions.targets = Platform.current().createTarget(
    target,
    process.arch === 'arm64' ? Arch.arm64 : Arch.x64,
  )
}
for (const file of await build(cliOptions)) process.stdout.write(`${file}\n`)
// The workflow's next step checks the signatures, or that there are none.
if (env['GITHUB_OUTPUT']) appendFileSync(env['GITHUB_OUTPUT'], `signed=${isSigned}\n`)
