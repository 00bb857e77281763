import { z } from 'zod'

/** What a person accepts with each code, as part of a sentence. */
export const ACCEPT_WORDS = {
  content_cut: 'content may be cut or replaced',
  ids_changed: 'a spreadsheet may have changed ids',
  hidden_rows: 'rows that the spreadsheet hides are sent',
  encoding_uncertain: 'the encoding is a guess or may be stated wrongly',
  fixes_do_not_fit: 'corrections of single rows may be of other rows than the source has now',
  sent_twice: 'rows are sent that an earlier run may have sent already',
  ids_rewritten: 'the service answers with other ids than were sent',
}

/**
 * What may be wrong with all that is sent, so that a person has to accept it before anything is: content may be cut or
 * replaced, a spreadsheet changed ids, rows that are hidden in the spreadsheet are sent, the encoding is uncertain,
 * corrections of single rows do not fit the rows of the source, rows may have been sent by an earlier run. And what stops a run until it is accepted: the service
 * rewrites ids, so that answers do not prove whose they are.
 */
export type AcceptCode = keyof typeof ACCEPT_WORDS

export const ACCEPT_CODES = Object.keys(ACCEPT_WORDS) as [AcceptCode, ...AcceptCode[]]

export const acceptCodeSchema = z.enum(ACCEPT_CODES)

/** The codes of several places in one list, each once, in the order of {@link ACCEPT_CODES}. */
export function joinAccepted(...lists: readonly (readonly AcceptCode[] | undefined)[]): AcceptCode[] {
  const all = new Set(lists.flatMap((list) => list ?? []))
  return ACCEPT_CODES.filter((code) => all.has(code))
}
