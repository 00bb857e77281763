import { type PlanHeaders, parseHeaderValue } from './plan/request-headers.ts'

/** Text as one word of a POSIX shell, quoted only where it must be, so that a printed command can be pasted. */
export function quoteForShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** What a request is repeated with on a command line. */
interface CurlRequest {
  method: 'POST' | 'GET'
  url: string
  /** JSON text; null where the request has none. */
  body: string | null
  /** Whether it carries the key. */
  hasKey: boolean
  /** Name of the environment variable that holds the key; the key itself never appears. */
  apiKeyEnv: string
  /** Further headers, as a plan has them (default: none). */
  headers?: PlanHeaders | undefined
}

/** A header as a word of a shell, which reads its secrets from where the plan does. */
function quoteHeader(name: string, written: string): string {
  const value = parseHeaderValue(written)
  if (value.kind === 'file') return `"${name}: $(cat ${quoteForShell(value.path)})"`
  if (value.kind === 'text') return quoteForShell(`${name}: ${written}`)
  return `"${name}: ${written.replaceAll(/[\\"`]|\$(?!\{)/g, String.raw`\$&`)}"`
}

/**
 * A `curl` command for a POSIX shell that sends exactly this request again. The key is read from the environment when
 * the command runs, so the text can be shared.
 */
export function toCurl(request: CurlRequest): string {
  const env = /^[A-Za-z_][A-Za-z0-9_]*$/.test(request.apiKeyEnv) ? request.apiKeyEnv : 'SLUICE_API_KEY'
  return [
    `curl -sS -X ${request.method} ${quoteForShell(request.url)}`,
    ...(request.hasKey ? [`-H "authorization: token $${env}"`] : []),
    ...Object.entries(request.headers ?? {}).map(([name, value]) => `-H ${quoteHeader(name, value)}`),
    ...(request.body === null
      ? []
      : [`-H 'content-type: application/json'`, `--data-raw ${quoteForShell(request.body)}`]),
  ].join(' \\\n  ')
}
