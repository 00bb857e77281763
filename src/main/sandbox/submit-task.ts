import { hash } from 'node:crypto'
import { DEFAULT_TEXT_MODEL, DEFAULT_URL_MODEL } from '../../shared/service/models.ts'
import type { TaskRequest } from '../../shared/service/tasks.ts'
import { analyseContent, type Content } from './analysis/analyse-content.ts'
import { findTriggeredRules } from './rules/evaluate-rules.ts'
import type { SandboxContext } from './sandbox-context.ts'
import { SandboxRefusal } from './sandbox-errors.ts'
import type { AnsweredTask } from './task-answer.ts'

/**
 * Stores a task, analyses its content and judges it by the rules. Refuses it with `DUPLICATE_POST_ID` where the
 * post_id was submitted before (interface §8). `requestText` is the body as it came, `outcome` how the request
 * will be counted.
 */
export function submitTask(
  context: SandboxContext,
  task: TaskRequest,
  { requestText, outcome }: { requestText: string; outcome: string },
): AnsweredTask {
  const { store, options, moderation } = context
  const content = toContent(task)
  const model = task.models?.[0] ?? (content.kind === 'text' ? DEFAULT_TEXT_MODEL : DEFAULT_URL_MODEL)
  const contentHash = hash('sha256', `${model}\n${content.kind === 'text' ? content.text : content.url}`)
  const taskId = toTaskId(options.seed, task.post_id)
  const createdOn = context.clock.date()
  const isNew = store.tasks.insert({
    postId: task.post_id,
    taskId,
    contentHash,
    createdOn,
    outcome,
    request: isKept(context, requestText) ? requestText : null,
  })
  if (!isNew) throw new SandboxRefusal('DUPLICATE_POST_ID', `post_id "${task.post_id}" was submitted before`)
  const analysis = analyseContent(content, moderation.matchTerms)
  return {
    taskId,
    userId: task.user_id,
    postId: task.post_id,
    model,
    text: content.kind === 'text' ? content.text : '',
    contentHash,
    createdOn: createdOn.toISOString(),
    analysis,
    triggeredRules: findTriggeredRules(moderation.rules, {
      analysis,
      contentVariant: task.content_variant ?? null,
    }),
    fromCache: store.tasks.noteAnalysed(contentHash),
  }
}

function toContent(task: TaskRequest): Content {
  return task.text_data === undefined
    ? { kind: 'url', url: task.url ?? '' }
    : { kind: 'text', text: task.text_data }
}

function isKept({ options }: SandboxContext, requestText: string): boolean {
  return options.keepRequests > 0 && Buffer.byteLength(requestText) <= options.keepRequestBytes
}

/** The same post_id gets the same task_id under the same seed, so that runs repeat. */
function toTaskId(seed: string, postId: string): string {
  const digits = hash('sha256', `${seed}\n${postId}`)
  return `${digits.slice(0, 8)}-${digits.slice(8, 12)}-${digits.slice(12, 16)}-${digits.slice(16, 20)}-${digits.slice(20, 32)}`
}
