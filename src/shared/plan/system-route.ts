import { z } from 'zod'

/** How requests to an address leave this machine, if the system decides. */
export const systemRouteSchema = z.discriminatedUnion('kind', [
  /** The connection names a proxy of its own, or turned the system's off. */
  z.object({ kind: z.literal('off') }),
  /** The address is not https, so a proxy could read the key. */
  z.object({ kind: z.literal('unencrypted') }),
  /** The system names no proxy for this address. */
  z.object({ kind: z.literal('direct') }),
  z.object({ kind: z.literal('proxy'), url: z.string() }),
])

export type SystemRoute = z.infer<typeof systemRouteSchema>

/** The route in words, for a connection without a proxy of its own. */
export function saySystemRoute(route: SystemRoute): string {
  switch (route.kind) {
    case 'off':
      return 'none'
    case 'unencrypted':
      return "none: the system's proxy is only used for https"
    case 'direct':
      return 'none: the system names none for this address'
    case 'proxy':
      return `${route.url}, named by the system`
  }
}
