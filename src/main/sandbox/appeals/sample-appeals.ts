import type { AppealSeed } from './appeal.ts'

/** How many appeals a new sandbox has unless told otherwise: each of {@link SHAPES} once. */
export const DEFAULT_APPEALS = 10

const REMOVED = { action_id: 'remove', display_name: 'Remove post' }
const REMOVED_WITH_REASONS = { ...REMOVED, action_reasons: ['hate', 'bullying'] }
const UPHELD = { action_id: 'remove', action_name: 'Remove post', overturned: false }
const OVERTURNED = { action_id: 'restore', action_name: 'Restore post', overturned: true }

/** Every shape that docs/interface.md §2.6 allows; `docs/sandbox.md` has them as a table. */
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

/** Appeals `appeal-FROM` and so on, as many as that; the tenth is followed by the shape of the first. */
export function createSampleAppeals(count: number, from = 1): AppealSeed[] {
  return Array.from({ length: count }, (_, index) => ({
    ...SHAPES[(from - 1 + index) % SHAPES.length],
    appeal_id: `appeal-${from + index}`,
  }))
}
