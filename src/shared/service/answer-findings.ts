import { isJsonObject, type JsonObject, toTaskId } from './json-object.ts'

/** What one model of a task found (docs/interface.md §2.3, §4.2). */
interface ModelFinding {
  model: string
  /** Its `status.code`, "0" for success in the legacy body; null where it has none. */
  code: string | null
  message: string | null
  /** The highest score of each class. */
  scores: Record<string, number>
}

/** What a task's answer says beyond rules and scores, wherever it stands in the body; each value once. */
export interface TaskFindings {
  /** Null where the answer does not say. */
  fromCache: boolean | null
  languages: string[]
  models: ModelFinding[]
  /** Lists as they came, since the interface does not show what they hold: texts or objects. */
  pii: unknown[]
  urls: unknown[]
  textFilters: unknown[]
  customClasses: unknown[]
  moderatedClasses: unknown[]
  /** Items of a custom index that the content matched. */
  matches: unknown[]
  /** The lists above that the answer has, empty ones included; each once. */
  answered: (typeof LISTS)[keyof typeof LISTS][]
}

/** Lists of a model's response by the name they have there (docs/interface.md §2.3). */
const LISTS = {
  pii_entities: 'pii',
  urls: 'urls',
  text_filters: 'textFilters',
  custom_classes: 'customClasses',
  moderated_classes: 'moderatedClasses',
  matches: 'matches',
} as const satisfies Record<string, keyof TaskFindings>

/** What we sent ourselves and an answer may repeat. */
const ECHOES = new Set(['input', 'content_metadata', 'user_metadata', 'metadata'])

/** How deep the known fields are looked for. */
const DEPTH_MAX = 8

/** Reads a task's sync answer or callback, of whichever shape (docs/interface.md §2.2, §2.3, §4.2, §6). */
export function readTaskFindings(body: unknown): TaskFindings {
  const findings: TaskFindings = {
    fromCache: null,
    languages: [],
    models: [],
    pii: [],
    urls: [],
    textFilters: [],
    customClasses: [],
    moderatedClasses: [],
    matches: [],
    answered: [],
  }
  readValue(body, findings, 0)
  for (const list of Object.values(LISTS)) findings[list] = once(findings[list])
  findings.languages = [...new Set(findings.languages)]
  return findings
}

function readValue(value: unknown, findings: TaskFindings, depth: number): void {
  if (depth > DEPTH_MAX) return
  if (Array.isArray(value)) {
    for (const item of value) readValue(item, findings, depth + 1)
    return
  }
  if (!isJsonObject(value)) return
  readModel(value, findings)
  for (const name of Object.keys(value)) {
    const inner = value[name]
    if (name === 'from_cache' && typeof inner === 'boolean') findings.fromCache ??= inner
    else if (name === 'language' && typeof inner === 'string' && inner !== '') findings.languages.push(inner)
    else if (isListName(name) && Array.isArray(inner)) addList(findings, LISTS[name], inner)
    else if (!ECHOES.has(name)) readValue(inner, findings, depth + 1)
  }
}

function addList(
  findings: TaskFindings,
  list: TaskFindings['answered'][number],
  items: readonly unknown[],
): void {
  findings[list].push(...items)
  if (!findings.answered.includes(list)) findings.answered.push(list)
}

function isListName(name: string): name is keyof typeof LISTS {
  return Object.hasOwn(LISTS, name)
}

/** An entry of the legacy `status` list, or of the list of models in v2. */
function readModel(entry: JsonObject, findings: TaskFindings): void {
  const { status, response } = entry
  if (!isJsonObject(status)) return
  const input = isJsonObject(response) && isJsonObject(response['input']) ? response['input'] : {}
  const model = toText(entry['model']) ?? toText(input['model'])
  if (model === null) return
  findings.models.push({
    model,
    code: toTaskId(status['code']),
    message: toText(status['message']),
    scores: isJsonObject(response) ? toHighestScores(response['output']) : {},
  })
}

function toHighestScores(outputs: unknown): Record<string, number> {
  const scores = new Map<string, number>()
  for (const output of Array.isArray(outputs) ? outputs : []) {
    const classes = isJsonObject(output) ? output['classes'] : null
    for (const item of Array.isArray(classes) ? classes : []) {
      const { class: name, score } = isJsonObject(item) ? item : {}
      if (typeof name !== 'string' || typeof score !== 'number') continue
      scores.set(name, Math.max(score, scores.get(name) ?? score))
    }
  }
  return Object.fromEntries(scores)
}

