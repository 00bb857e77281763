import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildForNode } from '../../scripts/main-bundle.ts'

const toPath = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

let folder: Promise<string> | null = null

/**
 * The measuring processes and the engine's threads as one folder of `.js` files, as in the installed app;
 * from sources, each thread would load a type stripper of 20 MB. Created once, and removed with this process.
 */
export function bundleChildren(): Promise<string> {
  folder ??= bundle()
  return folder
}

async function bundle(): Promise<string> {
  const outDir = mkdtempSync(join(tmpdir(), 'sluice-bench-bundle-'))
  process.on('exit', () => rmSync(outDir, { recursive: true, force: true }))
  const children = [
    'capacity',
    'commit',
    'history',
    'load',
    'lookback',
    'post-callbacks',
    'read',
    'receive',
    'resend',
    'send',
    'window',
  ]
  await buildForNode(
    outDir,
    Object.fromEntries(children.map((name) => [name, toPath(`bench/children/${name}.ts`)])),
  )
  return outDir
}
