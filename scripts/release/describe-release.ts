// npm run release:describe -- FOLDER: adds to a folder of installers the update feeds, a bill of materials,
// and SHA256SUMS over all files. If GITHUB_REPOSITORY is set, as in a workflow, also adds the files for
// package managers.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type PackageLock, writeBillOfMaterials } from './bill-of-materials.ts'
import { writeManifests } from './package-manifests.ts'
import { hashFile, readInstallers } from './release-files.ts'
import { writeUpdateFeeds } from './update-feeds.ts'

const PROJECT_FOLDER = join(import.meta.dirname, '../..')

const hashInHex = async (file: string) => (await hashFile(file, 'sha256')).toString('hex')

async function describeRelease(folder: string, repository: string | undefined): Promise<string[]> {
  const lock: PackageLock = JSON.parse(readFileSync(join(PROJECT_FOLDER, 'package-lock.json'), 'utf8'))
  const { version } = lock
  const installers = await readInstallers(folder, version)
  const now = new Date().toISOString()
  const released = readdirSync(folder)
  const hashes = new Map(
    await Promise.all(released.map(async (name) => [name, await hashInHex(join(folder, name))] as const)),
  )
  const sha256 = (name: string) => hashes.get(name) ?? ''
  const date = now.slice(0, 10)
  const texts = [
    ...writeUpdateFeeds(installers, version, now),
    ...(repository ? writeManifests({ version, repository, sha256, date }) : []),
  ]
  for (const { name, text } of texts) writeFileSync(join(folder, name), text)
  writeFileSync(join(folder, `sluice-${version}.cdx.json`), writeBillOfMaterials(lock))
  const names = readdirSync(folder).toSorted()
  const lines = await Promise.all(
    names.map(async (name) => `${sha256(name) || (await hashInHex(join(folder, name)))}  ${name}\n`),
  )
  writeFileSync(join(folder, 'SHA256SUMS'), lines.join(''))
  return [...names, 'SHA256SUMS']
}

const [folder, ...others] = process.argv.slice(2)
if (folder === undefined || others.length > 0) {
  process.stderr.write('usage: npm run release:describe -- FOLDER\n')
  process.exitCode = 2
} else {
  try {
    for (const name of await describeRelease(folder, process.env['GITHUB_REPOSITORY']))
      process.stdout.write(`${name}\n`)
  } catch (error) {
    process.stderr.write(`release:describe: ${error instanceof Error ? error.message : error}\n`)
    process.exitCode = 1
  }
}
