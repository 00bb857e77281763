import { resolve } from 'node:path'

// Tests run the sources and start threads of bundles, so this is not asked of src/main/program-files.ts.
const isBundled = !import.meta.url.endsWith('.ts')

/** What to type before a command of ours, so that a line we print can be pasted. */
export const COMMAND_PREFIX = isBundled ? 'sluice' : 'npm run -s sluice --'

/** Whether an npm script of this project started the process; npm then changed the folder to the project's. */
function isRunByNpm(env: NodeJS.ProcessEnv): boolean {
  // The installed command may be run by a script of this name in any project.
  return !isBundled && ['sluice', 'demo'].includes(env['npm_lifecycle_event'] ?? '')
}

/** Absolute path of a file the person named, relative to the folder they stood in when they typed it. */
export function resolveFromCaller(path: string, env: NodeJS.ProcessEnv = process.env): string {
  const folder = isRunByNpm(env) ? (env['INIT_CWD'] ?? process.cwd()) : process.cwd()
  return resolve(folder, path)
}
