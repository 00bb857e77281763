/** What the system or the runtime threw, as a message takes it: its code, such as `EADDRINUSE`, and its own words. */
export interface Thrown {
  /** Null if it has none. */
  system: string | null
  reason: string
}

/** The code and the words of anything thrown. */
export function toThrown(thrown: unknown): Thrown {
  return { system: toSystemCode(thrown), reason: toThrownText(thrown) }
}

/** The code of the operating system or the runtime, such as `EADDRINUSE`; null if there is none. */
export function toSystemCode(thrown: unknown): string | null {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : null
}

/** What a thrown value says, in its own words. */
export function toThrownText(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}

/** Why a port cannot be opened. */
export function sayPortProblem({ system, reason }: Thrown): string {
  switch (system) {
    case 'EADDRINUSE':
      return 'another program uses that port'
    case 'EACCES':
      return 'you do not have permission to use that port'
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return 'this machine does not have that address'
    default:
      return reason
  }
}
