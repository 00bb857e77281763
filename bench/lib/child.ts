import { spawn, spawnSync } from 'node:child_process'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { bundleChildren } from './bundle.ts'
import type { ChildResult } from './report-to-parent.ts'

/**
 * Another checkout of Sluice, with its packages installed, to measure in the same rounds as this one:
 * `SLUICE_BENCH_AGAINST` names its folder. Null if it is not set.
 */
export const OTHER_CHECKOUT: string | null = process.env['SLUICE_BENCH_AGAINST'] ?? null

/**
 * Runs one of `bench/children`, bundled, in its own process with one JSON argument; its last line is JSON.
 * `checkout` is the folder of the sources (default: this checkout).
 */
export async function runChild<Value>(
  name: string,
  task: unknown,
  checkout: string | null = null,
): Promise<ChildResult<Value>> {
  const path = join(await (checkout === null ? bundleChildren() : bundleOther(checkout)), `${name}.js`)
  const child = spawn(process.execPath, [path, JSON.stringify(task)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => {
    output += chunk.toString()
  })
  return new Promise((resolve, reject) => {
    child.on('exit', (code) => {
      const last = output.trim().split('\n').at(-1) ?? ''
      if (code === 0) resolve(JSON.parse(last) as ChildResult<Value>)
      else reject(new Error(`${name} ended with ${code}: ${output}`))
    })
  })
}

let other: Promise<string> | null = null

function bundleOther(checkout: string): Promise<string> {
  const module = pathToFileURL(resolve(checkout, 'bench/lib/bundle.ts')).href
  other ??= import(module).then(({ bundleChildren: bundle }: { bundleChildren: () => Promise<string> }) =>
    bundle(),
  )
  return other
}

/** Whether a command is on the path. */
export function isInstalled(command: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
}
