import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Electron's program on this machine and its version (`unknown` if its files do not say), or why it cannot be
 * used.
 */
export type FoundElectron = { program: string; version: string } | { why: string }

/**
 * Finds Electron in its package's folder or in `ELECTRON_OVERRIDE_DIST_PATH`. On Linux it also needs a
 * display. Does not load the package, because that would download Electron.
 */
export function findElectron(
  packageFolder: string,
  env: NodeJS.ProcessEnv,
  platform: NodeJS.Platform = process.platform,
): FoundElectron {
  const program = findProgram(packageFolder, env)
  if (program === null) return { why: 'Electron is not on this machine (npx install-electron gets it)' }
  const hasDisplay = platform !== 'linux' || Boolean(env['DISPLAY'] || env['WAYLAND_DISPLAY'])
  return hasDisplay
    ? { program, version: readVersion(program) }
    : { why: 'There is no display for a window (xvfb-run provides one)' }
}

function findProgram(packageFolder: string, env: NodeJS.ProcessEnv): string | null {
  const pathFile = join(packageFolder, 'path.txt')
  const name = existsSync(pathFile) ? readFileSync(pathFile, 'utf8').trim() : ''
  const override = env['ELECTRON_OVERRIDE_DIST_PATH'] ?? ''
  if (override === '' && name === '') return null
  const program =
    override === '' ? join(packageFolder, 'dist', name) : join(override, name === '' ? 'electron' : name)
  return existsSync(program) ? program : null
}

/**
 * The version from a file at the top of the distribution; on macOS the program is deep inside an app bundle.
 */
function readVersion(program: string): string {
  const [top = ''] = program.split(/[\\/](?:Electron\.app[\\/]|[^\\/]+$)/)
  const file = join(top, 'version')
  return existsSync(file) ? readFileSync(file, 'utf8').trim().replace(/^v/, '') : 'unknown'
}
