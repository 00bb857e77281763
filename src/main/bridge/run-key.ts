import type { BridgeServices } from './bridge-context.ts'

/**
 * The key a run is started with: the one typed in, else the sandbox's own where the run goes there, else none, so that
 * the engine reads the environment.
 */
export async function findRunKey(
  { sandbox }: BridgeServices,
  baseUrl: string,
  typed: string | undefined,
): Promise<{ apiKey?: string }> {
  const apiKey = typed ?? (await sandbox.findKey(baseUrl))
  return apiKey === null ? {} : { apiKey }
}
