import { spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

/** What a measurement in a process of its own came to. */
export interface ChildResult<Value> {
  value: Value
  /** Peak resident memory of the process, bytes. */
  peakRssBytes: number
}

/** Runs a `.ts` file in a process of its own with one JSON argument; its last line of output is JSON. */
export function runChild<Value>(file: string, task: unknown): Promise<ChildResult<Value>> {
  const path = fileURLToPath(new URL(`../${file}`, import.meta.url))
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
      else reject(new Error(`${file} ended with ${code}: ${output}`))
    })
  })
}

/** Prints what {@link runChild} reads; for the measuring process itself. */
export function reportToParent(value: unknown): void {
  console.log(JSON.stringify({ value, peakRssBytes: process.resourceUsage().maxRSS * 1024 }))
}

/** Whether a command is on the path. */
export function isInstalled(command: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
}
