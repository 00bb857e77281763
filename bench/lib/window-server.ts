import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { bundleChildren } from './bundle.ts'

/** A process' costs: its processor time so far, and its current resident memory. */
export interface WindowCosts {
  cpuMs: number
  rssBytes: number
}

/** The browser shell over a workspace, with the engine behind it. */
export interface WindowServer {
  /** Lets one browser in, once. */
  url: string
  readCosts(): Promise<WindowCosts>
  close(): Promise<void>
}

/** Starts the browser shell, bundled, in its own process. */
export async function startWindowServer(workspace: string, rendererFolder: string): Promise<WindowServer> {
  const path = join(await bundleChildren(), 'window.js')
  const child = fork(path, [JSON.stringify({ workspace, rendererFolder })], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const gone = once(child, 'exit')
  const receive = async <Message>() => {
    const ended = gone.then(([code]): never => {
      throw new Error(`the browser shell ended with ${code}`)
    })
    const [message] = await Promise.race([once(child, 'message'), ended])
    return message as Message
  }
  const { url } = await receive<{ url: string }>()
  return {
    url,
    readCosts() {
      const costs = receive<WindowCosts>()
      child.send('costs')
      return costs
    },
    async close() {
      child.disconnect()
      await gone
    },
  }
}
