import { readFile } from 'node:fs/promises'
import { SluiceError } from '../../shared/messages/errors.ts'
import type { SandboxContext } from './sandbox-context.ts'
import type { StoredTerm } from './store/watchlist-store.ts'
import { type CheckedTerms, isTermWithinLimits, type SubmittedTerm } from './validate-request.ts'

/**
 * Adds terms to a watchlist (docs/interface.md §4.5). A term that is already listed gets new notes if any
 * were sent, and otherwise keeps its own.
 */
export function addTerms(context: SandboxContext, { watchlist, terms }: CheckedTerms) {
  const { watchlists } = context.store
  const answer = {
    message: toMessage(terms),
    watchlist,
    added_terms: [] as SubmittedTerm[],
    pre_existing_terms: [] as SubmittedTerm[],
    failed_terms: toFailedTerms(context, terms),
  }
  for (const { term, notes } of terms.filter(isTermWithinLimits).map(toLowered)) {
    const known = watchlists.find(watchlist, term)
    const kept = { term, notes: notes ?? known?.notes ?? null }
    watchlists.setTerm(watchlist, kept)
    const list = known === null ? answer.added_terms : answer.pre_existing_terms
    list.push(toAnswered(kept))
  }
  context.moderation.reload()
  return answer
}

/**
 * Updates the notes of listed terms (docs/interface.md §4.6): null clears them, and missing notes change
 * nothing. Unknown terms are never added.
 */
export function updateTerms(context: SandboxContext, { watchlist, terms }: CheckedTerms) {
  const { watchlists } = context.store
  const answer = {
    message: toMessage(terms),
    watchlist,
    updated_terms: [] as SubmittedTerm[],
    non_existent_terms: [] as SubmittedTerm[],
    failed_terms: toFailedTerms(context, terms),
  }
  for (const { term, notes } of terms.filter(isTermWithinLimits).map(toLowered)) {
    const known = watchlists.find(watchlist, term)
    if (known === null) {
      answer.non_existent_terms.push({ term, ...(notes === undefined ? {} : { notes }) })
      continue
    }
    const kept = { term, notes: notes === undefined ? known.notes : notes }
    watchlists.setTerm(watchlist, kept)
    answer.updated_terms.push(toAnswered(kept))
  }
  return answer
}

/** Terms that exceed the limits, as they were sent (docs/interface.md §7.3). */
function toFailedTerms({ behaviour }: SandboxContext, terms: readonly SubmittedTerm[]) {
  const failed = terms.filter((term) => !isTermWithinLimits(term))
  return behaviour.settings.failedTerms === 'strings'
    ? failed.map(({ term }) => term)
    : failed.map(({ term, notes }) => (notes === undefined ? { term } : { term, notes }))
}

function toLowered({ term, notes }: SubmittedTerm): SubmittedTerm {
  return { term: term.toLowerCase(), notes }
}

/** The term object of an answer, with notes only if there are any (docs/interface.md §2.5). */
function toAnswered({ term, notes }: StoredTerm) {
  return notes === null ? { term } : { term, notes }
}

function toMessage(terms: readonly SubmittedTerm[]): string {
  return terms.length === 1 ? '1 term is processed.' : `${terms.length} terms are processed.`
}

/** Reads terms from a UTF-8 text file: one per line, with notes after a tab; empty lines are skipped. */
export async function readTermFile(path: string): Promise<StoredTerm[]> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw SluiceError.because(error, { id: 'terms_unreadable', file: path })
  }
  return text
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const [term = '', ...notes] = line.split('\t')
      return { term, notes: notes.length === 0 ? null : notes.join('\t') }
    })
}
