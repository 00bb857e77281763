import { SluiceError } from '../../shared/errors.ts'

/**
 * Reads the API key from the environment variable of that name. Throws `NO_API_KEY` where it is missing or holds what
 * no HTTP header can carry; neither message shows any of it.
 */
export function readApiKey(variable: string): string {
  const key = process.env[variable]
  if (key === undefined || key === '') {
    throw new SluiceError({
      code: 'NO_API_KEY',
      message: `no API key: the environment variable ${variable} is ${key === '' ? 'empty' : 'not set'}`,
      hint: `Set it, as in: export ${variable}=…  (or name another variable with --api-key-env NAME).`,
    })
  }
  checkApiKey(key, `the environment variable ${variable}`)
  return key
}

/** Throws `NO_API_KEY` where a key holds what no HTTP header can carry, such as a line break pasted with it. */
export function checkApiKey(key: string, where: string): void {
  if (/^[\x21-\x7e]+$/.test(key)) return
  throw new SluiceError({
    code: 'NO_API_KEY',
    message: `the API key in ${where} holds white space or characters outside of ASCII, which no header can carry`,
    hint: 'Copy the key again, without quotes, spaces or line breaks around it.',
  })
}
