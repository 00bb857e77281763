import type { FoundProblem } from '../../../../shared/messages/problem-messages.ts'
import { toFound } from '../../../../shared/run/problem.ts'
import { type JsonMember, parseJsonLine } from './parse-json-line.ts'

/** A row of a request, and the request's fault. */
export interface BatchRow {
  members: readonly JsonMember[]
  /** Keys that are read and occur more than once. */
  doubled?: readonly string[]
  fault?: { args: { part: 'url' | 'method' | 'input' } } & Pick<FoundProblem, 'found'>
}

/**
 * Columns of an input. Its number and the number of inputs are filled if the line has several; its type is
 * there for a text that is a part, as images always are.
 */
export const INPUT_COLUMNS = { number: 'input', count: 'inputs', type: 'input_type' } as const

/** Column names for rows of requests; a key of the line with one of these gets the prefix {@link OWN}. */
const COLUMNS: ReadonlySet<string> = new Set([
  ...['post_id', 'text_data', 'url', 'custom_id'],
  ...Object.values(INPUT_COLUMNS),
])
const OWN = 'line.'

/** Members of a line that say where it goes, with their usual values; another value becomes a column. */
export const ENVELOPE = { method: 'POST', url: '/v1/moderations' } as const

/** Columns for what differs in a line from {@link ENVELOPE}; JSON null for what it lacks. */
export const ENVELOPE_COLUMNS = { method: `${OWN}method`, url: `${OWN}url` } as const

/** Prefixes of names of members of the body, and of members of a line with the name of another column. */
export const PREFIXES = { body: 'body.', own: OWN } as const

/** The endpoint, also at services with the same interface. */
const MODERATIONS = /(?:^|\/)moderations$/

/** Whether a line goes to the moderation endpoint. */
export function isToModerations(url: string | undefined, method: string | undefined): boolean {
  return MODERATIONS.test(url ?? '') && (method === undefined || method.toUpperCase() === ENVELOPE.method)
}

/** Whether an object is a request to the moderation endpoint in a file for OpenAI's batch API. */
export function isBatchRequest(members: readonly JsonMember[]): boolean {
  const body = find(members, 'body')
  return (
    find(members, 'custom_id') !== undefined &&
    MODERATIONS.test(find(members, 'url')?.cell ?? '') &&
    body !== undefined &&
    find(readMembers(body), 'input') !== undefined
  )
}

/**
 * The rows of a request, one per input: the text is `text_data`, an image's address `url`, and `custom_id` is
 * `post_id`, followed by the input's number if there are several. All other members are columns, too, those
 * of the body as `body.NAME`. A request that does not moderate texts and images is one row with a fault.
 */
export function toBatchRows(members: readonly JsonMember[]): BatchRow[] {
  const id = find(members, 'custom_id')
  const body = find(members, 'body')
  const ofBody = body === undefined ? [] : readMembers(body)
  const input = find(ofBody, 'input')
  const inputs = input === undefined ? [] : readInputs(input)
  const others = [
    ...members.filter(({ key }) => key !== 'custom_id' && key !== 'body' && !(key in ENVELOPE)),
    // A body that is not an object stays unchanged.
    ...(body !== undefined && ofBody.length === 0 ? [body] : []),
  ].map((member) => (COLUMNS.has(member.key) ? { ...member, key: OWN + member.key } : member))
  const inBody = ofBody.map((member) => ({ ...member, key: `body.${member.key}` }))
  const rest = [
    ...others,
    ...keepEnvelope(members, 'method'),
    ...keepEnvelope(members, 'url'),
    ...inBody.filter(({ key }) => key !== 'body.input'),
  ]
  const toRow = (content: Omit<BatchInput, 'unknown'>, number: number | null): JsonMember[] => [
    toText('post_id', number === null ? (id?.cell ?? '') : `${id?.cell ?? ''}-${number}`),
    toText('text_data', content.text),
    toText('url', content.url),
    id ?? toText('custom_id', ''),
    toText(INPUT_COLUMNS.number, number === null ? '' : String(number)),
    toText(INPUT_COLUMNS.count, number === null ? '' : String(inputs.length)),
    ...(content.isPart && content.url === '' ? [toText(INPUT_COLUMNS.type, 'text')] : []),
    ...rest,
  ]
  const fault = findFault(members, inputs)
  const doubled = [...listDoubled(members, ''), ...listDoubled(ofBody, 'body.')]
  const found = doubled.length === 0 ? {} : { doubled }
  const [only] = inputs
  if (fault !== null || only === undefined) {
    const kept = inBody.filter(({ key }) => key === 'body.input')
    return [{ members: [...toRow(EMPTY, null), ...kept], ...(fault && { fault }), ...found }]
  }
  if (inputs.length < 2) return [{ members: toRow(only, null), ...found }]
  return inputs.map((one, index) => ({ members: toRow(one, index + 1), ...found }))
}

