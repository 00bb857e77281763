import { type PlanHeaders, parseHeaderValue } from './plan/request-headers.ts'

/** Text as one word of a POSIX shell, quoted only if it must be, so that a printed command can be pasted. */
export function quoteForShell(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`
}

/** Characters that a shell interprets outside of quotes. */
const SHELL_SIGNS = '|&;<>()$`*?[]\n'

/**
 * The words of a command as a POSIX shell splits them, including quotes and backslashes, for running a
 * program without a shell. Anything that needs a shell, such as a pipe or `$HOME`, is a fault instead of
 * plain text. With `keepsBackslashes`, backslashes outside of quotes belong to paths, as on Windows.
 */
export function splitCommand(
  command: string,
  { keepsBackslashes }: { keepsBackslashes: boolean },
): { words: readonly string[] } | { fault: string } {
  const words: string[] = []
  let word: string | null = null
  for (let at = 0; at < command.length; at += 1) {
    const sign = command.charAt(at)
    if (sign === ' ' || sign === '\t') {
      if (word !== null) words.push(word)
      word = null
    } else if (sign === "'") {
      const end = command.indexOf("'", at + 1)
      if (end < 0) return { fault: "a ' without its other one" }
      word = (word ?? '') + command.slice(at + 1, end)
      at = end
    } else if (sign === '"') {
      const [, quoted] = /^"((?:[^"\\]|\\.)*)"/s.exec(command.slice(at)) ?? []
      if (quoted === undefined) return { fault: 'a " without its other one' }
      const [expanded] = /[$`]/.exec(quoted.replaceAll(/\\./gs, '')) ?? []
      if (expanded !== undefined) return { fault: `${expanded}, which needs a shell` }
      word = (word ?? '') + quoted.replaceAll(/\\([\\"$`])/g, '$1')
      at += quoted.length + 1
    } else if (sign === '\\' && !keepsBackslashes) {
      at += 1
      if (at === command.length) return { fault: 'a \\ at its end' }
      word = (word ?? '') + command.charAt(at)
    } else if (SHELL_SIGNS.includes(sign) || (sign === '~' && word === null)) {
      return { fault: `${sign === '\n' ? 'a line break' : sign}, which needs a shell` }
    } else {
      word = (word ?? '') + sign
    }
  }
  if (word !== null) words.push(word)
  return words.length === 0 ? { fault: 'no word' } : { words }
}

interface CurlRequest {
  method: 'POST' | 'GET'
  url: string
  /** JSON text; null if the request has none. */
  body: string | null
  hasKey: boolean
  /** Name of the environment variable with the key; the key itself never appears. */
  apiKeyEnv: string
  /** Further headers, in a plan's notation (default: none). */
  headers?: PlanHeaders | undefined
}

/** A header as a shell word that reads its secrets from the same place as the plan. */
function quoteHeader(name: string, written: string): string {
  const value = parseHeaderValue(written)
  if (value.kind === 'file') return `"${name}: $(cat ${quoteForShell(value.path)})"`
  if (value.kind === 'text') return quoteForShell(`${name}: ${written}`)
  return `"${name}: ${written.replaceAll(/[\\"`]|\$(?!\{)/g, String.raw`\$&`)}"`
}

/**
 * A `curl` command for a POSIX shell that sends exactly this request. It reads the key from the environment,
 * so the text can be shared.
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
