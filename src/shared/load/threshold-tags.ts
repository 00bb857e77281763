import { MistakeError, skipSpace } from '../messages/text-mistake.ts'

/** A tag that a threshold names, and its required value. */
export interface ThresholdTag {
  name: string
  value: string
}

/** The properties of a request that tags refer to. */
export interface TaggedRequest {
  /** HTTP status; 0 without an answer. */
  status: number
  isSuccess: boolean
  /** From the service, or from what broke the request; null if it has none. */
  errorCode: string | null
  /** Number of its stage, from 0; null if the pace has no stages. */
  stage: number | null
  /** Bit set: which tags of {@link listRowTags} its row has. */
  rowTags: number
}

/** What decides which requests have a tag. */
export interface TagContext {
  /** Names of the requests' URL. */
  urls: readonly string[]
  /** Names of the stages; empty if the pace has none. */
  stages: readonly (string | undefined)[]
  /** The tags of rows, as {@link listRowTags} lists them. */
  rowTags: readonly ThresholdTag[]
}

/** Most row tags in all thresholds: each is a bit of a number. */
export const ROW_TAGS_MAX = 30

/** k6's numbers for what breaks a request, with Sluice's codes; 1400 to 1599 are HTTP statuses plus 1000. */
const K6_ERROR_CODES: Readonly<Record<string, readonly string[]>> = {
  1050: ['TIMEOUT'],
  1101: ['ENOTFOUND'],
  1201: ['EPIPE'],
  1211: ['ETIMEDOUT', 'UND_ERR_CONNECT_TIMEOUT'],
  1212: ['ECONNREFUSED'],
  1220: ['ECONNRESET'],
  1310: ['SELF_SIGNED_CERT_IN_CHAIN', 'DEPTH_ZERO_SELF_SIGNED_CERT', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  1311: ['ERR_TLS_CERT_ALTNAME_INVALID'],
}

interface KnownTag {
  values: RegExp
  expected: string
  /** Whether a request has the tag with this value; absent for a tag that all requests share. */
  toMatch?: (value: string, context: TagContext) => (request: TaggedRequest) => boolean
}

/** Tags that do not depend on the source. Any other name is a column of the source. */
const KNOWN_TAGS = {
  /** 0 if there was no answer. */
  status: {
    values: /^(0|[1-5]\d\d)$/,
    expected: 'a status such as 200, or 0 for no answer',
    toMatch: (value) => {
      const status = Number(value)
      return (request) => request.status === status
    },
  },
  /** Whether it succeeded; in k6, whether its status is from 200 to 399. */
  expected_response: {
    values: /^(true|false)$/,
    expected: '`true` or `false`',
    toMatch: (value) => (request) => request.isSuccess === (value === 'true'),
  },
  error_code: {
    values: new RegExp(`^(?!1\\d{3}$).|^1[45]\\d\\d$|^(${Object.keys(K6_ERROR_CODES).join('|')})$`),
    expected: `the code of an error, one of k6's numbers ${Object.keys(K6_ERROR_CODES).join(', ')}, or 1000 more than an HTTP status`,
    toMatch: toErrorMatch,
  },
  /** The stage's number from 0, as k6's own helper gives it, or its name. */
  stage: {
    values: /./,
    expected: 'the number of a stage from 0, or its name',
    toMatch: (value, { stages }) => {
      const number = findStage(value, stages)
      return (request) => number !== null && request.stage === number
    },
  },
  scenario: {
    values: /^(default|main)$/,
    expected: '`main` or `default`: all measured requests are of one scenario',
  },
  method: { values: /^POST$/, expected: '`POST`: a load test sends no other requests' },
  name: { values: /./, expected: "the requests' URL or its path", toMatch: toUrlMatch },
  url: { values: /./, expected: "the requests' URL or its path", toMatch: toUrlMatch },
} as const satisfies Record<string, KnownTag>

/** Tags of k6 that no request here has. */
const MISSING_TAGS: readonly string[] = ['group', 'check', 'proto', 'subproto', 'tls_version', 'vu', 'iter']

const KNOWN: Readonly<Record<string, KnownTag>> = KNOWN_TAGS

function toErrorMatch(value: string): (request: TaggedRequest) => boolean {
  const status = /^1[45]\d\d$/.test(value) ? Number(value) - 1000 : null
  if (status !== null) return (request) => request.status === status
  const codes = K6_ERROR_CODES[value] ?? [value]
  return ({ errorCode }) => errorCode !== null && codes.includes(errorCode)
}

function toUrlMatch(value: string, { urls }: TagContext): () => boolean {
  const isIt = urls.includes(value)
  return () => isIt
}

function findStage(value: string, stages: readonly (string | undefined)[]): number | null {
  const named = stages.indexOf(value)
  if (named !== -1) return named
  return /^\d+$/.test(value) && Number(value) < stages.length ? Number(value) : null
}

/** Where an expression's tags end, and the parts of each, as indexes in the text. */
interface TagSpans {
  /** Index of the closing brace; -1 if there is none. */
  close: number
  /** `colon`: -1 if the tag has none. */
  parts: { from: number; colon: number; to: number }[]
}

/** A quoted name or value with spaces around it, up to the sign that ends it. */
const QUOTED = /\s*(?:"[^"]*"|'[^']*')\s*(?=[:,}])/y

/** Finds the tags after the brace at `open`. Quoted text may contain commas, colons and braces. */
export function scanTags(text: string, open: number): TagSpans {
  const parts: TagSpans['parts'] = []
  let [from, colon, at] = [open + 1, -1, open + 1]
  const skipQuoted = () => {
    QUOTED.lastIndex = at
    if (QUOTED.test(text)) at = QUOTED.lastIndex
  }
  skipQuoted()
  for (; at < text.length; at += 1) {
    const sign = text.charAt(at)
    if (sign === ':' && colon === -1) {
      colon = at
      at += 1
      skipQuoted()
      at -= 1
    } else if (sign === ',' || sign === '}') {
      parts.push({ from, colon, to: at })
      if (sign === '}') return { close: at, parts }
      ;[from, colon] = [at + 1, -1]
      at += 1
      skipQuoted()
      at -= 1
    }
  }
  return { close: -1, parts }
}

export function parseTags(text: string, { parts }: Pick<TagSpans, 'parts'>): ThresholdTag[] {
  const tags: ThresholdTag[] = []
  for (const { from, colon, to } of parts) {
    const at = skipSpace(text, from)
    const name = unquote(text.slice(from, colon === -1 ? to : colon))
    const value = colon === -1 ? '' : unquote(text.slice(colon + 1, to))
    const length = Math.max(1, text.slice(from, to).trim().length)
    if (name === '' || colon === -1)
      throw new MistakeError(text, at, 'a tag and its value, as in `status:200`', length)
    const known = Object.hasOwn(KNOWN, name) ? KNOWN[name] : undefined
    if (MISSING_TAGS.includes(name)) {
      const names = Object.keys(KNOWN).join(', ')
      throw new MistakeError(
        text,
        at,
        `a tag that requests of a load test have (${names}), or a column`,
        length,
      )
    }
    if (known !== undefined && !known.values.test(value)) {
      throw new MistakeError(text, at, `${known.expected} for the tag ${name}`, length)
    }
    if (tags.some((tag) => tag.name === name))
      throw new MistakeError(text, at, `the tag ${name} once`, length)
    tags.push({ name, value })
  }
  return tags
}

/** Removes spaces and quotes as k6 does. */
function unquote(text: string): string {
  const trimmed = text.trim()
  const quoted = /^(["'])(.*)\1$/s.exec(trimmed)
  return quoted?.[2] ?? trimmed
}

/** Tags as written in an expression: `{expected_response:true,status:200}`; empty without tags. */
export function formatTags(tags: readonly ThresholdTag[]): string {
  const parts = tags.map(({ name, value }) => `${quote(name, /[:,}]/)}:${quote(value, /[,}]/)}`)
  return tags.length === 0 ? '' : `{${parts.join(',')}}`
}

/** Quotes a text that contains a sign that would end it, or begins or ends with quotes or spaces. */
function quote(text: string, ends: RegExp): string {
  if (!ends.test(text) && !/^["'\s]|["'\s]$/.test(text)) return text
  return text.includes('"') ? `'${text}'` : `"${text}"`
}

/** Whether all requests have a tag, for any source and service. */
export function isOfAll({ name }: ThresholdTag): boolean {
  return name === 'scenario' || name === 'method'
}

const NAMES_OF_OUTCOME: readonly string[] = ['status', 'expected_response', 'error_code']

/** Whether a tag is about how requests ended. */
export function isOfOutcome({ name }: ThresholdTag): boolean {
  return NAMES_OF_OUTCOME.includes(name)
}

/** Whether a tag is a column of the source. */
export function isRowTag({ name }: ThresholdTag): boolean {
  return !Object.hasOwn(KNOWN, name)
}

/** The row tags in these sets, each once, in order of appearance. */
export function listRowTags(sets: readonly (readonly ThresholdTag[])[]): ThresholdTag[] {
  const own = sets.flat().filter(isRowTag)
  return [...new Map(own.map((tag) => [JSON.stringify([tag.name, tag.value]), tag])).values()]
}

/** Whether a request has all of these tags. */
export function createTagMatcher(
  tags: readonly ThresholdTag[],
  context: TagContext,
): (request: TaggedRequest) => boolean {
  const matches = tags.flatMap((tag): ((request: TaggedRequest) => boolean)[] => {
    if (isOfAll(tag)) return []
    if (!isRowTag(tag)) return [KNOWN[tag.name]?.toMatch?.(tag.value, context) ?? (() => true)]
    const bit = context.rowTags.findIndex(({ name, value }) => name === tag.name && value === tag.value)
    return [({ rowTags }) => bit !== -1 && (rowTags & (1 << bit)) !== 0]
  })
  return (request) => matches.every((has) => has(request))
}

/** A tag for a stage that the pace does not have; null if there is none. */
export function findUnknownStage(
  tags: readonly ThresholdTag[],
  stages: readonly (string | undefined)[],
): ThresholdTag | null {
  return tags.find(({ name, value }) => name === 'stage' && findStage(value, stages) === null) ?? null
}

/** A tag for a URL other than the requests'; null if there is none. */
export function findOtherUrl(tags: readonly ThresholdTag[], urls: readonly string[]): ThresholdTag | null {
  return tags.find(({ name, value }) => (name === 'name' || name === 'url') && !urls.includes(value)) ?? null
}
