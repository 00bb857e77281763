import { toStateName } from '../../../../shared/messages/state-name.ts'
import type { ExportRow, ResultRow } from '../../../../shared/run/results.ts'
import { nameRules } from '../../../../shared/run/rule-names.ts'
import { toValueText } from '../../mapping/json-text.ts'
import {
  ENVELOPE,
  ENVELOPE_COLUMNS,
  INPUT_COLUMNS,
  isToModerations,
  PREFIXES,
} from '../../source/jsonl/openai-batch.ts'
import { type JsonMember, parseJsonLine } from '../../source/jsonl/parse-json-line.ts'
import type { ReportWriter } from './csv-report.ts'
import { SeenTexts } from './seen-texts.ts'

/** Model of requests whose source names none. */
const DEFAULT_MODEL = 'omni-moderation-latest'

/**
 * Writes requests for OpenAI's batch API, whether they were sent or not. If the source has such requests,
 * each line as it came, with what its rows send as inputs; an input exported without the others of its line
 * becomes its own request. Otherwise one request per row, with what it sends as `input`: a text unchanged, an
 * address as a part. Rows need their `fields`. Reading the file as a source gives the same ids and contents.
 * Leaves out rows without content and requests with the id of an earlier one, since a file with such a row is
 * refused as a whole.
 */
export function createBatchInputWriter({ columns }: { columns: readonly string[] }): ReportWriter {
  const written = new SeenTexts()
  const toPlace = createInputReader(columns)
  const toLine = createLineWriter(columns)
  const isOfBatch = columns.includes('custom_id') && columns.includes(INPUT_COLUMNS.count)
  let leftOut = 0
  let open: ExportRow[] = []

  function write(customId: string, rows: readonly ExportRow[], text: string): string {
    if (customId === '' || written.add(customId)) return `${text}\n`
    leftOut += rows.length
    return ''
  }

  /** A row that is a request of its own. */
  function writeRow(row: ExportRow): string {
    // Cells from JSON record their original kind.
    if (isOfBatch && row.kinds !== null) {
      const place = toPlace(row.cells)
      const customId = place === null ? (row.cells[columns.indexOf('custom_id')] ?? '') : toCustomId(row)
      return write(customId, [row], toLine([row], place === null ? null : customId))
    }
    const [customId, input] = [toCustomId(row), toInput([row.fields ?? {}])]
    if (input === '') {
      leftOut += 1
      return ''
    }
    const request = { custom_id: customId, ...ENVELOPE, body: { model: DEFAULT_MODEL, input } }
    return write(customId, [row], JSON.stringify(request))
  }

  function close(): string {
    const rows = open
    open = []
    const place = rows[0] === undefined ? null : toPlace(rows[0].cells)
    if (rows.length === place?.count) return write(place.customId, rows, toLine(rows, null))
    return rows.map(writeRow).join('')
  }

  return {
    header: () => '',
    guardedCells: 0,
    get leftOut() {
      return leftOut
    },
    row(result) {
      const place = isOfBatch && result.kinds !== null ? toPlace(result.cells) : null
      if (place === null) return close() + writeRow(result)
      const before = open[0] === undefined ? null : toPlace(open[0].cells)
      const isNext =
        before?.customId === place.customId &&
        before.count === place.count &&
        place.number === open.length + 1
      const closed = isNext ? '' : close()
      open.push(result)
      return closed
    },
    end: close,
  }
}

/**
 * What rows send: one text unchanged, several as a list, or as parts if one is an address or was a part. A
 * row with both, which is not sent, has both as parts.
 */
