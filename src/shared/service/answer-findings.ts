import { createTermFinder } from './alike-texts.ts'
import { isJsonObject, type JsonObject, toTaskId, toTextOrNull } from './json-object.ts'

/** What one model of a task found (docs/interface.md §2.3, §4.2). */
interface ModelFinding {
  model: string
  /** Its `status.code`, "0" for success in the legacy body; null if it has none. */
  code: string | null
  message: string | null
  /** The highest score of each class. */
  scores: Record<string, number>
}

/** The content of a task's answer beyond rules and scores, wherever it is in the body; each value once. */
export interface TaskFindings {
  /** Null if the answer does not say. */
  fromCache: boolean | null
  languages: string[]
  models: ModelFinding[]
  /** Lists as received, since the interface does not show their items: texts or objects. */
  pii: unknown[]
  urls: unknown[]
  textFilters: unknown[]
  customClasses: unknown[]
  moderatedClasses: unknown[]
  /** Items of a custom index that the content matches. */
  matches: unknown[]
  /** Which of the lists above the answer has, including empty ones; each once. */
  answered: (typeof LISTS)[keyof typeof LISTS][]
}

/** Lists in a model's response, by their names there (docs/interface.md §2.3). */
const LISTS = {
  pii_entities: 'pii',
  urls: 'urls',
  text_filters: 'textFilters',
  custom_classes: 'customClasses',
  moderated_classes: 'moderatedClasses',
  matches: 'matches',
} as const satisfies Record<string, keyof TaskFindings>

/** Parts of the request that an answer may repeat. */
const ECHOES = new Set(['input', 'content_metadata', 'user_metadata', 'metadata'])

/** Deepest level at which known fields are found. */
const DEPTH_MAX = 8

/** Reads a task's sync answer or callback, in any shape (docs/interface.md §2.2, §2.3, §4.2, §6). */
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
  readValue(body, 0, {
    noteCached: (isCached) => (findings.fromCache ??= isCached),
    addLanguage: (language) => findings.languages.push(language),
    addModel: (model, entry) => findings.models.push(toModelFinding(model, entry)),
    addList: (list, items) => addList(findings, list, items),
  })
  for (const list of Object.values(LISTS)) findings[list] = once(findings[list])
  findings.languages = [...new Set(findings.languages)]
  return findings
}

/** The values in a task's answer by which rows can be filtered. */
export interface AnswerNames {
  fromCache: boolean
  /** Each once, sorted. */
  languages: readonly string[]
  models: readonly string[]
}

export const NO_NAMES: AnswerNames = Object.freeze({ fromCache: false, languages: [], models: [] })

/** The same with each name changed. */
export function mapNames(names: AnswerNames, change: (name: string) => string): AnswerNames {
  const { fromCache, languages, models } = names
  return { fromCache, languages: languages.map(change), models: models.map(change) }
}

/** Most answers contain none of these, and need no search. */
const MENTIONS = /"(?:language|model)"|"from_cache"\s*:\s*true/

/**
 * The cache, languages and models in an answer, as by {@link readTaskFindings}; `body` returns the JSON of
 * `text`, and is called only if needed.
 */
export function readAnswerNames(text: string, body: () => unknown): AnswerNames {
  if (!MENTIONS.test(text)) return NO_NAMES
  let fromCache: boolean | null = null
  const languages: string[] = []
  const models: string[] = []
  readValue(body(), 0, {
    noteCached(isCached) {
      fromCache ??= isCached
    },
    addLanguage: (language) => languages.push(language),
    addModel: (model) => models.push(model),
    addList() {},
  })
  return { fromCache: fromCache === true, languages: toSorted(languages), models: toSorted(models) }
}

function toSorted(names: string[]): string[] {
  return names.length < 2 ? names : [...new Set(names)].sort()
}

/** Receives the parts of an answer in order. */
interface AnswerReader {
  noteCached: (isCached: boolean) => void
  addLanguage: (language: string) => void
  addModel: (model: string, entry: JsonObject) => void
  addList: (list: TaskFindings['answered'][number], items: readonly unknown[]) => void
}

