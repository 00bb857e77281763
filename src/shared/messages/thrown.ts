/**
 * The code that the operating system or the runtime gave what was thrown, such as `EADDRINUSE`; null where there is
 * none.
 */
export function toSystemCode(thrown: unknown): string | null {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null
}

/** What a thrown value says, in its own words. */
export function toThrownText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
