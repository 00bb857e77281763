import { InvalidArgumentError } from 'commander'
import { mappingNameSchema } from '../../../shared/mapping/saved-mappings.ts'
import { parseDurationMs as parseCompound } from '../../../shared/messages/duration.ts'
import { environmentNameSchema } from '../../../shared/plan/connection.ts'
import { holdsKnownSecret } from '../../../shared/plan/request-headers.ts'
import { parseRowNumber } from '../../../shared/plan/source-place.ts'
import { connectionNameSchema } from '../../../shared/plan/stored-connection.ts'

/** Parser of a whole number within a range, both ends included. */
export function createIntegerParser(minimum: number, maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^[+-]?\d+$/.test(text.trim()) || value < minimum || value > maximum) {
      throw new InvalidArgumentError(
        `expected a whole number from ${minimum} to ${maximum}, found \`${text}\`.`,
      )
    }
    return value
  }
}

/** Checks the number of a row as a person types it, such as `17` or `4a`. */
export function parseRowArgument(text: string): string {
  if (parseRowNumber(text) !== null) return text.trim()
  throw new InvalidArgumentError(
    `expected a row number such as 17, 4a or 4b for the parts of a split row, or b.csv:17 for one of several files, found \`${text}\`.`,
  )
}

/** Parser of a number above zero, at most `maximum`. */
export function createPositiveNumberParser(maximum: number): (text: string) => number {
  return (text) => {
    const value = Number(text)
    if (!/^\+?(\d+\.?\d*|\.\d+)$/.test(text.trim()) || value <= 0 || value > maximum) {
      throw new InvalidArgumentError(
        `expected a number greater than 0 and at most ${maximum}, found \`${text}\`.`,
      )
    }
    return value
  }
}

/** Collects an option that may be given several times. */
export function collect(text: string, previous: string[] | undefined): string[] {
  return [...(previous ?? []), text]
}

/** Collects an option that may be given several times, each time one of `choices`. */
export function createChoiceCollector<Choice extends string>(
  choices: readonly Choice[],
): (text: string, previous: Choice[] | undefined) => Choice[] {
  return (text, previous) => {
    const choice = choices.find((one) => one === text)
    if (choice !== undefined) return [...(previous ?? []), choice]
    throw new InvalidArgumentError(`expected one of ${choices.join(', ')}, found \`${text}\`.`)
  }
}

const UNIT_MS: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

/** Milliseconds of a duration with its unit: `500ms`, `30s`, `1m30s`, `1.5h`, `2d`. No unit is assumed. */
export function parseDurationMs(text: string): number {
  const compoundMs = parseCompound(text.trim())
  if (compoundMs !== null) return compoundMs
  const match = /^(\d+\.?\d*|\.\d+)\s*(ms|s|m|min|h|d)$/.exec(text.trim())
  const unitMs = UNIT_MS[match?.[2] ?? '']
  if (match === null || unitMs === undefined) {
    const lacksUnit = /^\d+$/.test(text.trim())
    const advice = lacksUnit ? ` Add a unit: \`${text.trim()}s\` or \`${text.trim()}ms\`.` : ''
    throw new InvalidArgumentError(`expected a duration such as 30s or 500ms, found \`${text}\`.${advice}`)
  }
  return Math.round(Number(match[1]) * unitMs)
}

/** Parser of a duration from 1 ms or from 0 to `longest`, which is itself a duration as typed. */
export function createDurationParser(
  longest: string,
  { allowsZero = false }: { allowsZero?: boolean } = {},
): (text: string) => number {
  const longestMs = parseDurationMs(longest)
  const shortest = allowsZero ? '0s' : '1ms'
  return (text) => {
    const durationMs = parseDurationMs(text)
    if (durationMs < parseDurationMs(shortest) || durationMs > longestMs) {
      throw new InvalidArgumentError(`expected a duration from ${shortest} to ${longest}, found \`${text}\`.`)
    }
    return durationMs
  }
}

const UNIT_BYTES: Readonly<Record<string, number>> = {
  b: 1,
  kb: 1000,
  mb: 1000 ** 2,
  gb: 1000 ** 3,
  kib: 1024,
  mib: 1024 ** 2,
  gib: 1024 ** 3,
}

