import { z } from 'zod'

/** Longest part of a cell that travels in a page or a preview, in UTF-16 code units. */
export const EXCERPT_MAX_CHARACTERS = 300

/** A row's cells, each cut to {@link EXCERPT_MAX_CHARACTERS}, and how long each is in full. */
export const excerptShape = {
  cells: z.array(z.string()),
  /** Length of each cell in UTF-16 code units; more than the excerpt's where it was cut. */
  cellLengths: z.array(z.int()),
}
