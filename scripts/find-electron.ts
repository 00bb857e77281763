import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Path of Electron's own program below its package's folder, or where `ELECTRON_OVERRIDE_DIST_PATH` says; null where it
 * is not on this machine. The package itself is not loaded: that would download it.
 */
export function findElectron(packageFolder: string, env: NodeJS.ProcessEnv): string | null {
  const pathFile = join(packageFolder, 'path.txt')
  const name = existsSync(pathFile) ? readFileSync(pathFile, 'utf8').trim() : ''
  const override = env['ELECTRON_OVERRIDE_DIST_PATH'] ?? ''
  if (override === '' && name === '') return null
  const program =
    override === '' ? join(packageFolder, 'dist', name) : join(override, name === '' ? 'electron' : name)
  return existsSync(program) ? program : null
}
