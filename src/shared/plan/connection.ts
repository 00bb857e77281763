import { z } from 'zod'

/** A plan is journaled and shown, so its addresses must carry no secret. */
function isBareUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { username, password, search, hash } = new URL(text)
  return username === '' && password === '' && search === '' && hash === ''
}

/** An http or https address without user name, password, query and fragment. */
export const bareUrlSchema = z.url({ protocol: /^https?$/ }).refine(isBareUrl, {
  error: 'must hold no user name, password, query or fragment',
})

/** Name of an environment variable that holds a secret. A secret itself hardly ever looks like one. */
export const environmentNameSchema = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, {
  error: 'must be the name of an environment variable: letters, digits and underscores',
})

/** How long an answer is awaited, milliseconds, from 1 to an hour. */
export const timeoutMsSchema = z.int().min(1).max(3_600_000)

/** A proxy that requests go through. */
export const proxySchema = z.object({
  /** Scheme, host and port of an HTTP or HTTPS proxy. */
  url: bareUrlSchema,
  /** Name of the environment variable that holds `user:password`; none where the proxy asks for nothing. */
  credentialsEnv: environmentNameSchema.optional(),
})

const tlsFilesSchema = z.object({
  /** Whether the certificate authorities of this system are trusted in addition to the built-in ones (default: true). */
  systemAuthorities: z.boolean().optional(),
  /** Absolute path of a PEM file of further certificate authorities to trust. */
  caFile: z.string().min(1).optional(),
  /** Absolute paths of the client's certificate and its key, both PEM, both or neither. */
  certFile: z.string().min(1).optional(),
  keyFile: z.string().min(1).optional(),
})

/** Whom a connection trusts and what it shows of itself. */
export const tlsSchema = tlsFilesSchema.refine(
  ({ certFile, keyFile }) => (certFile === undefined) === (keyFile === undefined),
  { error: 'certFile and keyFile belong together' },
)

/** A deployment of the service, as a plan names it; it holds no secret, only where secrets are found. */
export const connectionSchema = z.object({
  /** The stored connection it was taken from, whose active key can be switched during a run. */
  name: z.string().min(1).optional(),
  /** Scheme, host, port and an optional path prefix, without a trailing slash. */
  baseUrl: bareUrlSchema,
  /** The second host for v2 tasks (docs/interface.md §5.5) (default: the base URL). */
  taskBaseUrl: bareUrlSchema.optional(),
  /** Name of the environment variable that holds the API key; the key itself is never in a plan. */
  apiKeyEnv: environmentNameSchema.default('SLUICE_API_KEY'),
  /**
   * `window` where the address was typed into a window, or is its sandbox's: the key was, too, and no variable is read
   * for it, now or when the run is taken up again.
   */
  keyFrom: z.literal('window').optional(),
  /** From handing a request to the connection until its last byte. */
  timeoutMs: timeoutMsSchema.default(60_000),
  /** Service error codes that mean "this post_id was delivered before"; such an answer counts as succeeded. */
  deliveredCodes: z.array(z.string()).default([]),
  tls: tlsSchema.optional(),
  proxy: proxySchema.optional(),
  /** Whether the proxy of the system is used for https where the connection names none (default: true). */
  systemProxy: z.boolean().optional(),
})

export type PlanConnection = z.infer<typeof connectionSchema>

/** A plan's connection as it is written, defaults left out. */
export type PlanConnectionInput = z.input<typeof connectionSchema>
