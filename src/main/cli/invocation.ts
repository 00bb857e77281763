import { resolve } from 'node:path'
import { IS_BUNDLED } from '../program-files.ts'

/** What to type before a command of ours, so that a line we print can be pasted. */
export const COMMAND_PREFIX = IS_BUNDLED ? 'sluice' : 'npm run -s sluice --'

/** Whether an npm script of this project started the process; npm then changed the folder to the project's. */
function isRunByNpm(env: NodeJS.ProcessEnv): boolean {
  // The installed command may be run by a script of this name in any project.
  return !IS_BUNDLED && ['sluice', 'demo'].includes(env['npm_lifecycle_event'] ?? '')
}

/** Absolute path of a file the person named, relative to the folder they stood in when they typed it. */
export function resolveFromCaller(path: string, env: NodeJS.ProcessEnv = process.env): string {
  const folder = isRunByNpm(env) ? (env['INIT_CWD'] ?? process.cwd()) : process.cwd()
  return resolve(folder, path)
}
