import { findLostId, hasFraction, isMissingValue, isOrdinaryId } from '../../../shared/mapping/changed-ids.ts'
import { isEmpty } from '../../../shared/mapping/check-mapping.ts'
import {
  hasQuotes,
  hasUnseen,
  hasUnseenInTerm,
  ID_TEXT_FIELDS,
  isBlank,
  mayLookAlike,
  showUnseen,
} from '../../../shared/mapping/id-text.ts'
import { findUnlistedFields } from '../../../shared/mapping/match-columns.ts'
import { isConstantTemplate } from '../../../shared/mapping/templates.ts'
import { isJson } from '../../../shared/messages/pretty-json.ts'
import type { FoundProblem, PlanWarning, ProblemCause } from '../../../shared/messages/problem-messages.ts'
import type { RowCheck } from '../../../shared/operations/operation-entry.ts'
import {
  emptyNotesOf,
  fieldsOf,
  isAbout,
  OPERATIONS,
  type Operation,
  REQUEST_FIELD,
  type TaskOperation,
} from '../../../shared/operations/operations.ts'
import { hasAtMost } from '../../../shared/operations/watchlist.ts'
import { listFixedFields } from '../../../shared/plan/fixes.ts'
import type { Mapping, Plan } from '../../../shared/plan/plan.ts'
import { type Severity, toFound } from '../../../shared/run/problem.ts'
import { isDotSegment } from '../../../shared/service/endpoints.ts'
import { findModel } from '../../../shared/service/models.ts'
import {
  FORBIDDEN_ID_CHARACTERS,
  type RequestField,
  V1_MAX_MODELS,
} from '../../../shared/service/request-field.ts'
import { DISTINCT_FIELDS } from '../../../shared/service/tasks.ts'
import { isLetterOrDigit } from '../source/first-character.ts'
import { findDoubledKeys } from '../source/jsonl/parse-json-line.ts'
import { parseModels } from './field-writers.ts'
import { type Body, findRequestText, isObjectValue, JsonText, toValueText } from './json-text.ts'

/** The body of one row, as the mapper made it. */
type RequestBody = Readonly<Body>

/** Finds everything that is wrong with the body of one row; the same empty list if nothing is. */
export type ValidateRow = (row: number, body: RequestBody) => readonly FoundProblem[]

const NO_PROBLEMS: readonly FoundProblem[] = Object.freeze([])

/**
 * Compiles the rules of docs/interface.md §2, §4 and §8 for a plan with a resolved mapping. The journal
 * checks that a post_id or a term is unique; `findPlanWarnings` covers what is the same in every row.
 * `bodies`: whether the plan's mapper makes all of them (default: any), which saves rules for fields that it
 * does not fill.
 */
export function createRowValidator(
  { operation, mapping, fixes = [] }: Pick<Plan, 'operation' | 'mapping' | 'fixes'>,
  bodies: 'any' | 'mapped' = 'any',
): ValidateRow {
  const fixed = listFixedFields(fixes)
  // A whole request or a fix may set any field.
  const isOpen = bodies === 'any' || !isEmpty(mapping['request']) || fixes.length > 0
  const mayHave = (field: string) => isOpen || fillsField(mapping, field)
  const rules = [...createRules(operation, mapping, mayHave), ...createLookRules(operation, mapping, fixed)]
  if (!isEmpty(mapping['request'])) {
    const checkMode = createModeRule(operation, mapping)
    rules.push(createRequestRule(operation), ...(checkMode === null ? [] : [checkMode]))
  }
  const others = rules.filter((rule) => rule !== checkIds && rule !== checkUserId && rule !== checkPostId)
  const hasIds = others.length < rules.length
  return (row, body) => {
    let found: Found = null
    for (const check of hasIds && hasPlainIds(body) ? others : rules) found = check(found, row, body)
    return found ?? NO_PROBLEMS
  }
}

/** Whether rows of a plan may have a field; rules for other fields are skipped. */
type MayHave = (field: string) => boolean

function createRules(operation: Operation, mapping: Mapping, mayHave: MayHave): RowRule[] {
  if (isAbout(operation, 'content')) return createTaskRules(operation, mapping, mayHave)
  return OPERATIONS[operation.kind].checks.map(createRule)
}

