import { NOTES_MAX_CHARACTERS, TERM_MAX_CHARACTERS } from '../../../shared/service/request-field.ts'
import { hasAtMost } from '../../../shared/service/watchlist.ts'
import { addProblem, type Found, type RowRule } from './found-problems.ts'

/** Term and notes have at most 1024 characters each (docs/interface.md §2.5, §8). */
export const checkLengths: RowRule = (found, row, { term, notes }) =>
  checkLength(
    checkLength(found, row, 'term', term, TERM_MAX_CHARACTERS),
    row,
    'notes',
    notes,
    NOTES_MAX_CHARACTERS,
  )

function checkLength(found: Found, row: number, field: string, text: unknown, max: number): Found {
  if (typeof text !== 'string' || hasAtMost(text, max)) return found
  const message = `must have at most ${max} characters, and has ${Array.from(text).length}`
  return addProblem(found, row, 'error', 'too_long', field, message, text)
}

/** What consists of white space alone matches nothing that a person would look for. */
export const checkBlank: RowRule = (found, row, { term }) =>
  typeof term === 'string' && term !== '' && term.trim() === ''
    ? addProblem(found, row, 'warning', 'empty', 'term', 'holds nothing but white space', term)
    : found
