import { toStateName } from '../../../../shared/messages/state-name.ts'
import type { ExportRow, ResultRow } from '../../../../shared/run/results.ts'
import { toValueText } from '../../mapping/json-text.ts'
import { INPUT_COLUMNS } from '../../source/jsonl/openai-batch.ts'
import type { ReportWriter } from './csv-report.ts'

/** What requests name where the source says no model. */
const DEFAULT_MODEL = 'omni-moderation-latest'

/** Of a source of such requests: the model that each named. */
const MODEL_COLUMN = 'body.model'

/**
 * Requests for OpenAI's batch API, one for each row, whether it was sent or not: what the row sends as `input`, a text as
 * it is and an address as a part. Rows need their `fields`. Reading the file as a source gives the same ids and contents.
 */
export function createBatchInputWriter({ columns }: { columns: readonly string[] }): ReportWriter {
  const modelAt = columns.indexOf(MODEL_COLUMN)
  return {
    header: () => '',
    guardedCells: 0,
    row(result) {
      const model = result.cells[modelAt] || DEFAULT_MODEL
      const body = { model, input: toInput(result.fields ?? {}) }
      const line = { custom_id: toCustomId(result), method: 'POST', url: '/v1/moderations', body }
      return `${JSON.stringify(line)}\n`
    },
  }
}

/** A text alone is one; a row with both, which is not sent, has both as parts. */
function toInput({ text_data: text, url }: NonNullable<ExportRow['fields']>): unknown {
  const toText = (value: unknown) => (value === undefined || value === null ? '' : toValueText(value))
  const address = toText(url)
  if (address === '') return toText(text)
  const image = { type: 'image_url', image_url: { url: address } }
  return toText(text) === '' ? [image] : [{ type: 'text', text: toText(text) }, image]
}

/**
 * Answers as OpenAI's batch API writes them, one line for each request: of one that succeeded a `response` with a result for
 * each of its inputs, whose categories are the rules that any row of the run triggered and whose scores are those of
 * classes; of any other an `error`. Rows of one line of a source of such requests are one request again: where any of its
 * inputs has no answer, it is an error, which has the results of the others.
 */
export function createBatchOutputWriter(options: {
  runId: string
  columns: readonly string[]
  rules: ResultRow['triggeredRules']
}): ReportWriter {
  const { runId, columns } = options
  const nameOf = nameRules(options.rules)
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

/** A request of which rows have been read; `row` is the first of them, `answers` are by the number of their input. */
interface OpenRequest {
  customId: string
  row: number
  count: number
  answers: Map<number, InputAnswer>
}

type InputAnswer =
  | { kind: 'answered'; status: number; taskId: string | null; models: readonly string[]; result: object }
  | { kind: 'error'; error: { code: string; message: string } }

/** Which input of which line of the source a row is. */
interface BatchPlace {
  customId: string
  number: number
  count: number
}

function isSameRequest(open: OpenRequest, { customId, number, count }: BatchPlace): boolean {
  return open.customId === customId && open.count === count && Math.max(...open.answers.keys()) < number
}

/** A function that says which input of a line a row is; null for a row that is a request of its own. */
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

/** The error of the first input that has one; of a request of which rows were left out, that they were. */
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
  const { status, taskId, triggeredRules, classScores, task } = result
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
    models: (task?.models ?? []).map(({ model }) => model),
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

/** The id of the row's post, as it is in the source; of one without a usable id the number of its record. */
function toCustomId({ postId, fields, row }: ExportRow): string {
  const own = postId ?? fields?.['post_id']
  return own === undefined || own === null || own === '' ? `row-${row}` : toValueText(own)
}

/** Rules by id with a name each has alone. */
function nameRules(rules: ResultRow['triggeredRules']): Map<string, string> {
  const isShared = (name: string) => rules.filter(({ ruleName }) => ruleName === name).length > 1
  return new Map(
    rules.map(({ ruleId, ruleName }) => {
      if (ruleName === '') return [ruleId, ruleId]
      return [ruleId, isShared(ruleName) ? `${ruleName} (${ruleId})` : ruleName]
    }),
  )
}
