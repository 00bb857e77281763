import { z } from 'zod'
import { type OptionTable, toShape } from '../options/option.ts'
import { headersSchema } from './request-headers.ts'
import { resolvedHostSchema } from './resolved-host.ts'

/** A plan is journaled and shown, so its addresses must not contain secrets. */
function isBareUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { username, password, search, hash } = new URL(text)
  return username === '' && password === '' && search === '' && hash === ''
}

/** An http or https address without user name, password, query and fragment. */
export const bareUrlSchema = z.url({ protocol: /^https?$/ }).refine(isBareUrl, {
  error: 'must hold no user name, password, query or fragment',
})

/** Name of an environment variable that holds a secret. A secret itself rarely looks like one. */
export const environmentNameSchema = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/, {
  error: 'must be the name of an environment variable: letters, digits and underscores',
})

/** Value of the user-agent header: printable ASCII. */
export const userAgentSchema = z.string().regex(/^[\x21-\x7e]([\x20-\x7e]{0,254}[\x21-\x7e])?$/, {
  error: 'must be printable ASCII of 1 to 256 characters',
})

/** How long to wait for an answer, milliseconds, from 1 to an hour. */
export const timeoutMsSchema = z.int().min(1).max(3_600_000)

export const proxySchema = z.object({
  /** Scheme, host and port of an HTTP or HTTPS proxy. */
  url: bareUrlSchema,
  /** Name of the environment variable with `user:password`; absent if the proxy needs no credentials. */
  credentialsEnv: environmentNameSchema.optional(),
})

/** Paths are absolute here. */
const tlsFilesSchema = z.object({
  systemAuthorities: z.boolean().optional(),
  caFile: z.string().min(1).optional(),
  certFile: z.string().min(1).optional(),
  keyFile: z.string().min(1).optional(),
})

/** Which certificate authorities a connection trusts, and its client certificate. */
export const tlsSchema = tlsFilesSchema.refine(
  ({ certFile, keyFile }) => (certFile === undefined) === (keyFile === undefined),
  { error: 'certFile and keyFile belong together' },
)