/** The member of a line as its own column, if it differs from nearly all lines. */
function keepEnvelope(members: readonly JsonMember[], key: keyof typeof ENVELOPE): JsonMember[] {
  const found = find(members, key)
  if (found === undefined) return [{ ...toText(ENVELOPE_COLUMNS[key], ''), kind: 'n' }]
  return found.cell === ENVELOPE[key] ? [] : [{ ...found, key: ENVELOPE_COLUMNS[key] }]
}

function findFault(
  members: readonly JsonMember[],
  inputs: readonly BatchInput[],
): Exclude<BatchRow['fault'], undefined> | null {
  const method = find(members, 'method')
  const url = find(members, 'url')
  const toFault = (part: 'url' | 'method' | 'input', cell: string | undefined) => ({
    args: { part },
    ...(cell !== undefined && { found: toFound(cell.toWellFormed()) }),
  })
  if (!MODERATIONS.test(url?.cell ?? '')) return toFault('url', url?.cell)
  if (method !== undefined && method.cell.toUpperCase() !== 'POST') return toFault('method', method.cell)
  const unknown = inputs.find((input) => input.unknown !== undefined)
  return unknown === undefined ? null : toFault('input', unknown.unknown)
}

/** One input of a request: a text or an image's address, as a part or alone; `unknown` is any other JSON. */
interface BatchInput {
  text: string
  url: string
  isPart?: true
  unknown?: string
}

const EMPTY: BatchInput = { text: '', url: '' }

function readInputs({ cell, kind }: JsonMember): BatchInput[] {
  if (kind === 's') return [{ text: cell, url: '' }]
  if (kind === 'n') return []
  // Texts have no digits to lose, so reading the values is enough.
  const value: unknown = JSON.parse(cell)
  return Array.isArray(value) ? value.map(readInput) : [readInput(value)]
}

function readInput(value: unknown): BatchInput {
  if (typeof value === 'string') return { text: value, url: '' }
  const { type, text, image_url: image } = (value ?? {}) as Record<string, unknown>
  if (type === 'text' && typeof text === 'string') return { text, url: '', isPart: true }
  const url = typeof image === 'string' ? image : (image as { url?: unknown } | null | undefined)?.url
  if (type === 'image_url' && typeof url === 'string') return { text: '', url, isPart: true }
  return { ...EMPTY, unknown: JSON.stringify(value) }
}

/** The last member with this name counts, as elsewhere. */
function find(members: readonly JsonMember[], key: string): JsonMember | undefined {
  return members.findLast((member) => member.key === key)
}

/** The keys used here that occur more than once; others are columns, which their reader reports. */
function listDoubled(members: readonly JsonMember[], prefix: '' | 'body.'): string[] {
  const read = prefix === '' ? ['custom_id', 'method', 'url', 'body'] : ['input']
  const isDoubled = (key: string) => members.filter((member) => member.key === key).length > 1
  return read.filter(isDoubled).map((key) => prefix + key)
}

function readMembers({ cell, kind }: JsonMember): readonly JsonMember[] {
  const parsed = kind === 'j' && cell.startsWith('{') ? parseJsonLine(cell) : null
  return parsed?.kind === 'object' ? parsed.members : []
}

function toText(key: string, cell: string): JsonMember {
  return { key, cell, kind: 's', from: 0, valueFrom: 0, to: 0 }
}
