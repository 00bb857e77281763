import { z } from 'zod'

/** What a person accepts with each code, as a part of a sentence. */
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
 * What a person must accept before anything is sent, since all rows may be affected: content may be cut or
 * replaced, a spreadsheet changed ids, rows hidden in the spreadsheet are sent, the encoding is uncertain,
 * corrections of single rows do not fit the source, an earlier run may have sent rows. One more code stops a
 * run until it is accepted: the service rewrites ids, so that answers do not prove which rows they belong to.
 */
export type AcceptCode = keyof typeof ACCEPT_WORDS

export const ACCEPT_CODES = Object.keys(ACCEPT_WORDS) as [AcceptCode, ...AcceptCode[]]

export const acceptCodeSchema = z.enum(ACCEPT_CODES)

/** The codes of several lists, each once, in the order of {@link ACCEPT_CODES}. */
export function joinAccepted(...lists: readonly (readonly AcceptCode[] | undefined)[]): AcceptCode[] {
  const all = new Set(lists.flatMap((list) => list ?? []))
  return ACCEPT_CODES.filter((code) => all.has(code))
}
