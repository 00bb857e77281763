/** Maps texts that differ only in white space, case and Unicode normal form to the same text. */
export function foldEcho(text: string): string {
  // Via upper case, since a Greek sigma has two lower-case forms.
  return text.normalize('NFKC').trim().replace(/\s+/g, ' ').toUpperCase().toLowerCase()
}

/** Finds an answer's entry for a term: under its lower-cased text, else under one equal when folded. */
export function createTermFinder<Said>(terms: ReadonlyMap<string, Said>): (term: string) => Said | undefined {
  let folded: Map<string, Said> | null = null
  return (term) => {
    const said = terms.get(term.toLowerCase())
    if (said !== undefined || terms.size === 0) return said
    folded ??= new Map([...terms].map(([one, other]) => [foldEcho(one), other]))
    return folded.get(foldEcho(term))
  }
}
