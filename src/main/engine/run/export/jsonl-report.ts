import { isJson } from '../../../../shared/messages/pretty-json.ts'
import { toStateName } from '../../../../shared/messages/state-name.ts'
import { toRowNumber } from '../../../../shared/plan/source-place.ts'
import type { AttemptDetail, CutFrom, ExportRow } from '../../../../shared/run/results.ts'
import type { ReportOptions, ReportWriter } from './csv-report.ts'

/**
 * A report of one JSON object a line, without a byte-order mark. Cells are named by column, or an array if
 * names are not distinct or the row is too wide; what was JSON in the source is JSON again. Bodies are the
 * original JSON text under `body`, with every digit and doubled member; cut or invalid JSON is a string under
 * `text`.
 */
export function createJsonlWriter({
  columns,
  header,
  lossless,
  members,
}: Pick<ReportOptions, 'columns' | 'header' | 'lossless' | 'members'>): ReportWriter {
  const asInSource = lossless && header !== null && new Set(header).size === columns.length ? header : columns
  const areDistinct = new Set(asInSource).size === columns.length
  const names = asInSource.map((name) => `${JSON.stringify(name)}:`)
  const toCells = ({ cells, kinds }: ExportRow): string => {
    const values = cells.map((cell, index) => toCellJson(cell, kinds?.[index]))
    if (!areDistinct || cells.length > names.length)
      return `[${values.map((value) => value ?? 'null').join(',')}]`
    // Written by hand: an object would put numeric names first, and lose `__proto__`.
    const named = values.flatMap((value, index) => (value === null ? [] : [`${names[index]}${value}`]))
    return `{${named.join(',')}}`
  }
  return {
    header: () => '',
    guardedCells: 0,
    row(result) {
      const tries = result.tries.map(toTry).join(',')
      const findings = JSON.stringify({ ...toFindings(result), ...members?.(result) }).slice(1, -1)
      const rest = `${JSON.stringify(toOutcome(result)).slice(1, -1)},"tries":[${tries}],${findings}`
      const { file } = result.place
      const inFile = file === undefined ? '' : `"file":${JSON.stringify(file)},`
      const row = JSON.stringify(toRowNumber(result.place))
      return `{"row":${row},"record":${result.row},${inFile}"cells":${toCells(result)},${rest},${toExchange(result)}}\n`
    },
  }
}

/** Null for a key missing from the source's row. */
function toCellJson(cell: string, kind: string | undefined): string | null {
  if (kind === '-') return null
  if (kind === 'n') return 'null'
  return kind === 'j' ? toOneLine(cell) : JSON.stringify(cell)
}

function toOutcome(result: ExportRow) {
  return {
    state: toStateName(result.state),
    status: result.status,
    error_code: result.errorCode,
    message: result.message,
    task_id: result.taskId,
    post_id: result.postId,
    triggered_rules: result.triggeredRules.map(({ ruleId, ruleName }) => ({
      rule_id: ruleId,
      rule_name: ruleName,
    })),
    class_scores: result.classScores.map(({ className, score }) => ({ class: className, score })),
    from_cache: result.content.fromCache,
    duration_ms: result.durationMs,
    attempts: result.attempts,
  }
}

function toTry({ response, ...tried }: AttemptDetail): string {
  const told = JSON.stringify({
    run_id: tried.runId,
    number: tried.number,
    sent_at: tried.sentAt,
    outcome: tried.outcome,
    status: tried.status,
    error_code: tried.errorCode,
    message: tried.message,
    duration_ms: tried.durationMs,
    ...(tried.traceparent !== undefined && { traceparent: tried.traceparent }),
  })
  if (response === undefined) return told
  return `${told.slice(0, -1)},"response":{${toBody(response.body, response.cutFrom)}}}`
}

function toFindings(result: ExportRow) {
  return {
    custom_index_item_id: result.customIndexItemId,
    answer: result.answer,
    callback_latency_ms: result.callbackLatencyMs,
    ...(result.corrections !== undefined && { corrections: result.corrections }),
    ...(result.verdicts !== undefined && {
      verdicts: result.verdicts.map(({ verdict, rule, note, given_at }) => ({
        verdict,
        rule,
        note,
        given_at,
      })),
    }),
  }
}

/** The members of an exchange, bodies unchanged. */
function toExchange({ exchangeInRow, request, response, callbacks }: ExportRow): string {
  const sent =
    request === null
      ? 'null'
      : `{"method":"${request.method}","url":${JSON.stringify(request.url)},"body":${toOneLine(request.body ?? 'null')}}`
  const answered = response === null ? 'null' : `{${toBody(response.body, response.cutFrom)}}`
  const posted = callbacks.map(
    ({ receivedAt, effect, body, cutFrom }) =>
      `{"received_at":"${receivedAt}","effect":${JSON.stringify(effect)},${toBody(body, cutFrom)}}`,
  )
  const standsIn = exchangeInRow === null ? 'null' : JSON.stringify(exchangeInRow.row)
  return `"exchange_in_row":${standsIn},"exchange_in_record":${exchangeInRow?.record ?? 'null'},"request":${sent},"response":${answered},"callbacks":[${posted.join(',')}]`
}

function toBody(text: string, cutFrom: CutFrom | null): string {
  if (cutFrom !== null)
    return `"text":${JSON.stringify(text)},"cut_from_bytes":${cutFrom.bytes},"is_cut":true`
  return isJson(text) ? `"body":${toOneLine(text)}` : `"text":${JSON.stringify(text)}`
}

/** JSON has no line break inside a string, so all line breaks are between values. */
export function toOneLine(json: string): string {
  return json.replace(/[\r\n]+/g, ' ')
}