function toInput(rows: readonly (NonNullable<ExportRow['fields']> & { isPart?: boolean })[]): unknown {
  const toText = (value: unknown) => (value === undefined || value === null ? '' : toValueText(value))
  const contents = rows.map(({ text_data: text, url, isPart = false }) => {
    return { text: toText(text), url: toText(url), isPart }
  })
  if (contents.every(({ url, isPart }) => url === '' && !isPart)) {
    const texts = contents.map(({ text }) => text)
    return texts.length === 1 ? texts[0] : texts
  }
  return contents.flatMap(({ text, url }) => [
    ...(text === '' && url !== '' ? [] : [{ type: 'text', text }]),
    ...(url === '' ? [] : [{ type: 'image_url', image_url: { url } }]),
  ])
}

/** Columns that are not members of a line. */
const ADDED: ReadonlySet<string> = new Set([
  ...['post_id', 'text_data', 'url', 'custom_id', 'body.input'],
  ...Object.values(INPUT_COLUMNS),
  ...Object.values(ENVELOPE_COLUMNS),
])

/** Writes a line of a source of requests from its inputs' rows. Values other than texts keep their JSON. */
function createLineWriter(columns: readonly string[]) {
  const at = (name: string) => columns.indexOf(name)
  const [idAt, methodAt, urlAt] = [at('custom_id'), at(ENVELOPE_COLUMNS.method), at(ENVELOPE_COLUMNS.url)]
  const [inputAt, typeAt] = [at('body.input'), at(INPUT_COLUMNS.type)]
  const kept = columns.flatMap((name, index) => (ADDED.has(name) ? [] : [index]))
  const outer = columns.map((name) => findOuter(name, columns))
  const [ofBody, ofLine] = [true, false].map((isBody) =>
    kept.filter((index) => columns[index]?.startsWith(PREFIXES.body) === isBody),
  )

  const toJson = ({ cells, kinds }: ExportRow, index: number): string | null => {
    const cell = cells[index] ?? ''
    switch (kinds?.[index]) {
      case 's':
        return JSON.stringify(cell)
      case 'j':
        return cell
      case 'n':
        return 'null'
      default:
        return null
    }
  }
  /** Whether a cell repeats a field of an object in another column, and so is written with that object. */
  const isNested = (row: ExportRow, index: number, json: string): boolean =>
    (outer[index] ?? []).some(({ at, path }) => hasField(toJson(row, at), path, json))
  const toMembers = (row: ExportRow, indexes: readonly number[] = [], prefix: string): string[] =>
    indexes.flatMap((index) => {
      const [name = '', json] = [columns[index], toJson(row, index)]
      const key = name.startsWith(prefix) ? name.slice(prefix.length) : name
      return json === null || isNested(row, index, json) ? [] : [`${JSON.stringify(key)}:${json}`]
    })
  /** As in the line; a missing member was read as null. */
  const toEnvelope = (row: ExportRow, index: number, usual: string): string | undefined => {
    const json = toJson(row, index)
    return json === 'null' ? undefined : (json ?? JSON.stringify(usual))
  }

  /** With the given id, or else that of the line. */
  return (rows: readonly ExportRow[], customId: string | null): string => {
    const [row] = rows
    if (row === undefined) return ''
    const id = customId === null ? toJson(row, idAt) : JSON.stringify(customId)
    const [method, url] = [toEnvelope(row, methodAt, ENVELOPE.method), toEnvelope(row, urlAt, ENVELOPE.url)]
    const written = toJson(row, inputAt)
    const isRequest = isToModerations(...([url, method].map(readText) as [string?, string?]))
    const contents = rows.map(({ fields, cells }) => ({ ...fields, isPart: cells[typeAt] === 'text' }))
    const input = written ?? (isRequest ? JSON.stringify(toInput(contents)) : null)
    const body = [...toMembers(row, ofBody, PREFIXES.body), ...(input === null ? [] : [`"input":${input}`])]
    const members = [
      ...(id === null || id === '""' ? [] : [`"custom_id":${id}`]),
      ...(method === undefined ? [] : [`"method":${method}`]),
      ...(url === undefined ? [] : [`"url":${url}`]),
      ...toMembers(row, ofLine, PREFIXES.own),
      ...(body.length === 0 ? [] : [`"body":{${body.join(',')}}`]),
    ]
    return `{${members.join(',')}}`
  }
}

