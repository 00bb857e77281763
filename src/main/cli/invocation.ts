import { resolve } from 'node:path'

// Not asked of src/main/program-files.ts: tests run the sources, but start bundled threads.
const isBundled = !import.meta.url.endsWith('.ts')

/** What to type before a Sluice command, so that printed commands can be pasted. */
export const COMMAND_PREFIX = isBundled ? 'sluice' : 'npm run -s sluice --'

/** Whether an npm script of this project started the process; npm then changed to the project's folder. */
function isRunByNpm(env: NodeJS.ProcessEnv): boolean {
  // Scripts of the same name in other projects may run the installed command.
  return !isBundled && ['sluice', 'demo'].includes(env['npm_lifecycle_event'] ?? '')
}

/** Absolute path of a file that a person named, relative to the folder where they typed it. */
export function resolveFromCaller(path: string, env: NodeJS.ProcessEnv = process.env): string {
  const folder = isRunByNpm(env) ? (env['INIT_CWD'] ?? process.cwd()) : process.cwd()
  return resolve(folder, path)
}
