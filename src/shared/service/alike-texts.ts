/** Maps texts that differ only in white space, case and Unicode normal form to the same text. */
export function foldEcho(text: string): string {
  // Via upper case, since a Greek sigma has two lower-case forms.
  return text.normalize('NFKC').trim().replace(/\s+/g, ' ').toUpperCase().toLowerCase()
}

/**
 * Finds an answer's entry for a term: under its lower-cased text, else without white space at its ends, else
 * under one equal when folded, unless that is the entry of another one of the terms `sent` in the request.
 */
export function createTermFinder<Said>(
  terms: ReadonlyMap<string, Said>,
  sent: readonly string[] = [],
): (term: string) => Said | undefined {
  const findExact = (term: string) => terms.get(term.toLowerCase()) ?? terms.get(term.toLowerCase().trim())
  let folded: Map<string, Said> | null = null
  return (term) => {
    const said = findExact(term)
    if (said !== undefined || terms.size === 0) return said
    if (folded === null) {
      const taken = new Set(sent.map(findExact))
      const free = [...terms].filter(([, other]) => !taken.has(other))
      folded = new Map(free.map(([one, other]) => [foldEcho(one), other]))
    }
    return folded.get(foldEcho(term))
  }
}
