import { SluiceError } from '../../../shared/errors.ts'
import type { CliContext } from '../context.ts'

/**
 * The API key of an environment variable. Throws `NO_API_KEY` where it is not set, empty, or holds what no header can
 * carry.
 */
export function readApiKey(context: CliContext, name: string): { apiKey: string } {
  const apiKey = context.env[name]
  if (apiKey === undefined || apiKey === '') {
    throw new SluiceError({
      code: 'NO_API_KEY',
      message: `no API key: the environment variable ${name} is ${apiKey === '' ? 'empty' : 'not set'}`,
      hint: `Put the key there, for example: read -rs ${name} && export ${name}`,
    })
  }
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    throw new SluiceError({
      code: 'NO_API_KEY',
      message: `the API key in ${name} holds white space or characters outside of ASCII, which no header can carry`,
      hint: 'Copy the key again, without quotes, spaces or line breaks around it.',
    })
  }
  return { apiKey }
}
