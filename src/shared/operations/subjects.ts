/** The subjects of rows, with words for them and for the service's answer. */
export const SUBJECTS = {
  content: { noun: 'row', column: 'sluice_triggered_rules', outcome: 'Triggered rules', answers: null },
  item: { noun: 'item', column: 'sluice_custom_index_item_id', outcome: 'Item id', answers: null },
  term: { noun: 'term', column: 'sluice_term_outcome', outcome: 'Term outcome', answers: 'Terms' },
  appeal: { noun: 'appeal', column: 'sluice_appeal_status', outcome: 'Appeal', answers: 'Appeals' },
} as const satisfies Record<string, SubjectLook>

interface SubjectLook {
  /** The noun for counts. */
  noun: string
  /** The export column with the outcome, and its title in the window. */
  column: string
  outcome: string
  /** The noun for counting answers; null if answers are not counted. */
  answers: string | null
}

/** A row's subject, which the answer depends on: rules and scores, an id, a term's outcome, a decision. */
export type Subject = keyof typeof SUBJECTS
