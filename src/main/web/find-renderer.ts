import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SluiceError } from '../../shared/errors.ts'

// In the build the screens stand beside the bundles' folder; from sources they are built when they are needed.
const isBundled = !import.meta.url.endsWith('.ts')
const projectFolder = fileURLToPath(new URL('../../../', import.meta.url))

/** What the screens are made from, below the project's folder. */
const INGREDIENTS = ['src/renderer', 'src/shared', 'electron.vite.config.ts', 'package-lock.json']

/**
 * The folder of the built renderer. From sources it is built first where it is missing or older than they are;
 * `onBuild` is called before. Throws `INTERNAL` with the build's own words where that fails.
 */
export async function findRenderer(onBuild: () => Promise<void>): Promise<string> {
  if (isBundled) return fileURLToPath(new URL('../renderer/', import.meta.url))
  const folder = join(projectFolder, 'out/renderer')
  if (await isFresh(join(folder, 'index.html'))) return folder
  await onBuild()
  await buildRenderer()
  return folder
}

async function isFresh(page: string): Promise<boolean> {
  if (!existsSync(page)) return false
  const { mtimeMs: builtAt } = await stat(page)
  for (const ingredient of INGREDIENTS) {
    if ((await findNewest(join(projectFolder, ingredient))) > builtAt) return false
  }
  return true
}

/** When a file, or the newest of a folder's files, was last changed; 0 where there is none. */
async function findNewest(path: string): Promise<number> {
  const about = await stat(path).catch(() => null)
  if (about === null) return 0
  if (!about.isDirectory()) return about.mtimeMs
  const names = await readdir(path)
  const times = await Promise.all(names.map((name) => findNewest(join(path, name))))
  // A file that was removed leaves its mark on the folder alone.
  return Math.max(about.mtimeMs, ...times)
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
    code: 'INTERNAL',
    message: `the screens could not be built: ${said.join('').trim() || `the build ended with code ${code}`}`,
    hint: 'Run npm ci, then try again.',
  })
}
