import type { Subject } from '../operations/subjects.ts'
import {
  type AppealFindings,
  readAppealFindings,
  readServiceMessage,
  readTaskFindings,
  type TaskFindings,
} from './answer-findings.ts'
import { parseJson } from './parse-json.ts'

/** A key may be written with escapes. */
const MAY_NAME_CACHE = /from_cache|\\u/

/** What the answer that decided a row says. It is parsed once something of it is asked for: many exports need nothing. */
export class AnswerContent {
  readonly #text: string
  readonly #subject: Subject | null
  #parsed: { body: unknown } | null = null
  #task: TaskFindings | null = null
  #appeal: AppealFindings | null = null

  /** Of the text of an answer, '' if there is none, about what the operation's rows name. */
  constructor(text: string, subject: Subject) {
    this.#text = text
    this.#subject = text === '' ? null : subject
  }

  /** Its JSON; undefined if it is none. */
  get body(): unknown {
    this.#parsed ??= { body: this.#subject === null ? undefined : parseJson(this.#text) }
    return this.#parsed.body
  }

  /** What was found of a post; null if that is not what the rows name. */
  get task(): TaskFindings | null {
    if (this.#subject !== 'content' || this.body === undefined) return null
    this.#task ??= readTaskFindings(this.body)
    return this.#task
  }

  /** Whether it came from the service's cache; null if it does not say. */
  get fromCache(): boolean | null {
    return MAY_NAME_CACHE.test(this.#text) ? (this.task?.fromCache ?? null) : null
  }

  get appeal(): AppealFindings | null {
    if (this.#subject !== 'appeal' || this.body === undefined) return null
    this.#appeal ??= readAppealFindings(this.body)
    return this.#appeal
  }

  /** The `message` of an answer of an index or a watchlist. */
  get serviceMessage(): string | null {
    return this.#subject === 'item' || this.#subject === 'term' ? readServiceMessage(this.body) : null
  }
}

/** The content of an answer if there is none. */
export const NO_CONTENT = new AnswerContent('', 'content')
