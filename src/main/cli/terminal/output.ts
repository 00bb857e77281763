import type { Writable } from 'node:stream'

export { toPrintable } from '../../../shared/messages/printable.ts'

/** A stream that results or messages are written to, quiet once its reader is gone. */
export interface Output {
  /** Whether the reader is still there. */
  isOpen(): boolean
  /** Writes text, or bytes as they are, and waits while the reader is slower. */
  write(text: string | Uint8Array): Promise<void>
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
  const write = async (text: string | Uint8Array) => {
    if (!open) return
    const isEscaped = stream.isTTY === true && typeof text === 'string'
    if (stream.write(isEscaped ? escapeForTerminal(text) : text)) return
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

/** What {@link toPrintable} escapes, except what a program itself writes: line breaks, tabs, and the escape that colours begin with. */
const FOREIGN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the one that colours begin with
  /(?![\t\n\r\u001b])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{e0000}-\u{e0fff}]/gu

/**
 * The last thing that happens to text on its way to a terminal, JSON above all: what it would write as
 * an escape is written as `\\u009b` is, so that a JSON document stays the same document.
 */
export function escapeForTerminal(text: string): string {
  return text.replace(FOREIGN, (character) =>
    Array.from({ length: character.length }, (_, at) => toUnit(character.charCodeAt(at))).join(''),
  )
}

function toUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}

/** The same document with the names of its members in snake case, as every document on stdout has them. */
export function toSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnakeCase)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      toSnakeCase(member),
    ]),
  )
}
