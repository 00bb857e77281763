import { ANALYSED_CHARACTERS, type Analysis } from './analysis/analyse-content.ts'
import { CONTENT_CLASSES } from './analysis/content-classes.ts'
import { findPersonalData } from './analysis/find-entities.ts'
import type { Rule } from './rules/rule.ts'

/** A task that was taken, analysed and judged by the rules. */
export interface AnsweredTask {
  taskId: string
  userId: string
  postId: string
  model: string
  /** The submitted text, or '' where the content is a url. */
  text: string
  contentHash: string
  /** ISO 8601. */
  createdOn: string
  analysis: Analysis
  triggeredRules: readonly Rule[]
  /** The same content was analysed by the same model before. */
  fromCache: boolean
}

/** The numeric user and project of every legacy answer; the sandbox has one project. */
const PROJECT = { numericUserId: 1001, projectId: 1 }

/** Legacy answers give rules a time stamp; the sandbox's rules have no history. */
const RULE_TIMESTAMP = '2024-01-01T00:00:00.000Z'

/** The default task response as JSON text (interface §2.2). */
export function toDefaultAnswer(task: AnsweredTask): string {
  return JSON.stringify({
    user_id: task.userId,
    post_id: task.postId,
    task_id: task.taskId,
    triggered_rules: task.triggeredRules.map((rule) => ({
      rule_id: rule.rule_id,
      rule_name: rule.rule_name,
    })),
  })
}

/**
 * The legacy task response as JSON text (interface §2.3). Its `user_id` really appears twice, first as a string, then
 * as a number, which no object could hold; hence two pieces of text joined.
 */
export function toLegacyAnswer(task: AnsweredTask): string {
  const head = JSON.stringify({
    content_id: task.taskId,
    user_id: task.userId,
    post_id: task.postId,
    task_id: task.taskId,
    triggered_rules: task.triggeredRules.map(toLegacyRule),
    id: task.taskId,
    code: 200,
    project_id: PROJECT.projectId,
  })
  const tail = JSON.stringify({
    user_id: PROJECT.numericUserId,
    created_on: task.createdOn,
    status: [{ status: { code: '0', message: 'SUCCESS' }, response: toModelResponse(task) }],
    from_cache: task.fromCache,
  })
  return `${head.slice(0, -1)},${tail.slice(1)}`
}

function toLegacyRule(rule: Rule) {
  return {
    id: rule.rule_id,
    display_name: rule.rule_name,
    application_id: 'sandbox',
    rule_type: 'post',
    cardinality: 1,
    active: rule.active,
    action_id: rule.action_id,
    conditions: rule.conditions.map(({ subject }) => ({ subject })),
    deleted: false,
    trigger_frequency: 'once',
    created_at: RULE_TIMESTAMP,
    updated_at: RULE_TIMESTAMP,
  }
}

function toModelResponse(task: AnsweredTask) {
  const { analysis, text } = task
  return {
    input: {
      hash: task.contentHash,
      inference_client_version: 'sandbox',
      model: `sandbox_${task.model}`,
      model_type: text === '' ? 'VISUAL_CLASSIFICATION' : 'TEXT_CLASSIFICATION',
      model_version: 1,
      text,
      id: task.taskId,
      created_on: task.createdOn,
      user_id: PROJECT.numericUserId,
      project_id: PROJECT.projectId,
      charge: 0,
    },
    custom_classes: [],
    text_filters: analysis.terms.map((found) => ({
      value: found.term,
      start_index: found.start,
      end_index: found.end,
      type: found.watchlist,
    })),
    pii_entities: findPersonalData(text.slice(0, ANALYSED_CHARACTERS)),
    urls: analysis.urls,
    language: analysis.language,
    moderated_classes: CONTENT_CLASSES,
    output: analysis.spans.map((span) => ({
      time: 0,
      start_char_index: span.start,
      end_char_index: span.end,
      classes: CONTENT_CLASSES.map((className) => ({ class: className, score: span.scores[className] })),
    })),
  }
}
