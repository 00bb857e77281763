import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buildForNode, toSource } from '../../../scripts/main-bundle.ts'
import { isFresh } from '../../../src/main/web/is-fresh.ts'
import { BUILT_FOLDER, BUNDLED_CLI, PROJECT_FOLDER } from './bundles.ts'

/** Sources of the bundles. */
const COMMAND_CHILD = 'test/helpers/faults/command-child.ts'
const KEPT_THREAD = 'test/helpers/build/kept-thread.ts'
const INGREDIENTS = [
  ...['src/main', 'src/shared', 'scripts/main-bundle.ts', 'package-lock.json'],
  ...[COMMAND_CHILD, KEPT_THREAD],
]

/** Builds the main process's and command line's bundles, unless the last run's are newer than the sources. */
// biome-ignore lint/style/noDefaultExport: Vitest takes a global set-up by its default export
export default async function setUp(): Promise<void> {
  await mkdir(BUILT_FOLDER, { recursive: true })
  // Like the project's own package.json; without it, Node would inspect each file for its module type.
  const about = { name: 'sluice', version: '0.0.0', type: 'module', main: 'desktop/main.js' }
  await writeFile(join(BUILT_FOLDER, 'package.json'), JSON.stringify(about))
  const ingredients = INGREDIENTS.map((path) => join(PROJECT_FOLDER, path))
  if (await isFresh(BUNDLED_CLI, ingredients)) return
  // Built aside and then moved, so that no other test run finds half of them.
  const aside = `${BUILT_FOLDER}-${process.pid}`
  try {
    await buildForNode(join(aside, 'main'), {
      cli: toSource('main/cli/main.ts'),
      'command-child': join(PROJECT_FOLDER, COMMAND_CHILD),
      'kept-thread': join(PROJECT_FOLDER, KEPT_THREAD),
    })
    await rm(join(BUILT_FOLDER, 'main'), { recursive: true, force: true })
    await rename(join(aside, 'main'), join(BUILT_FOLDER, 'main'))
  } finally {
    await rm(aside, { recursive: true, force: true })
  }
}
