// Marks after the kinds of a row's cells record what fixes did: `ttj#text#join2:3`. So a row is always mapped
// alike, whatever else the plan says.

export const MARK = '#'

/** The kinds of a row's cells, a letter each, without its marks. */
export function toCellKinds(kinds: string): string {
  const at = kinds.indexOf(MARK)
  return at === -1 ? kinds : kinds.slice(0, at)
}

export function listMarks(kinds: string): string[] {
  return kinds.split(MARK).slice(1)
}

/** The kinds and marks of a row with one more mark, which replaces those like it. */
export function setMark(kinds: string | null, isAlike: (mark: string) => boolean, mark: string): string {
  const others = listMarks(kinds ?? '').filter((other) => !isAlike(other))
  return [toCellKinds(kinds ?? ''), ...others, mark].join(MARK)
}

const FIX_MARK = 'fix'

/** The kinds and marks of a row mapped by the fixes of a session from now on. */
export function markFixed(kinds: string | null, session: number): string {
  return setMark(kinds, (mark) => mark.startsWith(FIX_MARK), `${FIX_MARK}${session}`)
}

/** The session whose fixes a row is mapped by; 0 for those that the run began with. */
export function toFixingSession(kinds: string | null): number {
  const mark = kinds === null ? undefined : listMarks(kinds).find((one) => one.startsWith(FIX_MARK))
  return mark === undefined ? 0 : Number(mark.slice(FIX_MARK.length))
}