function readValue(value: unknown, depth: number, reader: AnswerReader): void {
  if (depth > DEPTH_MAX) return
  if (Array.isArray(value)) {
    for (const item of value) readValue(item, depth + 1, reader)
    return
  }
  if (!isJsonObject(value)) return
  const model = findModel(value)
  if (model !== null) reader.addModel(model, value)
  for (const name of Object.keys(value)) {
    const inner = value[name]
    // Most values are texts and numbers, so check these first.
    if (typeof inner !== 'object') {
      if (name === 'from_cache' && typeof inner === 'boolean') reader.noteCached(inner)
      else if (name === 'language' && typeof inner === 'string' && inner !== '') reader.addLanguage(inner)
    } else if (isListName(name) && Array.isArray(inner)) reader.addList(LISTS[name], inner)
    else if (!ECHOES.has(name)) readValue(inner, depth + 1, reader)
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

/** The model of an entry in the legacy `status` list, or in v2's list of models; null for anything else. */
function findModel({ status, response, model }: JsonObject): string | null {
  if (!isJsonObject(status)) return null
  const input = isJsonObject(response) && isJsonObject(response['input']) ? response['input'] : {}
  return toTextOrNull(model) ?? toTextOrNull(input['model'])
}

function toModelFinding(model: string, { status, response }: JsonObject): ModelFinding {
  const { code, message } = toObject(status)
  return {
    model,
    code: toTaskId(code),
    message: toTextOrNull(message),
    scores: isJsonObject(response) ? toHighestScores(response['output']) : {},
  }
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

/** The score of a class from which a rule triggers. */
export interface RuleThreshold {
  className: string
  ruleName: string
  threshold: number
}

/**
 * Thresholds of the rules that a legacy answer reports as triggered. The interface shows only the `subject`
 * of a condition (docs/interface.md §2.3), so most answers have none: a threshold is recognized if a
 * condition names a class and has a single number besides.
 */
export function readRuleThresholds(body: unknown): RuleThreshold[] {
  return toList(toObject(body)['triggered_rules']).flatMap((rule) => {
    const { display_name: legacyName, rule_name: name, conditions } = toObject(rule)
    const ruleName = toTextOrNull(legacyName) ?? toTextOrNull(name)
    if (ruleName === null) return []
    return toList(conditions).flatMap((condition) => {
      const { class: named, subject, ...others } = toObject(condition)
      const className = toTextOrNull(named) ?? toTextOrNull(subject)
      const numbers = Object.values(others).filter((value) => typeof value === 'number')
      const [threshold] = numbers
      return className === null || threshold === undefined || numbers.length > 1
        ? []
        : [{ className, ruleName, threshold }]
    })
  })
}

/** The status and decisions of an appeal (docs/interface.md §2.6); lists of reasons as received. */
export interface AppealFindings {
  status: string | null
  actionId: string | null
  actionName: string | null
  reasons: unknown[]
  originalActionId: string | null
  originalActionName: string | null
  originalReasons: unknown[]
}

/** Reads an answer about an appeal's status (docs/interface.md §2.6, §4.7). */
export function readAppealFindings(body: unknown): AppealFindings {
  const whole = toObject(body)
  const appeal = toObject(whole['appeal'])
  const judgment = toObject(appeal['appeal_judgment'])
  const original = toObject(whole['original_decision'])
  return {
    status: toTextOrNull(appeal['appeal_status']),
    actionId: toTaskId(judgment['action_id']),
    actionName: toTextOrNull(judgment['action_name']),
    reasons: toList(judgment['action_reasons']),
    originalActionId: toTaskId(original['action_id']),
    originalActionName: toTextOrNull(original['display_name']),
    originalReasons: toList(original['action_reasons']),
  }
}

/** A watchlist answer's entry for a term. */
export interface AnsweredTerm {
  /** Null if they are empty, undefined if the answer does not have them. */
  notes: string | null | undefined
  /** Everything else, such as why the term failed; null if there is nothing else. */
  remark: string | null
}

/** Finds a term in a watchlist's answer: entries are objects or texts (docs/interface.md §4.5). */
export function readAnsweredTerms(body: unknown): (term: string) => AnsweredTerm | undefined {
  const terms = new Map<string, AnsweredTerm>()
  for (const list of Object.values(toObject(body))) {
    for (const item of toList(list)) {
      const { term: named, notes, ...others } = isJsonObject(item) ? item : { term: item }
      const term = toTaskId(named)
      if (term === null) continue
      const remark = Object.entries(others).map(([name, value]) => `${name}: ${sayValue(value)}`)
      terms.set(term.toLowerCase(), {
        notes: notes === undefined ? undefined : toTextOrNull(notes),
        remark: remark.length === 0 ? null : remark.join(', '),
      })
    }
  }
  return createTermFinder(terms)
}

/** A text unchanged, anything else as JSON. */
export function sayValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The `message` of an answer, in the service's words (docs/interface.md §4.3 to §4.6, §7). */
export function readServiceMessage(body: unknown): string | null {
  return toTextOrNull(toObject(body)['message'])
}

function toObject(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {}
}

function toList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
