import { z } from 'zod'
import { base, runIdSchema } from './base.ts'
import { problemGroupSchema } from './problem-schema.ts'

/** What is wrong with the rows of a run. */
export const checkContract = {
  /** Problems by cause, with the first rows that have each. */
  problems: base.input(runIdSchema).output(z.array(problemGroupSchema)),
}