function createRule(check: RowCheck): RowRule {
  switch (check.rule) {
    case 'required':
      return createRequiredRule(check.field)
    case 'blank':
      return createBlankRule(check.field)
    case 'address':
      return (found, row, body) => checkUrl(found, row, check.field, body[check.field])
    case 'object':
      return createMetadataRule([check.field])
    case 'path segment':
      return createSegmentRule(check.field)
    case 'length':
      return createLengthRule(check.field, check.max)
    case 'one of':
      return createOneOfRule(check.one, check.other)
  }
}

function createTaskRules(operation: TaskOperation, mapping: Mapping, mayHave: MayHave): RowRule[] {
  const metadata = ['content_metadata', 'user_metadata'].filter(mayHave)
  return [
    createContentRule(operation, mapping),
    createBlankRule('text_data'),
    ...(mapping['text_data']?.kind === 'template' ? [] : [checkJsonText]),
    checkIds,
    ...(DISTINCT_FIELDS.some(({ name }) => mayHave(name)) ? [checkDistinct] : []),
    ...(mayHave('callback_url') ? [checkCallbackUrl] : []),
    ...(metadata.length > 0 ? [createMetadataRule(metadata)] : []),
    // Models that the plan names for every row were checked before.
    ...(mayHave('models')
      ? [createModelsRule(operation, findConstantModels(operation, mapping) !== null)]
      : []),
    ...(fillsUserMetadata(mapping) ? [checkUserMetadata] : []),
  ]
}

/** Whether any column or template fills user_metadata or a key of it. */
export function fillsUserMetadata(mapping: Mapping): boolean {
  return fillsField(mapping, 'user_metadata')
}

function fillsField(mapping: Mapping, name: string): boolean {
  return Object.entries(mapping).some(
    ([field, source]) => (field === name || field.startsWith(`${name}.`)) && !isEmpty(source),
  )
}

/** Problems of one row found so far; null for none, so that rows without any cost no list. */
type Found = FoundProblem[] | null

/** One rule for the body of a row: adds its problems to those found before. */
type RowRule = (found: Found, row: number, body: RequestBody) => Found

const NO_VALUE = { code: 'required', args: { lack: 'value' } } as const

/** Adds a problem; `value` is shown as found. */
function addProblem(
  found: Found,
  row: number,
  severity: Severity,
  field: string | null,
  cause: ProblemCause,
  value?: unknown,
): FoundProblem[] {
  const problem: FoundProblem = { row, severity, ...cause }
  if (field !== null) problem.field = field
  if (value !== undefined) problem.found = toFound(toValueText(value))
  if (found === null) return [problem]
  found.push(problem)
  return found
}

const HTTP_URL = /^https?:\/\/[^\s]+(?: +[^\s]+)*$/i

/** Stricter than URL parsers, which drop white space and line breaks: the sent text must be the URL. */
function isHttpUrl(value: unknown): boolean {
  return typeof value === 'string' && HTTP_URL.test(value) && URL.canParse(value)
}

