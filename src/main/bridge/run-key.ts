import { SluiceError } from '../../shared/errors.ts'
import type { BridgeServices } from './bridge-context.ts'

/**
 * The key a run is started with: the one typed in, else the sandbox's own where the run goes there, else none, so that
 * the engine reads the environment. Throws `NO_API_KEY` where what was typed can be no key; shows none of it.
 */
export async function findRunKey(
  { sandbox }: BridgeServices,
  baseUrl: string,
  typed: string | undefined,
): Promise<{ apiKey?: string }> {
  if (typed === undefined) {
    const apiKey = await sandbox.findKey(baseUrl)
    return apiKey === null ? {} : { apiKey }
  }
  if (/^[\x21-\x7e]+$/.test(typed)) return { apiKey: typed }
  throw new SluiceError({
    code: 'NO_API_KEY',
    message: 'the API key holds white space or characters outside of ASCII, which no header can carry',
    hint: 'Copy the key again, without quotes, spaces or line breaks around it.',
  })
}
