import type { Appeal, AppealSeed } from '../../shared/sandbox/content.ts'
import type { AppealResponse } from '../../shared/service/appeal.ts'

/** The service's answer (docs/interface.md §2.6) for an appeal of this age after this many reads. */
export function toAppealResponse(
  appeal: Appeal,
  { reads, ageMs }: { reads: number; ageMs: number },
): AppealResponse {
  const isReviewed =
    appeal.status === 'Reviewed' ||
    (appeal.reviewed_after_reads !== null && reads >= appeal.reviewed_after_reads) ||
    (appeal.reviewed_after_ms !== null && ageMs >= appeal.reviewed_after_ms)
  const judgment = isReviewed ? appeal.judgment : appeal.interim_judgment
  return {
    appeal_id: appeal.appeal_id,
    appeal: {
      appeal_status: isReviewed ? 'Reviewed' : 'In Review',
      ...(judgment === null ? {} : { appeal_judgment: judgment }),
    },
    original_decision: appeal.original_decision,
  }
}

/** Default number of appeals in a new sandbox: one of each of {@link SHAPES}. */
export const DEFAULT_APPEALS = 10

const REMOVED = { action_id: 'remove', display_name: 'Remove post' }
const REMOVED_WITH_REASONS = { ...REMOVED, action_reasons: ['hate', 'bullying'] }
const UPHELD = { action_id: 'remove', action_name: 'Remove post', overturned: false }
const OVERTURNED = { action_id: 'restore', action_name: 'Restore post', overturned: true }

/** All shapes that docs/interface.md §2.6 allows; `docs/sandbox.md` lists them in a table. */
const SHAPES: readonly Omit<AppealSeed, 'appeal_id'>[] = [
  { original_decision: REMOVED_WITH_REASONS },
  { status: 'Reviewed', judgment: OVERTURNED, original_decision: REMOVED },
  {
    status: 'Reviewed',
    judgment: { ...UPHELD, action_reasons: ['hate'] },
    original_decision: REMOVED_WITH_REASONS,
  },
  {
    status: 'Reviewed',
    judgment: { action_id: 'restrict', action_name: 'Restrict to adults' },
    original_decision: REMOVED,
  },
  {},
  { reviewed_after_reads: 2, judgment: OVERTURNED, original_decision: REMOVED },
  { reviewed_after_ms: 2_000, judgment: UPHELD, original_decision: REMOVED },
  { interim_judgment: UPHELD, original_decision: REMOVED },
  { status: 'Reviewed', judgment: {}, original_decision: REMOVED },
  { status: 'Reviewed', judgment: { overturned: true, action_reasons: [] }, original_decision: {} },
]

/** Creates `count` appeals from `appeal-FROM` on, cycling through the shapes. */
export function createSampleAppeals(count: number, from = 1): AppealSeed[] {
  return Array.from({ length: count }, (_, index) => ({
    ...SHAPES[(from - 1 + index) % SHAPES.length],
    appeal_id: `appeal-${from + index}`,
  }))
}
