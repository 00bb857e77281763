import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Address of the debugger of Chromium's pages, which Chromium writes into its folder once it listens; throws
 * before that.
 */
export function readDebuggerAddress(userData: string): string {
  const [port = '', path = ''] = readFileSync(join(userData, 'DevToolsActivePort'), 'utf8').split('\n')
  if (!/^[1-9]\d*$/.test(port)) throw new Error('the port of the debugger is not written yet')
  return `ws://127.0.0.1:${port}${path}`
}
