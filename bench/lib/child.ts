import { spawn, spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { bundleChildren } from './bundle.ts'
import type { ChildResult } from './report-to-parent.ts'

/** Runs one of `bench/children`, bundled, in a process of its own with one JSON argument; its last line is JSON. */
export async function runChild<Value>(name: string, task: unknown): Promise<ChildResult<Value>> {
  const path = join(await bundleChildren(), `${name}.js`)
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

/** Whether a command is on the path. */
export function isInstalled(command: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
}
