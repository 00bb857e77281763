import { CONTENT_CLASSES, type Rule } from '../../shared/sandbox/content.ts'
import { ANALYSED_CHARACTERS, type Analysis, findPersonalData } from './analysis/analyse-content.ts'
import type { StoredIndexItem } from './store/index-store.ts'

export interface AnsweredModel {
  /** A model's name, or a custom index's id. */
  name: string
  /** SHA-256 of the model and the content, in hexadecimal. */
  contentHash: string
  /** Matching items of the custom index; null for a model. */
  matches: readonly StoredIndexItem[] | null
}

/** A task after analysis and rules. */
export interface AnsweredTask {
  taskId: string
  userId: string
  postId: string
  /** One in v1, one or more in v2. */
  models: readonly AnsweredModel[]
  /** The submitted text; '' for a url. */
  text: string
  /** ISO 8601. */
  createdOn: string
  analysis: Analysis
  triggeredRules: readonly Rule[]
  /** Whether all models had already analysed the same content. */
  fromCache: boolean
}

/** The numeric user and project of every legacy answer; the sandbox has one project. */
const PROJECT = { numericUserId: 1001, projectId: 1 }

const SUCCESS = { code: '0', message: 'SUCCESS' }

/** Legacy answers give rules a time stamp; the sandbox's rules have no history. */
const RULE_TIMESTAMP = '2024-01-01T00:00:00.000Z'

/** The default task response as JSON text (docs/interface.md §2.2). */
export function toDefaultAnswer(task: AnsweredTask): string {
  return JSON.stringify(toDefaultFields(task))
}

/**
 * The v2 task response as JSON text. The interface does not show it (docs/interface.md §4.2); here it is the
 * default response plus the results of each model, in legacy terms.
 */
export function toV2Answer(task: AnsweredTask): string {
  return JSON.stringify({
    ...toDefaultFields(task),
    from_cache: task.fromCache,
    models: task.models.map((model) => ({
      model: model.name,
      status: SUCCESS,
      response: model.matches === null ? toModelResponse(task, model) : toIndexResponse(model.matches),
    })),
  })
}

/** The acknowledgement of an async task as JSON text (docs/interface.md §4.1); all but task_id is added. */
export function toAcknowledgement(task: AnsweredTask): string {
  return JSON.stringify({ task_id: task.taskId, message: 'The task is taken.' })
}

function toDefaultFields(task: AnsweredTask) {
  return {
    user_id: task.userId,
    post_id: task.postId,
    task_id: task.taskId,
    triggered_rules: task.triggeredRules.map((rule) => ({
      rule_id: rule.rule_id,
      rule_name: rule.rule_name,
    })),
  }
}

function toIndexResponse(matches: readonly StoredIndexItem[]) {
  return {
    matches: matches.map(({ itemId, metadata, contentVariant }) => ({
      custom_index_item_id: itemId,
      similarity: 1,
      ...(metadata === null ? {} : { metadata }),
      ...(contentVariant === null ? {} : { content_variant: contentVariant }),
    })),
  }
}

/**
 * The legacy task response as JSON text (docs/interface.md §2.3). Its `user_id` really appears twice, as a
 * string and as a number, which no object can express; hence two joined pieces of text.
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
    status: task.models.map((model) => ({ status: SUCCESS, response: toModelResponse(task, model) })),
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

function toModelResponse(task: AnsweredTask, model: AnsweredModel) {
  const { analysis, text } = task
  return {
    input: {
      hash: model.contentHash,
      inference_client_version: 'sandbox',
      model: `sandbox_${model.name}`,
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
