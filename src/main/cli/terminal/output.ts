import type { Writable } from 'node:stream'

export { toPrintable } from '../../../shared/messages/printable.ts'

/** A stream that results or messages are written to, quiet once its reader is gone. */
export interface Output {
  /** Whether the reader is still there. */
  isOpen(): boolean
  /**
   * Writes text, or bytes as they are, and waits if the reader is slower. `isData` marks text for programs,
   * such as CSV, in which only what could control a terminal is escaped.
   */
  write(text: string | Uint8Array, how?: { isData?: boolean }): Promise<void>
  writeLine(text?: string): Promise<void>
  /** Waits for what was written, and returns why some of it could not be; null if only the reader is gone. */
  finish(): Promise<Error | null>
}

/**
 * Wraps a standard stream. On a terminal, text that could control it or is invisible is escaped; with
 * `isInJob`, also what GitHub Actions' runner would take for a command. A broken pipe (`sluice runs | head`)
 * silently ends the writing.
 */
export function createOutput(
  stream: Writable & { isTTY?: boolean },
  { isInJob = false }: { isInJob?: boolean } = {},
): Output {
  let open = true
  let failure: Error | null = null
  let isLineOpen = false
  stream.on('error', (error: NodeJS.ErrnoException) => {
    open = false
    if (error.code !== 'EPIPE' && error.code !== 'ERR_STREAM_DESTROYED') failure ??= error
  })
  const toWritten = (text: string, isData: boolean): string => {
    const printable = stream.isTTY === true ? escapeForTerminal(text) : text
    if (!isInJob) return printable
    const guarded = isData ? printable : escapeCommands(printable, isLineOpen)
    isLineOpen = /[^\s\u0085][^\S\r\n\u0085]*$/.test(printable) || (isLineOpen && !/[\r\n]/.test(printable))
    return guarded
  }
  const write: Output['write'] = async (text, { isData = false } = {}) => {
    if (!open) return
    if (stream.write(typeof text === 'string' ? toWritten(text, isData) : text)) return
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
  const finish = async () => {
    if (open) await new Promise<void>((resolve) => stream.write('', () => resolve()))
    // A stream reports its error after it has called back.
    await new Promise((resolve) => setImmediate(resolve))
    return failure
  }
  return { isOpen: () => open, write, writeLine: (text = '') => write(`${text}\n`), finish }
}

/**
 * What {@link toPrintable} escapes, except what programs write themselves: line breaks, tabs, and the escape
 * that begins colours.
 */
const FOREIGN =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the one that colours begin with
  /(?![\t\n\r\u001b])[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\u{e0000}-\u{e0fff}]/gu

/**
 * The last step before text, mostly JSON, reaches a terminal: control characters become escapes such as
 * `\\u009b`, so that a JSON document stays the same document.
 */
export function escapeForTerminal(text: string): string {
  return text.replace(FOREIGN, (character) =>
    Array.from({ length: character.length }, (_, at) => toUnit(character.charCodeAt(at))).join(''),
  )
}

/**
 * Text for the log of a GitHub Actions job, escaped as {@link escapeForTerminal} does. Its runner takes a
 * line that begins with `::`, and whatever follows `##[`, for a command; U+0085 is white space for it, but
 * not for `\s`. `isLineOpen`: the text continues a line.
 */
function escapeCommands(text: string, isLineOpen: boolean): string {
  const guarded = text
    .replaceAll(/([\r\n][\s\u0085]*):(?=:)/g, `$1${toUnit(0x3a)}`)
    .replaceAll('##[', `#${toUnit(0x23)}[`)
  return isLineOpen ? guarded : guarded.replace(/^([\s\u0085]*):(?=:)/, `$1${toUnit(0x3a)}`)
}

function toUnit(unit: number): string {
  return `\\u${unit.toString(16).padStart(4, '0')}`
}

/** The same document with member names in snake case, as in every document on stdout. */
export function toSnakeCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toSnakeCase)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [toSnakeName(name), toSnakeCase(member)]),
  )
}

/** `taskId` becomes `task_id`. */
export function toSnakeName(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
