import type { Subject } from '../operations/subjects.ts'
import {
  type AppealFindings,
  readAppealFindings,
  readServiceMessage,
  readTaskFindings,
  type TaskFindings,
} from './answer-findings.ts'
import { parseJson } from './parse-json.ts'

/** The key may be written with escapes. */
const MAY_NAME_CACHE = /from_cache|\\u/

/** The content of the answer that decided a row. It is parsed on first use: many exports never need it. */
export class AnswerContent {
  readonly #text: string
  readonly #subject: Subject | null
  #parsed: { body: unknown } | null = null
  #task: TaskFindings | null = null
  #appeal: AppealFindings | null = null

  /** Takes the text of an answer, '' if there is none, and the subject of the operation's rows. */
  constructor(text: string, subject: Subject) {
    this.#text = text
    this.#subject = text === '' ? null : subject
  }

  /** The parsed JSON; undefined if it is not JSON. */
  get body(): unknown {
    this.#parsed ??= { body: this.#subject === null ? undefined : parseJson(this.#text) }
    return this.#parsed.body
  }

  /** The findings about a post; null if rows are not posts. */
  get task(): TaskFindings | null {
    if (this.#subject !== 'content' || this.body === undefined) return null
    this.#task ??= readTaskFindings(this.body)
    return this.#task
  }

  /** Whether the answer came from the service's cache; null if it does not say. */
  get fromCache(): boolean | null {
    return MAY_NAME_CACHE.test(this.#text) ? (this.task?.fromCache ?? null) : null
  }

  get appeal(): AppealFindings | null {
    if (this.#subject !== 'appeal' || this.body === undefined) return null
    this.#appeal ??= readAppealFindings(this.body)
    return this.#appeal
  }

  /** The `message` in an answer of an index or a watchlist. */
  get serviceMessage(): string | null {
    return this.#subject === 'item' || this.#subject === 'term' ? readServiceMessage(this.body) : null
  }
}

/** The content of a missing answer. */
export const NO_CONTENT = new AnswerContent('', 'content')
