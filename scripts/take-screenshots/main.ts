// Takes a picture of every screen, in light and dark, at the smallest and at a usual size: `npm run screenshots`.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import process from 'node:process'
import { buildRenderer } from '../../test/helpers/e2e/build-renderer.ts'
import { launchChromium, openApp } from '../../test/helpers/e2e/open-app.ts'
import { createCamera } from './camera.ts'
import { walkConnections } from './walk-connections.ts'
import { walkFailures } from './walk-failures.ts'
import { walkLoad } from './walk-load.ts'
import { walkOperations } from './walk-operations.ts'
import { walkRuns } from './walk-runs.ts'
import { walkSandbox } from './walk-sandbox.ts'
import { walkSources } from './walk-sources.ts'

const target = resolve(import.meta.dirname, '../../screenshots')
const only = process.argv[2]
if (only === undefined) rmSync(target, { recursive: true, force: true })
mkdirSync(target, { recursive: true })
const folder = mkdtempSync(join(tmpdir(), 'sluice-screenshots-'))
const browser = await launchChromium()
try {
  const rendererFolder = join(folder, 'renderer')
  await buildRenderer(rendererFolder)
  for (const [name, walk] of Object.entries({
    sandbox: walkSandbox,
    sources: walkSources,
    failures: walkFailures,
    operations: walkOperations,
    load: walkLoad,
    runs: walkRuns,
    connections: walkConnections,
  })) {
    if (only !== undefined && only !== name) continue
    const app = await openApp({ browser, rendererFolder, folder: join(folder, name) })
    await walk(app.page, createCamera(app.page, target), app)
    await app.close()
    for (const complaint of app.complaints) process.stderr.write(`the console complained: ${complaint}\n`)
  }
  process.stdout.write(`${target}\n`)
} finally {
  await browser.close()
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
}