function toMemberJson({ kind, cell }: JsonMember): string {
  if (kind === 'n') return 'null'
  return kind === 's' ? JSON.stringify(cell.toWellFormed()) : cell
}

function readText(json: string | undefined): string | undefined {
  const value: unknown = json === undefined ? undefined : JSON.parse(json)
  return value === undefined ? undefined : String(value)
}

/** The columns whose objects may contain a column as a field, and its path there; keys may have dots. */
function findOuter(name: string, columns: readonly string[]): { at: number; path: string }[] {
  const inner = name.startsWith(PREFIXES.body) ? PREFIXES.body.length : 0
  const found: { at: number; path: string }[] = []
  for (let dot = name.indexOf('.', inner); dot !== -1; dot = name.indexOf('.', dot + 1)) {
    const at = columns.indexOf(name.slice(0, dot))
    if (at !== -1) found.push({ at, path: name.slice(dot + 1) })
  }
  return found
}

/** Whether an object's JSON has a field with this JSON; `path` has its keys, separated by dots. */
function hasField(object: string | null, path: string, json: string): boolean {
  if (object === null || !object.startsWith('{')) return false
  const parsed = parseJsonLine(object)
  if (parsed.kind !== 'object') return false
  return parsed.members.some((member) => {
    const key = member.key.toWellFormed()
    const value = toMemberJson(member)
    if (key === path) return value === json
    return path.startsWith(`${key}.`) && hasField(value, path.slice(key.length + 1), json)
  })
}

/**
 * Writes answers as OpenAI's batch API does, one line per request. A request that succeeded gets a `response`
 * with one result per input: categories are the rules that any row of the run triggered, scores those of
 * classes. Any other gets an `error`. Rows of one line of a source of such requests are one request again; if
 * one of its inputs has no answer, it becomes an error with the results of the others.
 */
export function createBatchOutputWriter(options: {
  runId: string
  columns: readonly string[]
  rules: ResultRow['triggeredRules']
}): ReportWriter {
  const { runId, columns } = options
  const nameOf = nameRules(options.rules.map(({ ruleId: id, ruleName: name }) => ({ id, name })))
  const toInputOf = createInputReader(columns)
  let open: OpenRequest | null = null
  const close = () => {
    const line = open === null ? '' : `${JSON.stringify(toRequest(open, runId))}\n`
    open = null
    return line
  }
  return {
    header: () => '',
    guardedCells: 0,
    row(result) {
      const at = toInputOf(result.cells)
      const answer = toAnswer(result, nameOf)
      if (at === null) {
        const alone = {
          customId: toCustomId(result),
          row: result.row,
          count: 1,
          answers: new Map([[1, answer]]),
        }
        return `${close()}${JSON.stringify(toRequest(alone, runId))}\n`
      }
      const isNext = open !== null && isSameRequest(open, at) && !open.answers.has(at.number)
      const before = isNext ? '' : close()
      open ??= { customId: at.customId, row: result.row, count: at.count, answers: new Map() }
      open.answers.set(at.number, answer)
      return before
    },
    end: close,
  }
}

/** A request whose rows are being read; `row` is the first of them, `answers` are by input number. */
interface OpenRequest {
  customId: string
  row: number
  count: number
  answers: Map<number, InputAnswer>
}

type InputAnswer =
  | { kind: 'answered'; status: number; taskId: string | null; models: readonly string[]; result: object }
  | { kind: 'error'; error: { code: string; message: string } }

/** The input and source line of a row. */
interface BatchPlace {
  customId: string
  number: number
  count: number
}

function isSameRequest(open: OpenRequest, { customId, number, count }: BatchPlace): boolean {
  return open.customId === customId && open.count === count && Math.max(...open.answers.keys()) < number
}

