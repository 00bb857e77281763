import { formatBytes, formatCounted } from '../messages/figure-text.ts'
import { DEFAULT_POST_ID } from '../operations/task.ts'
import type { Plan } from '../plan/plan.ts'
import type { SourceChange, SourceFingerprint } from '../plan/source-fingerprint.ts'

/**
 * What happens to a plan's post_ids if it is sent again, since the service may refuse known ones: `none` if
 * there are none to change, `new` if every run generates its own, `own` if the source has some, which are
 * replaced unless a person keeps them.
 */
export type PostIdsAgain = 'none' | 'new' | 'own'

/** See {@link PostIdsAgain}; `columns` are those of the source. */
export function findPostIds({ operation, mapping, load }: Plan, columns: readonly string[]): PostIdsAgain {
  if (operation.kind !== 'task' || load !== undefined) return 'none'
  const given = mapping['post_id']
  if (given?.kind === 'template' && given.template.includes('{{run}}')) return 'new'
  return given !== undefined || hasPostIds(columns) ? 'own' : 'new'
}

function hasPostIds(columns: readonly string[]): boolean {
  return columns.some((column) => column.trim().toLowerCase() === 'post_id')
}

/** The plan with its source's post_ids, even if {@link renewPostIds} replaced them; null without any. */
export function keepPostIds(plan: Plan, columns: readonly string[]): Plan | null {
  if (findPostIds(plan, columns) !== 'new') return plan
  const { post_id: given, ...mapping } = plan.mapping
  const isReplaced = given?.kind === 'template' && given.template === DEFAULT_POST_ID.template
  return isReplaced && hasPostIds(columns) ? { ...plan, mapping } : null
}

/** The plan with new post_ids in every run. */
export function renewPostIds(plan: Plan, columns: readonly string[]): Plan {
  if (findPostIds(plan, columns) === 'none') return plan
  const given = plan.mapping['post_id']
  if (given?.kind === 'template' && given.template.includes('{{run}}')) return plan
  return { ...plan, mapping: { ...plan.mapping, post_id: DEFAULT_POST_ID } }
}

/** Whether a source is still as a run read it, in a sentence. `file` is the source's name. */
export function describeSourceChange(runId: string, file: string, change: SourceChange): string {
  switch (change.kind) {
    case 'same':
      return `${file} is the same as in run ${runId} (${describeSize(change.now)}).`
    case 'changed':
      return `${file} has changed since run ${runId}: now ${describeSize(change.now)}, written ${formatTime(change.now)}; before ${describeSize(change.before)}, written ${formatTime(change.before)}.`
    case 'unknown':
      return `Run ${runId} recorded no fingerprint of its source, so ${file} may have changed since.`
    case 'missing':
      return `${file} cannot be read.`
  }
}

function describeSize({ bytes, files }: SourceFingerprint): string {
  return files === null ? formatBytes(bytes) : `${formatCounted(files, 'file')}, ${formatBytes(bytes)}`
}

function formatTime({ modified_at: at }: SourceFingerprint): string {
  return at.replace('T', ' ').replace(/\.\d+Z$/, ' UTC')
}
