import { z } from 'zod'

/** Headers that Sluice sets itself, and headers that frame messages or control their connection. */
const RESERVED = new Map<string, string>([
  ['authorization', 'is set from the API key; name its variable with --api-key-env'],
  ['proxy-authorization', 'is set from --proxy-credentials-env'],
  ['user-agent', 'is set with --user-agent'],
  ['traceparent', 'is set with --traceparent'],
  ...['accept', 'accept-encoding', 'content-type', 'host'].map((name) => [name, 'is set by Sluice'] as const),
  ...[
    'connection',
    'content-encoding',
    'content-length',
    'expect',
    'http2-settings',
    'keep-alive',
    'proxy-connection',
    'te',
    'trailer',
    'transfer-encoding',
    'upgrade',
  ].map((name) => [name, 'would change how the request is framed'] as const),
])

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/

/** Longest header value, characters; many servers refuse longer ones. */
const HEADER_VALUE_MAX = 8_192

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g

const SECRET_NAME =
  /token|secret|passw|credential|cookie|signature|auth(?!or)|session|api[-_]?key|pass$|pwd|(?:^|[-_])(?:key|pass|pat|dsn)(?:[-_]|$)/i
/** Beginnings of values that hold a secret. */
const SECRET_VALUE = /^(basic|bearer|digest|negotiate|token)\s+\S/i
/** Keys and tokens of well-known services, anywhere in a text; words without digits do not count. */
const KNOWN_SECRET =
  /\b(?:gh[oprsu]_|github_pat_|glpat-|npm_|[rs]k_(?:live|test)_|sk-(?=[\w-]{20})|xox[abeoprs]-)(?=[\w-]*\d)[\w-]{10,}|\bA[KS]IA[0-9A-Z]{12}|\bAIza[\w-]{30}|\beyJ[\w-]{8,}\.[\w-]+\.|-----BEGIN [A-Z ]*PRIVATE KEY/
const SCHEME = /^(basic|bearer|digest|negotiate|token)\s/i
/** A word long enough to be a secret; before `=` it is a name. */
const LONG_WORD = /[\w+/.-]{6,}(?!\w*=)/

export function mayNameSecret(name: string): boolean {
  return SECRET_NAME.test(name)
}

/** Whether a text contains what looks like a key or token of a well-known service. */
export function holdsKnownSecret(text: string): boolean {
  return KNOWN_SECRET.test(text)
}

/** Ids of requests, and values that change with each signature. */
const CHANGING =
  /(?:^|[-_])(?:request|correlation|trace|span|transaction|invocation|idempotency)[-_]?(?:id|key|context)$|^(?:baggage|tracestate|b3|x-b3-.+)$|(?:^|[-_])(?:date|timestamp|nonce)$/i
/** Renewable credentials, recognized by their last word: `X-Auth-Tenant` names a tenant. */
const RENEWED =
  /(?:token|secret|passw(?:or)?d|pwd|credentials?|cookie|signature|auth(?:orization)?|session(?:[-_]?id)?|jwt|assertion)$/i
const KEY = /(?:^|[-_]|api)key$/i

/**
 * What another value of a header (as written or as sent) means. `always`: another tenant or deployment.
 * `as_key`: the same as another key. `never`: nothing, since values change with each request or are renewed.
 */
export function identifiesTenant(name: string, text: string): 'always' | 'as_key' | 'never' {
  if (CHANGING.test(name) || RENEWED.test(name) || holdsCredentials(text)) return 'never'
  return KEY.test(name) ? 'as_key' : 'always'
}

/**
 * Whether a text consists of a scheme and credentials. `Basic` and `Token` are also words, so what follows
 * them must look like credentials.
 */
function holdsCredentials(text: string): boolean {
  const [, scheme] = SCHEME.exec(text) ?? []
  if (scheme === undefined) return false
  const given = text.slice(scheme.length).trim()
  const variables = [...given.matchAll(VARIABLE)].map(([, name = '']) => name)
  switch (scheme.toLowerCase()) {
    case 'basic':
      return variables.length > 0 ? variables.some(mayNameSecret) : isUserAndPassword(given)
    case 'token':
      return variables.length > 0 ? variables.some(mayNameSecret) : /\d|\S{16}/.test(given)
    default:
      return true
  }
}

