import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Plugin } from 'vite'

export const PROJECT_FOLDER = resolve(import.meta.dirname, '../../..')

/** Everything that tests have built. */
export const BUILT_FOLDER = join(PROJECT_FOLDER, 'node_modules/.cache/built')

/**
 * The command line from the product's build. Its threads and processes start in a third of the time that the
 * sources need, and tests start very many.
 */
export const BUNDLED_CLI = join(BUILT_FOLDER, 'main/cli.js')

/** The command line in a process that runs one command after another. */
export const BUNDLED_COMMANDS = join(BUILT_FOLDER, 'main/command-child.js')

/** Makes the tests' engine, which itself runs from sources, start its threads from the bundles. */
export function startThreadsFromBundles(): Plugin {
  const bundle = JSON.stringify(pathToFileURL(join(BUILT_FOLDER, 'main/program-files.js')).href)
  return {
    name: 'start-threads-from-bundles',
    enforce: 'pre',
    transform: {
      filter: { id: /\/src\/main\/program-files\.ts$/ },
      handler: (code) => code.replaceAll('import.meta.url', bundle),
    },
  }
}

/** Lets runs and queries reuse the threads of earlier ones. */
export function keepThreads(): Plugin {
  const kept = JSON.stringify(join(import.meta.dirname, 'kept-worker.ts'))
  return {
    name: 'keep-threads',
    enforce: 'pre',
    transform: {
      filter: { id: /\/src\/main\/engine\/(sending\/sending-thread|query\/stored-runs)\.ts$/ },
      handler: (code) => code.replace("'node:worker_threads'", kept),
    },
  }
}
