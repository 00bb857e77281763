import { SluiceError } from '../../../shared/errors.ts'
import type { CliContext } from '../context.ts'

/**
 * The API key of the environment variable that `--api-key-env` names; nothing where it names none, so that the one
 * the plan names is read. Throws `NO_API_KEY` where the variable is empty.
 */
export function readApiKey(context: CliContext, name: string | undefined): { apiKey?: string } {
  if (name === undefined) return {}
  const apiKey = context.env[name]
  if (apiKey === undefined || apiKey.trim() === '') {
    throw new SluiceError({
      code: 'NO_API_KEY',
      message: `no API key: the environment variable ${name} is ${apiKey === undefined ? 'not set' : 'empty'}`,
      hint: `Put the key there, for example: read -rs ${name} && export ${name}`,
    })
  }
  return { apiKey: apiKey.trim() }
}
