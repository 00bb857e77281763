import { z } from 'zod'

/**
 * What may be wrong with all that is sent, so that a person has to accept it before anything is: content may be cut or
 * replaced, a spreadsheet changed ids, rows that are hidden in the spreadsheet are sent, the encoding is uncertain,
 * corrections of single rows do not fit the rows of the source. And what stops a run until it is accepted: the service
 * rewrites ids, so that answers do not prove whose they are.
 */
export const acceptCodeSchema = z.enum([
  'content_cut',
  'ids_changed',
  'hidden_rows',
  'encoding_uncertain',
  'fixes_do_not_fit',
  'ids_rewritten',
])

export type AcceptCode = z.infer<typeof acceptCodeSchema>

export const ACCEPT_CODES = acceptCodeSchema.options

/** The codes of several places in one list, each once, in the order of {@link ACCEPT_CODES}. */
export function joinAccepted(...lists: readonly (readonly AcceptCode[] | undefined)[]): AcceptCode[] {
  const all = new Set(lists.flatMap((list) => list ?? []))
  return ACCEPT_CODES.filter((code) => all.has(code))
}
