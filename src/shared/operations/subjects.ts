/** What a row can name, and how what the service says about it is called. */
export const SUBJECTS = {
  content: { noun: 'row', column: 'sluice_triggered_rules', outcome: 'Triggered rules', answers: null },
  item: { noun: 'item', column: 'sluice_custom_index_item_id', outcome: 'Item id', answers: null },
  term: { noun: 'term', column: 'sluice_term_outcome', outcome: 'Term outcome', answers: 'Terms' },
  appeal: { noun: 'appeal', column: 'sluice_appeal_status', outcome: 'Appeal', answers: 'Appeals' },
} as const satisfies Record<string, SubjectLook>

interface SubjectLook {
  /** What a row is, for counting. */
  noun: string
  /** The column of an export that has the outcome, and what a window calls it. */
  column: string
  outcome: string
  /** What answers are counted as; null if none are. */
  answers: string | null
}

/** What a row names, and with it what the service says about it: rules and scores, an id, a term's outcome, a decision. */
export type Subject = keyof typeof SUBJECTS
