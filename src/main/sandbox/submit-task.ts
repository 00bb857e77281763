import { hash } from 'node:crypto'
import type { Rule, RuleCondition } from '../../shared/sandbox/content.ts'
import { DEFAULT_TEXT_MODEL, DEFAULT_URL_MODEL } from '../../shared/service/models.ts'
import { type Analysis, analyseContent } from './analysis/analyse-content.ts'
import type { SandboxContext } from './sandbox-context.ts'
import { SandboxRefusal } from './sandbox-errors.ts'
import { toSeededId } from './seeded-draw.ts'
import type { AnsweredModel, AnsweredTask } from './task-answer.ts'
import type { CheckedTask } from './validate-request.ts'

export interface TaskArrival {
  /** For example `task/v1/sync`. */
  endpoint: string
  /** The raw body. */
  requestText: string
  /** How the request is counted. */
  outcome: string
  /** SHA-256 of the task's media in hexadecimal; null if it was not fetched. */
  mediaHash: string | null
}

/**
 * Stores a task, analyses its content and applies the rules. Refuses it with `DUPLICATE_POST_ID` if the
 * post_id was already submitted (docs/interface.md §8).
 */
export function submitTask(context: SandboxContext, task: CheckedTask, arrival: TaskArrival): AnsweredTask {
  const { store, options, moderation } = context
  const { content } = task
  const defaultModel = content.kind === 'text' ? DEFAULT_TEXT_MODEL : DEFAULT_URL_MODEL
  const names = task.models.length === 0 ? [defaultModel] : task.models
  const taskId = toSeededId(options.seed, task.postId)
  const createdOn = context.clock.date()
  const isNew = store.tasks.insert({
    postId: task.postId,
    endpoint: arrival.endpoint,
    taskId,
    contentHash: toContentHash(names.join(','), task),
    createdOn,
    outcome: arrival.outcome,
    request: isKept(context, arrival.requestText) ? arrival.requestText : null,
  })
  if (!isNew) throw new SandboxRefusal('DUPLICATE_POST_ID', `post_id "${task.postId}" was submitted before`)
  const models = names.map(
    (name): AnsweredModel => ({
      name,
      contentHash: toContentHash(name, task),
      matches:
        content.kind === 'url' && store.indexes.has(name)
          ? store.indexes.findItems(name, { url: content.url, contentHash: arrival.mediaHash })
          : null,
    }),
  )
  const analysis = analyseContent(content, moderation.matchTerms)
  const matchedIndexes = models.filter(({ matches }) => matches !== null && matches.length > 0)
  return {
    taskId,
    userId: task.userId,
    postId: task.postId,
    models,
    text: content.kind === 'text' ? content.text : '',
    createdOn: createdOn.toISOString(),
    analysis,
    triggeredRules: findTriggeredRules(moderation.rules, {
      analysis,
      contentVariant: task.contentVariant,
      matchedIndexes: matchedIndexes.map(({ name }) => name),
    }),
    fromCache: models.map(({ contentHash }) => store.tasks.noteAnalysed(contentHash)).every(Boolean),
  }
}

function toContentHash(model: string, { content }: CheckedTask): string {
  return hash('sha256', `${model}\n${content.kind === 'text' ? content.text : content.url}`)
}

function isKept({ options }: SandboxContext, requestText: string): boolean {
  return options.keepRequests > 0 && Buffer.byteLength(requestText) <= options.keepRequestBytes
}

interface RuleSubject {
  analysis: Analysis
  contentVariant: string | null
  /** Ids of the custom indexes with a matching item. */
  matchedIndexes: readonly string[]
}

export function findTriggeredRules(rules: readonly Rule[], subject: RuleSubject): Rule[] {
  return rules.filter(
    (rule) => rule.active && rule.conditions.every((condition) => holds(condition, subject)),
  )
}

function holds(condition: RuleCondition, { analysis, contentVariant, matchedIndexes }: RuleSubject): boolean {
  switch (condition.subject) {
    case 'class_score':
      return analysis.scores[condition.class] >= condition.min_score
    case 'watchlist':
      return analysis.terms.some((found) => found.watchlist === condition.watchlist)
    case 'custom_index':
      return matchedIndexes.includes(condition.custom_index_id)
    case 'content_variant':
      return contentVariant === condition.content_variant
    case 'url':
      return analysis.urls.length > 0
    case 'language':
      return condition.any_of.includes(analysis.language)
  }
}