/** Creates a function that gives a row's input and line; null for a row that is its own request. */
function createInputReader(columns: readonly string[]): (cells: readonly string[]) => BatchPlace | null {
  const idAt = columns.indexOf('custom_id')
  const numberAt = columns.indexOf(INPUT_COLUMNS.number)
  const countAt = columns.indexOf(INPUT_COLUMNS.count)
  if ([idAt, numberAt, countAt].includes(-1)) return () => null
  return (cells) => {
    const [number, count] = [Number(cells[numberAt] || 0), Number(cells[countAt] || 0)]
    const isInput = Number.isSafeInteger(number) && Number.isSafeInteger(count) && number > 0
    return isInput && count > 1 && number <= count ? { customId: cells[idAt] ?? '', number, count } : null
  }
}

function toRequest({ customId, row, count, answers }: OpenRequest, runId: string) {
  const numbers = Array.from({ length: count }, (_, index) => index + 1)
  const inOrder = numbers.flatMap((number) => answers.get(number) ?? [])
  const answered = inOrder.filter((answer) => answer.kind === 'answered')
  const results = numbers.map((number) => {
    const answer = answers.get(number)
    return answer?.kind === 'answered' ? answer.result : null
  })
  const isWhole = answered.length === count
  const taskId = answered.flatMap((answer) => answer.taskId ?? []).join(', ') || null
  const models = [...new Set(answered.flatMap((answer) => answer.models))]
  return {
    id: `${runId}-${row}`,
    custom_id: customId,
    response: isWhole
      ? {
          status_code: answered[0]?.status ?? 200,
          request_id: taskId,
          body: { id: taskId, model: models.join(', '), results },
        }
      : null,
    error: isWhole
      ? null
      : { ...findError(answers, count), ...(count > 1 && answered.length > 0 && { results }) },
  }
}

/** The first error among the inputs; for a request with rows left out, that they were. */
function findError(answers: OpenRequest['answers'], count: number): { code: string; message: string } {
  for (const [number, answer] of answers) {
    if (answer.kind === 'answered') continue
    const { code, message } = answer.error
    return { code, message: count === 1 ? message : `Input ${number} of ${count}: ${message}` }
  }
  const message = `The export has only ${answers.size} of the ${count} inputs of this request.`
  return { code: 'inputs_left_out', message }
}

function toAnswer(result: ExportRow, nameOf: ReadonlyMap<string, string>): InputAnswer {
  if (result.state !== 'succeeded') return { kind: 'error', error: toError(result) }
  const { status, taskId, triggeredRules, classScores, content } = result
  const triggered = new Set(triggeredRules.map(({ ruleId }) => ruleId))
  const decided = [...nameOf].map(([ruleId, name]): [string, boolean] => [name, triggered.has(ruleId)])
  const beyond = triggeredRules.flatMap(({ ruleId, ruleName }): [string, boolean][] =>
    nameOf.has(ruleId) ? [] : [[ruleName || ruleId, true]],
  )
  const scores = classScores.map(({ className, score }): [string, number] => [className, score])
  return {
    kind: 'answered',
    status: status ?? 200,
    taskId,
    models: (content.task?.models ?? []).map(({ model }) => model),
    result: {
      flagged: triggered.size > 0,
      categories: Object.fromEntries([...decided, ...beyond]),
      category_scores: Object.fromEntries(scores),
    },
  }
}

function toError({ state, errorCode, message }: ExportRow) {
  const code = toStateName(state)
  return { code: errorCode ?? code, message: message ?? `The row is ${code.replaceAll('_', ' ')}.` }
}

/** The post_id of the row, as in the source; without a usable one, its record's number. */
function toCustomId({ postId, fields, row }: ExportRow): string {
  const own = postId ?? fields?.['post_id']
  return own === undefined || own === null || own === '' ? `row-${row}` : toValueText(own)
}