function isUserAndPassword(base64: string): boolean {
  try {
    return atob(base64).includes(':')
  } catch {
    return false
  }
}

/** Where a header's value comes from. */
export type HeaderValue =
  | { kind: 'text'; text: string }
  /** Text that contains values of environment variables. */
  | { kind: 'variables'; names: readonly string[] }
  | { kind: 'file'; path: string }

/** Reads the notation of a header's value: `@FILE`, text with `${VARIABLE}` in it, or text. */
export function parseHeaderValue(written: string): HeaderValue {
  if (written.startsWith('@')) return { kind: 'file', path: written.slice(1) }
  const names = [...written.matchAll(VARIABLE)].map(([, name = '']) => name)
  return names.length === 0 ? { kind: 'text', text: written } : { kind: 'variables', names }
}

export function fillVariables(written: string, read: (name: string) => string): string {
  return written.replaceAll(VARIABLE, (_, name: string) => read(name))
}

/** Whether a text can be a header's value. Only ASCII can: a receiver cannot tell UTF-8 from Latin-1. */
export function isHeaderValue(text: string): boolean {
  return /^[\t\x20-\x7e]*$/.test(text) && text.length <= HEADER_VALUE_MAX && text === text.trim()
}

/** What is wrong with a given header; null if nothing is. Does not mention its value. */
export function findHeaderFault(name: string, written: string): string | null {
  if (!TOKEN.test(name)) return `\`${name}\` is not the name of a header`
  const reserved = RESERVED.get(name.toLowerCase())
  if (reserved !== undefined) return `${name} ${reserved}`
  const value = parseHeaderValue(written)
  if (value.kind === 'file') return value.path === '' ? `${name}: expected a file name after @` : null
  if (!isHeaderValue(written)) {
    return `the value of ${name} must be printable ASCII of at most ${HEADER_VALUE_MAX} characters, without spaces at its ends`
  }
  if (written === '') return `${name} has no value`
  const literal = written.replaceAll(VARIABLE, '')
  if (literal.includes('${')) return `the value of ${name} has a \${ that no variable's name and } follow`
  const mayBeSecret = value.kind === 'variables' ? LONG_WORD.test(literal.replace(SCHEME, '')) : true
  if ((mayNameSecret(name) && mayBeSecret) || SECRET_VALUE.test(literal) || holdsKnownSecret(literal)) {
    return `the value of ${name} may be a secret, which no plan and no command line should hold; use \${VARIABLE} or @FILE`
  }
  return null
}

/** Headers by name; of a secret value, only where to find it. */
export const headersSchema = z.record(z.string(), z.string()).superRefine((headers, context) => {
  const seen = new Set<string>()
  for (const [name, value] of Object.entries(headers)) {
    const isRepeated = seen.has(name.toLowerCase())
    seen.add(name.toLowerCase())
    const fault = isRepeated ? `${name} is stated twice` : findHeaderFault(name, value)
    if (fault !== null) context.addIssue({ code: 'custom', path: [name], message: fault })
  }
})

export type PlanHeaders = z.infer<typeof headersSchema>

/** Adds headers to earlier ones, if there are any, replacing equal names in any case. */
export function mergeHeaders(
  before: PlanHeaders | undefined,
  given: PlanHeaders | undefined,
): { headers?: PlanHeaders } {
  const names = new Set(Object.keys(given ?? {}).map((name) => name.toLowerCase()))
  const kept = Object.entries(before ?? {}).filter(([name]) => !names.has(name.toLowerCase()))
  const headers = { ...Object.fromEntries(kept), ...given }
  return Object.keys(headers).length === 0 ? {} : { headers }
}

/** The headers with every path of a file changed the same way. */
export function mapHeaderPaths(headers: PlanHeaders, change: (path: string) => string): PlanHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, written]) => {
      const value = parseHeaderValue(written)
      return [name, value.kind === 'file' ? `@${change(value.path)}` : written]
    }),
  )
}

/** Header values that come from variables or files, in their notation. */
export function listHeaderReferences(headers: PlanHeaders = {}): [name: string, written: string][] {
  return Object.entries(headers).filter(([, written]) => parseHeaderValue(written).kind !== 'text')
}
