import { resolve } from 'node:path'

/** Whether an npm script of this project started the process; npm then changed the folder to the project's. */
function isRunByNpm(env: NodeJS.ProcessEnv): boolean {
  return env['npm_lifecycle_event'] === 'sluice' || env['npm_lifecycle_event'] === 'demo'
}

/** Absolute path of a file the person named, relative to the folder they stood in when they typed it. */
export function resolveFromCaller(path: string, env: NodeJS.ProcessEnv = process.env): string {
  const folder = isRunByNpm(env) ? (env['INIT_CWD'] ?? process.cwd()) : process.cwd()
  return resolve(folder, path)
}

/** What to type before a command of ours, so that a line we print can be pasted. */
export const COMMAND_PREFIX = 'npm run -s sluice --'
