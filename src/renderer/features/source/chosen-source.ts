/** A file that was chosen, where the engine can read it. */
export interface ChosenSource {
  /** Absolute path on the machine of the engine. */
  path: string
  /** What the person calls it. */
  name: string
  sizeBytes: number
}

/** Rows of a source that are looked at before they are sent. */
export const PREVIEW_ROWS = 100
