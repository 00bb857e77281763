// npm run release:check-package -- FOLDER: checks a packaged app (dist/mac-arm64, dist/win-unpacked,
// dist/linux-unpacked): its fuses, the files in app.asar, and the hashes by which Electron checks them.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { checkPackagedApp, findPackagedApp, listFiles, measureFolder } from './packaged-app.ts'

const CONFIG_FILE = join(import.meta.dirname, '../../electron-builder.yml')

const [folder, ...others] = process.argv.slice(2)
if (folder === undefined || others.length > 0) {
  process.stderr.write('usage: npm run release:check-package -- FOLDER\n')
  process.exit(2)
}
try {
  const app = findPackagedApp(folder)
  const problems = await checkPackagedApp(app, CONFIG_FILE)
  for (const problem of problems) process.stderr.write(`release:check-package: ${problem}\n`)
  if (problems.length > 0) process.exitCode = 1
  const toMegabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`
  const archive = statSync(join(app.resources, 'app.asar')).size
  process.stdout.write(
    `${folder}: ${toMegabytes(measureFolder(folder))}, of which app.asar ${toMegabytes(archive)} in ${listFiles(app).length} files\n`,
  )
} catch (error) {
  process.stderr.write(`release:check-package: ${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
}
