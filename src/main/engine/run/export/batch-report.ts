import { toStateName } from '../../../../shared/messages/state-name.ts'
import type { ExportRow, ResultRow } from '../../../../shared/run/results.ts'
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
  const toText = (value: unknown) => (value === undefined || value === null ? '' : String(value))
  const address = toText(url)
  if (address === '') return toText(text)
  const image = { type: 'image_url', image_url: { url: address } }
  return toText(text) === '' ? [image] : [{ type: 'text', text: toText(text) }, image]
}

/**
 * Answers as OpenAI's batch API writes them, one line for each row: of one that succeeded a `response` with one result,
 * whose categories are the rules that any row of the run triggered and whose scores are those of classes; of any other an
 * `error`.
 */
export function createBatchOutputWriter({
  runId,
  rules,
}: {
  runId: string
  rules: ResultRow['triggeredRules']
}): ReportWriter {
  const nameOf = nameRules(rules)
  return {
    header: () => '',
    guardedCells: 0,
    row(result) {
      const hasAnswer = result.state === 'succeeded'
      return `${JSON.stringify({
        id: `${runId}-${result.row}`,
        custom_id: toCustomId(result),
        response: hasAnswer ? toResponse(result, nameOf) : null,
        error: hasAnswer ? null : toError(result),
      })}\n`
    },
  }
}

function toResponse(result: ExportRow, nameOf: ReadonlyMap<string, string>) {
  const { status, taskId, triggeredRules, classScores, task } = result
  const triggered = new Set(triggeredRules.map(({ ruleId }) => ruleId))
  const decided = [...nameOf].map(([ruleId, name]): [string, boolean] => [name, triggered.has(ruleId)])
  const beyond = triggeredRules.flatMap(({ ruleId, ruleName }): [string, boolean][] =>
    nameOf.has(ruleId) ? [] : [[ruleName || ruleId, true]],
  )
  const scores = classScores.map(({ className, score }): [string, number] => [className, score])
  return {
    status_code: status ?? 200,
    request_id: taskId,
    body: {
      id: taskId,
      model: (task?.models ?? []).map(({ model }) => model).join(', '),
      results: [
        {
          flagged: triggered.size > 0,
          categories: Object.fromEntries([...decided, ...beyond]),
          category_scores: Object.fromEntries(scores),
        },
      ],
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
  return own === undefined || own === null || own === '' ? `row-${row}` : String(own)
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
