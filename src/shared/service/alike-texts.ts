/** Texts that are equal but for white space, case and Unicode normal form become the same. */
export function foldEcho(text: string): string {
  // Through capitals, since not every language has a final sigma of its own.
  return text.normalize('NFKC').trim().replace(/\s+/g, ' ').toUpperCase().toLowerCase()
}

/** Finds what an answer has of a term: under its lower-cased text, else under one that is equal when folded. */
export function createTermFinder<Said>(terms: ReadonlyMap<string, Said>): (term: string) => Said | undefined {
  let folded: Map<string, Said> | null = null
  return (term) => {
    const said = terms.get(term.toLowerCase())
    if (said !== undefined || terms.size === 0) return said
    folded ??= new Map([...terms].map(([one, other]) => [foldEcho(one), other]))
    return folded.get(foldEcho(term))
  }
}
