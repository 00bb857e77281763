import { type Command, InvalidArgumentError } from 'commander'
import { createDurationParser, createIntegerParser, createSizeParser, parseBaseUrl } from './parse-values.ts'

/** Where the callback receiver listens. */
export interface ReceiverFlags {
  callbackHost?: string
  callbackPort?: number
  callbackMaxSize?: number
}

/** Where and how long callbacks are awaited. */
export interface CallbackFlags extends ReceiverFlags {
  callbackUrl?: string
  callbackTimeout?: number
}

const MINIMUM_BYTES = 1024
const MAXIMUM_BYTES = 1024 ** 3

/** Parser of an address to listen on. */
function parseHost(text: string): string {
  if (/^[\w.:[\]-]+$/.test(text) && !text.includes('://')) return text
  throw new InvalidArgumentError(`expected a host name or IP address such as 0.0.0.0, found \`${text}\`.`)
}

/** Declares where the receiver listens. */
export function addReceiverOptions(command: Command): Command {
  return command
    .option('--callback-host <host>', 'callback receiver address (default: 127.0.0.1)', parseHost)
    .option(
      '--callback-port <n>',
      'callback receiver port (default: a fixed port per workspace)',
      createIntegerParser(1, 65_535),
    )
    .option(
      '--callback-max-size <size>',
      'maximum callback size (default: 5MiB)',
      createSizeParser(MINIMUM_BYTES, MAXIMUM_BYTES),
    )
}

/** Declares `--callback-url`. */
function addCallbackUrlOption(command: Command): Command {
  return command.option(
    '--callback-url <url>',
    "public URL of the callback receiver, such as a tunnel (default: the receiver's address)",
    parseBaseUrl,
  )
}

/** Declares where and how long callbacks are awaited. */
export function addCallbackOptions(command: Command): Command {
  addReceiverOptions(command.optionsGroup('Callbacks:'))
  return addCallbackTimeoutOption(addCallbackUrlOption(command), '10m')
}

/** Declares `--callback-timeout`; `otherwise` says what it is by default. */
export function addCallbackTimeoutOption(command: Command, otherwise: string): Command {
  return command.option(
    '--callback-timeout <duration>',
    `time to wait for a callback before a row is overdue (default: ${otherwise})`,
    createDurationParser('7d'),
  )
}