/** A deployment of the service in a plan; contains no secrets, only where to find them. */
export const CONNECTION_OPTIONS = {
  /** The active key of a named connection can be switched during a run. */
  name: {
    schema: z.string().min(1).optional(),
    words:
      'Stored connection: provides what is missing here. Its active key is sent, even if it is switched during the run.',
    setting: null,
  },
  /** Without a trailing slash. */
  baseUrl: {
    schema: bareUrlSchema,
    words:
      'Service URL: scheme, host, port and an optional path, without user name, password, query and fragment.',
    setting: 'base URL',
    section: 'service',
    flag: '--base-url <url>',
    help: 'service URL, such as https://api.example.com',
  },
  /** docs/interface.md §5.5 */
  taskBaseUrl: {
    schema: bareUrlSchema.optional(),
    words: 'Service URL for v2 tasks (default: the base URL).',
    setting: 'second host',
    section: 'service',
    flag: '--task-base-url <url>',
  },
  apiKeyEnv: {
    schema: environmentNameSchema.default('SLUICE_API_KEY'),
    words: 'Environment variable with the API key. A plan never contains the key itself.',
    setting: null,
    section: 'service',
    flag: '--api-key-env <name>',
    help: 'environment variable with the API key',
  },
  /**
   * `window` if the address was typed into a window, or is its sandbox's: the key was typed too, and no
   * variable is read for it, neither now nor when the run is resumed. `file` and `command` if an option of
   * one command said where the key is. The plan does not say where, since a plan that names files and
   * programs could cause them to be read and run.
   */
  keyFrom: {
    schema: z.enum(['window', 'file', 'command']).optional(),
    words:
      'Why the key is not read from a variable. `window`: it was typed into the window, as the URL was. `file`, `command`: it was given by --api-key-file or --api-key-command, which have to be given again.',
    setting: 'where the key is from',
  },
  /** From handing a request to the connection until its last byte. */
  timeoutMs: {
    schema: timeoutMsSchema.default(60_000),
    words: 'Request timeout, in milliseconds.',
    setting: 'timeout',
    section: 'service',
    flag: '--timeout <duration>',
    help: 'request timeout, such as 30s or 500ms (default: 60s)',
  },
  deliveredCodes: {
    schema: z.array(z.string()).default([]),
    words: 'Error codes that mean the service already has the post; they count as succeeded.',
    setting: 'delivered code',
    section: 'service',
    flag: '--delivered-code <code>',
    help: 'error code that means the service already has the post; counts as succeeded; repeatable',
  },
  headers: {
    schema: headersSchema.optional(),
    words:
      'Further headers of every request, by name. A value is text, text with ${VARIABLE} in it, or @FILE, relative to the plan file; a plan contains no secret.',
    setting: 'header',
  },
  userAgent: {
    schema: userAgentSchema.optional(),
    words: 'The user-agent header (default: sluice/VERSION).',
    setting: 'user agent',
    section: 'service',
    flag: '--user-agent <text>',
  },
  keepAlive: {
    schema: z.boolean().optional(),
    words: 'Whether a connection carries more than one request (default: true).',
    setting: 'keep-alive',
  },
  traceparent: {
    schema: z.boolean().optional(),
    words:
      'Whether each try of a run or load test carries a `traceparent` header with its own trace (W3C Trace Context), which is kept with its row (default: false).',
    setting: 'traceparent',
    section: 'service',
    flag: '--traceparent',
    help: 'send a traceparent header (W3C Trace Context) with each try, each with its own trace, and keep it with the row',
  },
  resolve: {
    schema: z.array(resolvedHostSchema).optional(),
    words: 'Addresses to connect to instead of those of DNS, each as HOST:PORT:ADDRESS.',
    setting: 'resolved address',
    section: 'service',
    flag: '--resolve <host:port:address>',
    help: 'connect to this IP address for a host and port, instead of asking DNS; repeatable',
  },
  unixSocket: {
    schema: z.string().min(1).optional(),
    words: 'Unix socket to connect to, instead of the host of the URL; relative to the plan file.',
    setting: 'unix socket',
    section: 'service',
    flag: '--unix-socket <path>',
  },
  rewritesIds: {
    schema: z.boolean().optional(),
    words:
      'Whether the service answers with ids other than were sent; then only ids of other rows of the run are mismatches (default: false).',
    setting: 'rewritten ids',
  },
  tls: {
    schema: tlsSchema.optional(),
    words: 'Certificates.',
    parts: {
      systemAuthorities: {
        words: 'Whether to trust the certificate authorities of this system, too (default: true).',
        setting: 'authorities of the system',
      },
      caFile: {
        words: 'PEM file with additional trusted certificate authorities; relative to the plan file.',
        setting: 'file of authorities',
      },
      certFile: {
        words: 'PEM file with the client certificate; requires keyFile; relative to the plan file.',
        setting: 'client certificate',
      },
      keyFile: {
        words: 'PEM file with the key of the client certificate; relative to the plan file.',
        setting: 'key of the client certificate',
      },
    },
  },
  proxy: {
    schema: proxySchema.optional(),
    words: "HTTP or HTTPS proxy for every request (default: the system's, for https).",
    parts: {
      url: { words: 'Scheme, host and port of the proxy.', setting: 'proxy' },
      credentialsEnv: {
        words: 'Environment variable with user:password for the proxy, if it needs them.',
        setting: 'variable of the proxy credentials',
      },
    },
  },
  systemProxy: {
    schema: z.boolean().optional(),
    words: "Whether to use the system's proxy for https if `proxy` is missing (default: true).",
    setting: 'proxy of the system',
  },
} as const satisfies OptionTable

export const connectionSchema = z.object(toShape(CONNECTION_OPTIONS))

export type PlanConnection = z.infer<typeof connectionSchema>

/** Where the key comes from, if not from a variable. */
export type KeyFrom = NonNullable<PlanConnection['keyFrom']>

/** A plan's connection as written, without defaults. */
export type PlanConnectionInput = z.input<typeof connectionSchema>
