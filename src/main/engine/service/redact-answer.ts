import { SERVICE_ERRORS } from '../../../shared/service/errors.ts'
import { parseJson } from '../../../shared/service/parse-json.ts'
import { REDACTED, type Redactor } from '../secrets/redactor.ts'

/** Member names in the interface's answers that are long enough to be a secret. */
const NAMES: ReadonlySet<string> = new Set([
  ...['action_id', 'action_name', 'action_reasons', 'added_terms', 'appeal_id', 'appeal_judgment'],
  ...['appeal_status', 'application_id', 'content_id', 'content_metadata', 'content_variant', 'created_at'],
  ...['created_on', 'custom_classes', 'custom_index_item_id', 'display_name', 'end_char_index', 'end_index'],
  ...['error_code', 'failed_terms', 'from_cache', 'inference_client_version', 'language', 'metadata'],
  ...['model_type', 'model_version', 'moderated_classes', 'non_existent_terms', 'original_decision'],
  ...['overturned', 'pii_entities', 'pre_existing_terms', 'project_id', 'response', 'rule_name', 'rule_type'],
  ...['show_alert', 'start_char_index', 'start_index', 'text_data', 'text_filters', 'trigger_frequency'],
  ...['triggered_rules', 'updated_at', 'updated_terms', 'user_metadata'],
])

const CODES: ReadonlySet<string> = new Set(SERVICE_ERRORS.map(({ errorCode }) => errorCode))

/**
 * A body without secrets but with the same meaning: in JSON, names of the interface stay, so that a key which
 * equals one of them does not change the structure. Values, other names and other texts lose every secret.
 * The interface's error codes stay, since what a run does next depends on them (docs/interface.md §7).
 */
export function redactAnswer(redactor: Redactor, body: string): string {
  const redacted = redactor.redact(body)
  return redacted === body || parseJson(body) === undefined ? redacted : redactJson(redactor, body)
}

/** The same for bytes; returns the same bytes if they contain no secret. Other bytes never change. */
export function redactAnswerBytes(redactor: Redactor, bytes: Uint8Array): Uint8Array {
  if (redactor.redactBytes(bytes) === bytes) return bytes
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  return Buffer.from(redactAnswer(redactor, body), 'latin1')
}

/** An error code without secrets, unless it is one of the interface's. */
export function redactCode(redactor: Redactor, code: string): string {
  return CODES.has(code) ? code : redactor.redact(code)
}

function redactJson(redactor: Redactor, json: string): string {
  let redacted = ''
  let at = 0
  for (let start = json.indexOf('"'); start >= 0; start = json.indexOf('"', at)) {
    const end = findStringEnd(json, start)
    const text = json.slice(start + 1, end)
    const isKept = isName(json, end) && NAMES.has(text)
    redacted += redactNumbers(redactor, json.slice(at, start))
    redacted += `"${isKept ? text : redactCode(redactor, text)}"`
    at = end + 1
  }
  return redacted + redactNumbers(redactor, json.slice(at))
}

/** Index of the closing quote of the string that begins at `start`. */
function findStringEnd(json: string, start: number): number {
  for (let end = json.indexOf('"', start + 1); ; end = json.indexOf('"', end + 1)) {
    let escapes = 0
    while (json[end - 1 - escapes] === '\\') escapes += 1
    if (escapes % 2 === 0) return end
  }
}

function isName(json: string, end: number): boolean {
  let at = end + 1
  while (at < json.length && ' \t\r\n'.includes(json.charAt(at))) at += 1
  return json[at] === ':'
}

/** Numbers that are a secret and nothing else become texts. */
function redactNumbers(redactor: Redactor, json: string): string {
  return json.replaceAll(/[-\d][\d.eE+-]{7,}/g, (number) =>
    redactor.redact(number) === REDACTED ? `"${REDACTED}"` : number,
  )
}