const LATER_URL = /([\s,;|]+)(https?:\/\/[^/?#\s,;|]*)/gi
/** The end of a complete address: a file extension, or a host. */
const WHOLE = /\.[a-z][a-z\d]{1,4}$/i

/**
 * Whether an address is followed by a separator and another one. Such a sign may also stand inside an
 * address, before one that a service fetches, so white space, a complete address before it or the same host
 * must show that it separates.
 */
function hasSeveralUrls(url: string): boolean {
  if (url.indexOf('://', 8) === -1) return false
  return [...url.matchAll(LATER_URL)].some(({ index, 1: sign = '', 2: origin = '' }) => {
    const before = url.slice(0, index)
    return (
      /\s/.test(sign) || WHOLE.test(before) || withoutScheme(before).startsWith(`${withoutScheme(origin)}/`)
    )
  })
}

function withoutScheme(url: string): string {
  return url.replace(/^https?:/i, '')
}

function checkUrl(found: Found, row: number, field: string, value: unknown): Found {
  if (value === undefined) return found
  if (!isHttpUrl(value)) return addProblem(found, row, 'error', field, { code: 'not_a_url' }, value)
  return hasSeveralUrls(String(value))
    ? addProblem(found, row, 'warning', field, { code: 'several_urls' }, value)
    : found
}

function checkCallbackUrl(found: Found, row: number, { callback_url: url }: RequestBody): Found {
  return checkUrl(found, row, 'callback_url', url)
}

/** Warns of a text that is a JSON object or array; one from a person's template is intended. */
function checkJsonText(found: Found, row: number, { text_data: text }: RequestBody): Found {
  if (typeof text !== 'string' || isLetterOrDigit(text.charCodeAt(0))) return found
  if (!JSON_BRACKETS.test(text) || !isJson(text)) return found
  return addProblem(found, row, 'warning', 'text_data', { code: 'json_as_text' }, text)
}

/** How JSON with quoted content or nested objects begins and ends; a person may write `[1]` or `{}`. */
const JSON_BRACKETS = /^\s*(?:\{\s*".*\}|\[\s*[{["].*\])\s*$/s

/** Exactly one of text_data and url; v2 does not require that, and takes both. */
function createContentRule(operation: TaskOperation, mapping: Mapping): RowRule {
  const isV1 = operation.api === 'v1'
  const cause = { code: 'one_of', args: { one: 'text_data', other: 'url', isExclusive: isV1 } } as const
  const mapped = ['text_data', 'url'].filter((field) => !isEmpty(mapping[field]))
  const [only] = isEmpty(mapping['request']) && mapped.length === 1 ? mapped : []
  return (found, row, { text_data: text, url }) => {
    let all = found
    // Only a whole request can have an empty text.
    if ((text === undefined || text === '') && url === undefined) {
      all =
        only === undefined
          ? addProblem(all, row, 'error', null, cause, 'neither')
          : addProblem(all, row, 'error', null, { code: 'one_of', args: { ...cause.args, only } })
    } else if (isV1 && text !== undefined && url !== undefined) {
      all = addProblem(all, row, 'error', null, cause, 'both')
    }
    return checkUrl(all, row, 'url', url)
  }
}

/** user_id and post_id must be present, without `_` and `;`. */
function checkIds(found: Found, row: number, body: RequestBody): Found {
  return checkId(checkId(found, row, 'user_id', body['user_id']), row, 'post_id', body['post_id'])
}

function checkId(found: Found, row: number, field: string, id: unknown): Found {
  if (id === undefined || id === '') {
    return addProblem(found, row, 'error', field, NO_VALUE)
  }
  // A value of another type, which only a whole request can have, has its own rule.
  if (typeof id !== 'string' || !FORBIDDEN_ID_CHARACTERS.test(id)) return found
  return addProblem(found, row, 'error', field, { code: 'forbidden_character', args: { of: 'id' } }, id)
}

/** Checks fields that must differ from others. */
function checkDistinct(found: Found, row: number, body: RequestBody): Found {
  let all = found
  for (const { name, distinctFrom } of DISTINCT_FIELDS) {
    const value = body[name]
    if (value === undefined) continue
    for (const field of distinctFrom) {
      if (value !== body[field]) continue
      all = addProblem(all, row, 'error', name, { code: 'not_distinct', args: { field } }, value)
    }
  }
  return all
}

/** Metadata must be JSON objects (docs/interface.md §2.1, §4.3). */
function createMetadataRule(fields: readonly string[]): RowRule {
  return (found, row, body) => {
    let all = found
    for (const field of fields) {
      const metadata = body[field]
      if (metadata === undefined) continue
      if (!isObjectValue(metadata)) {
        all = addProblem(all, row, 'error', field, { code: 'not_json_object' }, metadata)
      } else if (metadata instanceof JsonText && !findRequestText(body)?.includes(metadata.text)) {
        all = addDoubledKeys(all, row, field, metadata.text)
      }
    }
    return all
  }
}

/** Warns of duplicate keys in an object of a JSON text: the service decides which of them counts. */
function addDoubledKeys(found: Found, row: number, field: string, text: string): Found {
  const [first] = findDoubledKeys(text)
  if (first === undefined) return found
  return addProblem(found, row, 'warning', field, { code: 'doubled_json_key' }, first.toWellFormed())
}

/** Warns of a row without the user_metadata that other rows have. */
function checkUserMetadata(found: Found, row: number, body: RequestBody): Found {
  if (body['user_metadata'] !== undefined) return found
  return addProblem(found, row, 'warning', 'user_metadata', { code: 'recommended', args: { lack: 'value' } })
}

/** At most one model in v1. Warns of unlisted models, except those of all rows, which share one warning. */
function createModelsRule(operation: TaskOperation, areConstant: boolean): RowRule {
  const isV1 = operation.api === 'v1'
  return (found, row, { models }) => {
    if (!Array.isArray(models)) return found
    let all = found
    if (isV1 && models.length > V1_MAX_MODELS) {
      all = addProblem(all, row, 'error', 'models', { code: 'too_many_models' }, models.join(', '))
    }
    if (areConstant) return all
    for (const model of models) {
      const cause = findModelDoubt(String(model), operation)
      if (cause !== null) all = addProblem(all, row, 'warning', 'models', cause, model)
    }
    return all
  }
}

/**
 * Oddities of a model (docs/interface.md §4.1): only warnings, since a deployment may know more than the
 * interface lists. In v2 an unlisted name may be a custom index, so nothing is reported.
 */
function findModelDoubt(model: string, { api, mode }: TaskOperation): ProblemCause | null {
  const known = findModel(model)
  if (known === null) return api === 'v2' ? null : { code: 'unknown_model', args: { isList: true } }
  return known[mode] ? null : { code: 'model_not_listed', args: { mode } }
}

/** {@link findModelDoubt} of a model that every row names. */
export function findModelWarning(model: string, operation: TaskOperation): PlanWarning | null {
  const cause = findModelDoubt(model, operation)
  return cause === null ? null : { severity: 'warning', field: 'models', ...cause, found: toFound(model) }
}

/** The models that every row shares; null if a column decides. */
export function findConstantModels(operation: TaskOperation, mapping: Mapping): readonly string[] | null {
  const source = mapping['models']
  if (source === undefined) return operation.models
  if (source.kind === 'column' || !isConstantTemplate(source.template)) return null
  const models = parseModels(source.template) ?? []
  return models.length > 0 ? models : operation.models
}

/** At least one of two fields (docs/interface.md §4.3). */
function createOneOfRule(one: string, other: string): RowRule {
  const cause = { code: 'one_of', args: { one, other, isExclusive: false } } as const
  return (found, row, body) =>
    body[one] === undefined && body[other] === undefined
      ? addProblem(found, row, 'error', null, cause, 'neither')
      : found
}

/** A field that must be there (docs/interface.md §4.4, §4.7). */
function createRequiredRule(field: string): RowRule {
  return (found: Found, row, body) => {
    const value = body[field]
    return value === undefined || value === '' ? addProblem(found, row, 'error', field, NO_VALUE) : found
  }
}

/** An id such as `..` would send the request to another path (docs/interface.md §4.7). */
function createSegmentRule(field: string): RowRule {
  const cause = { code: 'forbidden_character', args: { of: 'path' } } as const
  return (found, row, body) => {
    const id = body[field]
    return typeof id === 'string' && isDotSegment(id)
      ? addProblem(found, row, 'error', field, cause, id)
      : found
  }
}

/** Term and notes have at most 1024 characters each (docs/interface.md §2.5, §8). */
function createLengthRule(field: string, max: number): RowRule {
  return (found, row, body) => {
    const text = body[field]
    if (typeof text !== 'string' || hasAtMost(text, max)) return found
    const details = { characters: Array.from(text).length }
    return addProblem(found, row, 'error', field, { code: 'too_long', args: { max }, details }, text)
  }
}

/** Invisible text can match nothing and say nothing. */
function createBlankRule(field: string): RowRule {
  return (found, row, body) => {
    const text = body[field]
    return typeof text === 'string' && text !== '' && isBlank(text)
      ? addProblem(found, row, 'warning', field, { code: 'empty' }, showUnseen(text))
      : found
  }
}

/** Warns of misleading ids and terms, and of ids changed by a spreadsheet or data frame. */
function createLookRules(operation: Operation, mapping: Mapping, fixed: readonly string[]): RowRule[] {
  const hasRequest = !isEmpty(mapping['request'])
  return fieldsOf(operation).flatMap(({ name }): RowRule[] => {
    if (name === 'term') return [createTermRule()]
    if (name === 'text_data') return [checkMissingText]
    if (!ID_TEXT_FIELDS.some((field) => field === name)) return []
    const source = mapping[name]
    // A constant is what a person wrote.
    const isConstant = source?.kind === 'template' && isConstantTemplate(source.template)
    const mayDiffer = isEmpty(source) ? fixed.includes(name) : !isConstant
    return mayDiffer || hasRequest ? [findIdRule(name)] : []
  })
}

function findIdRule(field: string): RowRule {
  if (field === 'user_id') return checkUserId
  return field === 'post_id' ? checkPostId : createIdRule(field)
}

function createIdRule(field: string): RowRule {
  return (found, row, body) => {
    const id = body[field]
    if (typeof id !== 'string' || isOrdinaryId(id)) return found
    let all = found
    if (hasUnseen(id)) {
      all = addProblem(all, row, 'warning', field, { code: 'invisible_characters' }, showUnseen(id))
    } else if (mayLookAlike(id))
      all = addProblem(all, row, 'warning', field, { code: 'look_alike', args: { of: 'id' } }, id)
    if (hasQuotes(id)) all = addProblem(all, row, 'warning', field, { code: 'quotes_in_id' }, id)
    if (hasFraction(id)) return addProblem(all, row, 'warning', field, { code: 'fraction_in_id' }, id)
    const as = findLostId(id)
    return as === null ? all : addProblem(all, row, 'warning', field, { code: 'lost_id', args: { as } }, id)
  }
}

const checkUserId = createIdRule('user_id')
const checkPostId = createIdRule('post_id')

/** An ordinary id (`isOrdinaryId`) without {@link FORBIDDEN_ID_CHARACTERS}. */
const PLAIN_ID = /^[A-Za-z][!-:<-^`-~]*\d$/

/** Whether the rules for a task's ids certainly find nothing: a quick check that settles most rows. */
function hasPlainIds({ user_id: user, post_id: post }: RequestBody): boolean {
  return typeof user === 'string' && typeof post === 'string' && PLAIN_ID.test(user) && PLAIN_ID.test(post)
}

/** Case does not count in a term, so a spreadsheet that writes `true` as `TRUE` does no harm. */
function createTermRule(): RowRule {
  return (found, row, { term }) => {
    if (typeof term !== 'string') return found
    let all = found
    if (hasUnseenInTerm(term) && !isBlank(term)) {
      all = addProblem(all, row, 'warning', 'term', { code: 'invisible_characters' }, showUnseen(term))
    }
    const as = findLostId(term)
    if (as !== 'missing' && as !== 'rounded' && as !== 'wrapped') return all
    return addProblem(all, row, 'warning', 'term', { code: 'changed_value', args: { as } }, term)
  }
}

/** Warns of a text that a program wrote for a missing value. */
function checkMissingText(found: Found, row: number, { text_data: text }: RequestBody): Found {
  if (typeof text !== 'string' || !isMissingValue(text)) return found
  return addProblem(
    found,
    row,
    'warning',
    'text_data',
    { code: 'changed_value', args: { as: 'missing' } },
    text,
  )
}

/** Warns of fields of the other mode in a whole request; mapped ones are warned of once. */
function createModeRule(operation: Operation, mapping: Mapping): RowRule | null {
  const fields = findUnlistedFields(operation).filter(({ name }) => isEmpty(mapping[name]))
  if (fields.length === 0) return null
  return (found, row, body) => {
    let all = found
    for (const { name, mode } of fields) {
      const value = body[name]
      if (value === undefined) continue
      const cause = { code: 'not_for_mode', args: { mode, isSent: true } } as const
      all = addProblem(all, row, 'warning', name, cause, value)
    }
    return all
  }
}

/**
 * What can be wrong with a whole request but not with cells: values of another type, and fields that the
 * interface does not know, which are sent unchanged.
 */
function createRequestRule(operation: Operation): RowRule {
  const fields = new Map(fieldsOf(operation).map((field) => [field.name, field]))
  return (found, row, body) => {
    const text = findRequestText(body)
    let all = text === null ? found : addDoubledKeys(found, row, REQUEST_FIELD.name, text)
    for (const [name, value] of Object.entries(body)) {
      const field = fields.get(name)
      if (field === undefined || name === 'request') {
        all = addProblem(all, row, 'warning', name, { code: 'not_for_api', args: { api: null } }, value)
      } else if (field.kind !== 'json_object' && !hasType(value, field, operation)) {
        const cause = { code: 'wrong_type', args: { kind: field.kind } } as const
        all = addProblem(all, row, 'error', name, cause, value)
      }
    }
    return all
  }
}

/** Objects have a rule of their own. Notes may be null in an update (docs/interface.md §2.5). */
function hasType(value: unknown, { name, kind }: RequestField, operation: Operation): boolean {
  if (kind === 'json_object') return isObjectValue(value)
  if (kind === 'string_array') return Array.isArray(value) && value.every((item) => typeof item === 'string')
  if (name === 'notes' && value === null && emptyNotesOf(operation) !== null) return true
  return typeof value === 'string'
}

/** The body of one row, as the mapper made it. */
