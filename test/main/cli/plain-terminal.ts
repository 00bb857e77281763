import { Writable } from 'node:stream'
import type { WriteStream } from 'node:tty'
import { createTerminal, type Terminal } from '../../../src/main/cli/terminal/terminal.ts'

/** A terminal of a given width that shows no colours. */
export function createPlainTerminal(
  columns: number,
  env: Record<string, string> = { LANG: 'C.UTF-8' },
): Terminal {
  const stream = Object.assign(new Writable(), { isTTY: true, columns }) as unknown as WriteStream
  const terminal = createTerminal(stream, env)
  return { ...terminal, tone: (_tone, text) => text }
}
