/**
 * A stretch of one journal's rows, column by column, by place: 0 is the first row of the stretch. Columns are
 * read on request and must not be changed.
 */
export interface StretchColumns {
  /** 1 for a row that the journal has. */
  readonly has: Uint8Array
  /** 1 if the service answered the row with a result of its own. */
  readonly answered: Uint8Array
  /** 1 if the service's answer is a word for what became of the row. */
  readonly outcomeStated: Uint8Array
  /** 1 if the answer came from the service's cache. */
  readonly cached: Uint8Array
  /** A number for which rules each row triggered; rows with the same number triggered the same ones. */
  readonly sets: Float64Array | Uint16Array
  /** Rule ids behind a number of {@link sets}. */
  ruleIdsOf(set: number): readonly string[]
  /** What each answer names; '' for nothing. */
  names(kind: 'language' | 'model'): readonly string[]
  /** The scores of each class, NaN if a row has none. */
  scores(classes: readonly string[]): readonly Float64Array[]
  /** The highest score of all classes, NaN if a row has none. */
  readonly highestScores: Float64Array
  /** The cells of each column, '' if a row has none. */
  cells(columns: readonly number[]): readonly (readonly string[])[]
}
