import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SluiceError } from '../../shared/messages/errors.ts'
import { isFresh } from './is-fresh.ts'

// In the build, the screens are next to the folder of bundles; in the sources, they are built when needed.
const isBundled = !import.meta.url.endsWith('.ts')
const projectFolder = fileURLToPath(new URL('../../../', import.meta.url))

/** What the screens are built from, below the project's folder. */
const INGREDIENTS = ['src/renderer', 'src/shared', 'electron.vite.config.ts', 'package-lock.json']

/**
 * Finds the folder of the built renderer. From sources, it is built first if it is missing or older than they
 * are; `onBuild` is called before. Throws `INTERNAL` with the build's output if that fails.
 */
export async function findRenderer(onBuild: () => Promise<void>): Promise<string> {
  if (isBundled) return fileURLToPath(new URL('../renderer/', import.meta.url))
  const folder = join(projectFolder, 'out/renderer')
  const ingredients = INGREDIENTS.map((path) => join(projectFolder, path))
  if (await isFresh(join(folder, 'index.html'), ingredients)) return folder
  await onBuild()
  await buildRenderer()
  return folder
}

async function buildRenderer(): Promise<void> {
  const script = join(projectFolder, 'scripts/build-renderer.mjs')
  const child = spawn(process.execPath, [script], { cwd: projectFolder, stdio: ['ignore', 'pipe', 'pipe'] })
  const said: string[] = []
  child.stdout.setEncoding('utf8').on('data', (text: string) => said.push(text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => said.push(text))
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code === 0) return
  throw new SluiceError({
    id: 'screens_not_built',
    reason: said.join('').trim() || `the build ended with code ${code}`,
  })
}
