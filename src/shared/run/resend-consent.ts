import type { RowCounts } from './run.ts'

/** What a person types to accept that items may be added to an index twice. */
export const ADD_TWICE = 'add twice'

/**
 * Items that an index may hold twice after rows of unknown outcome are sent again. A retry sends rows again, too, that
 * were acknowledged and whose callbacks are overdue.
 */
export function countDoubleAdds({ unknown, overdue }: RowCounts, how: 'resume' | 'retry'): number {
  return how === 'retry' ? unknown + overdue : unknown
}

/** Whether a typed text is {@link ADD_TWICE}. */
export function isAddTwice(text: string): boolean {
  return text.trim().toLowerCase() === ADD_TWICE
}
