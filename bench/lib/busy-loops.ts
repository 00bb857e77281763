import { spawn } from 'node:child_process'

/** Starts processes that do nothing but take a core each; call what is returned to end them. */
export function startBusyLoops(count: number): () => void {
  const loops = Array.from({ length: count }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { stdio: 'ignore' }),
  )
  return () => {
    for (const loop of loops) loop.kill()
  }
}
