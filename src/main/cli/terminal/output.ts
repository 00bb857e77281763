import type { Writable } from 'node:stream'
import { escapeForTerminal } from './printable.ts'

/** A stream that results or messages are written to, quiet once its reader is gone. */
export interface Output {
  /** Whether the reader is still there. */
  isOpen(): boolean
  /** Writes text and waits while the reader is slower. */
  write(text: string): Promise<void>
  /** Writes text and a line break. */
  writeLine(text?: string): Promise<void>
}

/**
 * Wraps a standard stream; on a terminal, what could drive it or hide in it is escaped. A broken pipe (`sluice runs | head`) ends the writing without a
 * word.
 */
export function createOutput(stream: Writable & { isTTY?: boolean }): Output {
  let open = true
  stream.on('error', (error: NodeJS.ErrnoException) => {
    open = false
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') process.exitCode ||= 1
  })
  const write = async (text: string) => {
    if (!open) return
    if (stream.write(stream.isTTY === true ? escapeForTerminal(text) : text)) return
    await new Promise<void>((resolve) => {
      const settle = () => {
        stream.off('drain', settle)
        stream.off('error', settle)
        stream.off('close', settle)
        resolve()
      }
      stream.once('drain', settle)
      stream.once('error', settle)
      stream.once('close', settle)
    })
  }
  return { isOpen: () => open, write, writeLine: (text = '') => write(`${text}\n`) }
}
