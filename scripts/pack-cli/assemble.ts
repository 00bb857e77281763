// What is installed: bundles, the built window, the keyring's library, man pages and notices, without sources. The npm package
// (scripts/pack-cli) and the executable (scripts/pack-binary) hold the same files.
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { HELP_TOPICS } from '../../src/main/cli/topics.ts'
import { formatNotices, readPackages } from '../licences.ts'
import { buildForNode, LICENCE_LIST, toSource } from '../main-bundle.ts'
import { copyKeyringLibrary, type KeyringSystem } from './keyring-library.ts'
import { writeManPages } from './man-pages.ts'

const project = resolve(import.meta.dirname, '../..')

/**
 * Fills an empty folder with everything that runs, including the keyring library for the given systems;
 * `draft` is for downloads.
 */
export async function assembleProgram(
  folder: string,
  { systems, draft }: { systems: readonly KeyringSystem[]; draft: string },
): Promise<void> {
  const entries = { installed: toSource('main/cli/installed.ts') }
  await buildForNode(join(folder, 'main'), entries, '../keyring/index.js')
  const keyring = copyKeyringLibrary(join(folder, 'keyring'), systems, draft)
  // Always rebuilt: out/renderer may be built for Electron.
  execFileSync(process.execPath, [join(project, 'scripts/build-renderer.mjs'), join(folder, 'renderer')])
  const lists = ['main', 'renderer'].map((part) => join(folder, part, LICENCE_LIST))
  writeFileSync(join(folder, 'THIRD-PARTY-NOTICES.txt'), formatNotices(readPackages(lists, keyring)))
  for (const list of lists) rmSync(list)
  mkdirSync(join(folder, 'bin'))
  cpSync(join(import.meta.dirname, 'sluice.cjs'), join(folder, 'bin/sluice.cjs'))
  chmodSync(join(folder, 'bin/sluice.cjs'), 0o755)
  for (const { page } of HELP_TOPICS) cpSync(join(project, 'docs', page), join(folder, 'docs', page))
  cpSync(join(project, 'docs/plan.schema.json'), join(folder, 'docs/plan.schema.json'))
  cpSync(join(project, 'LICENSE'), join(folder, 'LICENSE'))
  cpSync(join(import.meta.dirname, 'README.md'), join(folder, 'README.md'))
  const manPages = await writeManPages(join(folder, 'man'))
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(describePackage(manPages), null, 2)}\n`)
}

/**
 * The package.json to publish: what `npm publish` and `npx` need, and the project's page if a workflow packs
 * it.
 */
function describePackage(manPages: readonly string[]) {
  const { name, version, description, keywords, license, author } = JSON.parse(
    readFileSync(join(project, 'package.json'), 'utf8'),
  )
  // npm only accepts provenance if the package names its repository.
  const repository = process.env['GITHUB_REPOSITORY']
  const page = `https://github.com/${repository}`
  return {
    name,
    version,
    description,
    keywords,
    license,
    author,
    ...(repository && {
      homepage: `${page}#readme`,
      repository: { type: 'git', url: `git+${page}.git` },
      bugs: `${page}/issues`,
    }),
    type: 'module',
    bin: { sluice: 'bin/sluice.cjs' },
    // `npm install -g` puts them where man looks.
    man: manPages.map((name) => `man/${name}`),
    engines: { node: '>=24.18' },
    publishConfig: { access: 'public' },
  }
}