/** Parser of a size with its unit, `512kB`, `5MB` or `5MiB`, within a range of bytes, both ends included. */
export function createSizeParser(minimumBytes: number, maximumBytes: number): (text: string) => number {
  return (text) => {
    const match = /^(\d+\.?\d*|\.\d+)\s*([kmg]?i?b)$/i.exec(text.trim())
    const unitBytes = UNIT_BYTES[(match?.[2] ?? '').toLowerCase()]
    if (match === null || unitBytes === undefined) {
      throw new InvalidArgumentError(
        `expected a size with its unit, such as 5MB or 512kB, found \`${text}\`.`,
      )
    }
    const sizeBytes = Math.round(Number(match[1]) * unitBytes)
    if (sizeBytes < minimumBytes || sizeBytes > maximumBytes) {
      throw new InvalidArgumentError(
        `expected a size from ${minimumBytes} to ${maximumBytes} bytes, found \`${text}\`.`,
      )
    }
    return sizeBytes
  }
}

/** Parser of `--delimiter`: one character, or `tab` or `\t` for a tab. */
export function parseDelimiter(text: string): string {
  if (text === '\\t' || text.toLowerCase() === 'tab') return '\t'
  if (text.length !== 1 || text === '"' || text === '\n' || text === '\r') {
    throw new InvalidArgumentError(
      `expected one character, such as \`;\`, or \`tab\`; not a quote or a line break; found \`${text}\`.`,
    )
  }
  return text
}

/** Parser of a source's `--delimiter`, which may be `none`. */
export function parseSourceDelimiter(text: string): string {
  return text === 'none' ? text : parseDelimiter(text)
}

/** Parser of `--quote` and `--escape`: one character, or `none`. */
export function parseQuote(text: string): string {
  if (text === 'none' || (text.length === 1 && text !== '\n' && text !== '\r')) return text
  throw new InvalidArgumentError(`expected one character or \`none\`, found \`${text}\`.`)
}

export function parseFilledText(text: string): string {
  if (text.trim() !== '') return text
  throw new InvalidArgumentError('must not be empty.')
}

/** Parser of `--base-url`: an http or https address with its path prefix, without a trailing slash. */
export function parseBaseUrl(text: string): string {
  return parseAddress(text, 'https://api.example.com', 'put the API key in an environment variable')
}

/** Parser of `--proxy`: an http or https address. */
export function parseProxyUrl(text: string): string {
  return parseAddress(
    text,
    'http://proxy.example.com:3128',
    'put them in an environment variable and name it with --proxy-credentials-env',
  )
}

function parseAddress(text: string, sample: string, whereSecretsBelong: string): string {
  const example = `an http or https address such as ${sample}`
  const found = holdsKnownSecret(text) ? '' : `, found \`${toShownAddress(text)}\``
  if (!URL.canParse(text)) throw new InvalidArgumentError(`expected ${example}${found}.`)
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') {
    throw new InvalidArgumentError(
      `expected ${example}, without a user name or password in it; ${whereSecretsBelong}.`,
    )
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    const isWithoutScheme = /^[\w.-]+:\d+/.test(text) && toShownAddress(text) === text
    const forgotten = isWithoutScheme ? ` Did you mean \`http://${text}\`?` : ''
    throw new InvalidArgumentError(`expected ${example}${found}.${forgotten}`)
  }
  if (url.search !== '' || url.hash !== '') {
    throw new InvalidArgumentError(`expected ${example}, without \`?\` or \`#\`${found}.`)
  }
  return url.href.replace(/\/+$/, '')
}

/** An address without its possible secrets: user name and password, query and fragment. */
function toShownAddress(text: string): string {
  // An unescaped password may hold `/`, `?` and `#`.
  return text
    .replace(/^([a-z][\w+.-]*:\/*)?.*@/is, '$1…@')
    .replace(/[?#].*$/s, (rest) => `${rest.charAt(0)}…`)
}

/** Parser of an environment variable's name. Its error omits the text, which may be the secret itself. */
export function parseVariableName(text: string): string {
  if (environmentNameSchema.safeParse(text).success) return text
  throw new InvalidArgumentError(
    'expected the name of an environment variable, such as SLUICE_API_KEY. Never pass a secret itself.',
  )
}

/** Parser of the name of a stored connection, or of one of its keys. */
export function parseConnectionName(text: string): string {
  const { data, error } = connectionNameSchema.safeParse(text)
  if (data !== undefined) return data
  throw new InvalidArgumentError(`the name \`${text}\` ${error.issues[0]?.message}.`)
}

export function parseMappingName(text: string): string {
  const { data, error } = mappingNameSchema.safeParse(text)
  if (data !== undefined) return data
  const [issue] = error.issues
  throw new InvalidArgumentError(`expected a name of at most 80 characters: ${issue?.message}.`)
}