function once(list: readonly unknown[]): unknown[] {
  return list.length < 2 ? [...list] : [...new Map(list.map((item) => [JSON.stringify(item), item])).values()]
}

function toText(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** From which score of a class on a rule triggers. */
export interface RuleThreshold {
  className: string
  ruleName: string
  threshold: number
}

/**
 * The thresholds of the rules that a legacy answer says were triggered. The interface shows only the `subject` of a
 * condition (docs/interface.md §2.3), so most answers have none: one is known where a condition names a class, and a
 * single number besides.
 */
export function readRuleThresholds(body: unknown): RuleThreshold[] {
  return toList(toObject(body)['triggered_rules']).flatMap((rule) => {
    const { display_name: legacyName, rule_name: name, conditions } = toObject(rule)
    const ruleName = toText(legacyName) ?? toText(name)
    if (ruleName === null) return []
    return toList(conditions).flatMap((condition) => {
      const { class: named, subject, ...others } = toObject(condition)
      const className = toText(named) ?? toText(subject)
      const numbers = Object.values(others).filter((value) => typeof value === 'number')
      const [threshold] = numbers
      return className === null || threshold === undefined || numbers.length > 1
        ? []
        : [{ className, ruleName, threshold }]
    })
  })
}

/** Where an appeal stands, and what was decided (docs/interface.md §2.6); lists of reasons as they came. */
export interface AppealFindings {
  status: string | null
  actionId: string | null
  actionName: string | null
  reasons: unknown[]
  overturned: boolean | null
  originalActionId: string | null
  originalActionName: string | null
  originalReasons: unknown[]
}

/** Reads the answer to an appeal's status (docs/interface.md §2.6, §4.7). */
export function readAppealFindings(body: unknown): AppealFindings {
  const whole = toObject(body)
  const appeal = toObject(whole['appeal'])
  const judgment = toObject(appeal['appeal_judgment'])
  const original = toObject(whole['original_decision'])
  const { overturned } = judgment
  return {
    status: toText(appeal['appeal_status']),
    actionId: toTaskId(judgment['action_id']),
    actionName: toText(judgment['action_name']),
    reasons: toList(judgment['action_reasons']),
    overturned: typeof overturned === 'boolean' ? overturned : null,
    originalActionId: toTaskId(original['action_id']),
    originalActionName: toText(original['display_name']),
    originalReasons: toList(original['action_reasons']),
  }
}

/** What a watchlist's answer has of a term. */
export interface AnsweredTerm {
  /** Null where they are empty, undefined where the answer has none. */
  notes: string | null | undefined
  /** Everything else, such as why the term failed; null where there is nothing. */
  remark: string | null
}

/**
 * The terms of a watchlist's answer, whichever list they are in, by the lower-cased term: objects, or their text alone
 * (docs/interface.md §4.5).
 */
export function readAnsweredTerms(body: unknown): ReadonlyMap<string, AnsweredTerm> {
  const terms = new Map<string, AnsweredTerm>()
  for (const list of Object.values(toObject(body))) {
    for (const item of toList(list)) {
      const { term, notes, ...others } = typeof item === 'string' ? { term: item } : toObject(item)
      if (typeof term !== 'string') continue
      const remark = Object.entries(others).map(([name, value]) => `${name}: ${sayValue(value)}`)
      terms.set(term.toLowerCase(), {
        notes: notes === undefined ? undefined : toText(notes),
        remark: remark.length === 0 ? null : remark.join(', '),
      })
    }
  }
  return terms
}

function sayValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The notes of each term of a watchlist's answer, by the lower-cased term; null where they are cleared or absent. */
export function readTermNotes(body: unknown): ReadonlyMap<string, string | null> {
  return new Map([...readAnsweredTerms(body)].map(([term, { notes }]) => [term, notes ?? null]))
}

/** The `message` of an answer, in the service's words (docs/interface.md §4.3 to §4.6, §7). */
export function readServiceMessage(body: unknown): string | null {
  return toText(toObject(body)['message'])
}

function toObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
