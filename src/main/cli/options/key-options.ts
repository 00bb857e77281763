import { type Command, InvalidArgumentError } from 'commander'
import type { KeyFrom } from '../../../shared/plan/connection.ts'
import { splitCommand } from '../../../shared/shell-command.ts'

/** Where the key for one command is; plans never store this. */
export interface GivenKeyFlags {
  apiKeyFile?: string
  /** The program and its arguments. */
  apiKeyCommand?: readonly string[]
}

/** All options about where the key is. */
export interface KeyFlags extends GivenKeyFlags {
  apiKeyEnv?: string
}

export function addGivenKeyOptions(command: Command): Command {
  return command
    .option('--api-key-file <file>', 'file with the API key, such as a mounted secret')
    .option(
      '--api-key-command <command>',
      "command that prints the API key, run without a shell, such as 'pass show service/key'",
      parseCommand,
    )
}

function parseCommand(text: string): readonly string[] {
  const split = splitCommand(text, { keepsBackslashes: process.platform === 'win32' })
  if ('words' in split) return split.words
  throw new InvalidArgumentError(
    `expected a program and its arguments, found ${split.fault}. The command is run without a shell; for one, write: sh -c '…'`,
  )
}

/**
 * Where the plan's key is according to options, replacing everything else known about it; null if they do
 * not say. Throws commander's `InvalidArgumentError` if they name two places.
 */
export function toGivenKey({
  apiKeyEnv,
  apiKeyFile,
  apiKeyCommand,
}: KeyFlags): { apiKeyEnv: string } | { keyFrom: KeyFrom } | null {
  const given = [
    ...(apiKeyEnv === undefined ? [] : ['--api-key-env']),
    ...(apiKeyFile === undefined ? [] : ['--api-key-file']),
    ...(apiKeyCommand === undefined ? [] : ['--api-key-command']),
  ]
  if (given.length > 1) throw new InvalidArgumentError(`${given.join(' and ')} cannot be combined.`)
  if (apiKeyFile !== undefined) return { keyFrom: 'file' }
  if (apiKeyCommand !== undefined) return { keyFrom: 'command' }
  return apiKeyEnv === undefined ? null : { apiKeyEnv }
}
