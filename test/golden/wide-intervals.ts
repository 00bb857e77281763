const INTERVAL =
  /^( {2}(?:precision|recall|F1) +[\d.]+ % {2})(([\d.]+) % to ([\d.]+) %) +((?:of the rows|both in) .*)$/

/** The lines of an evaluation without intervals of more than 70 points. */
export function sayTooFew(lines: readonly string[]): string[] {
  const shown: string[] = []
  for (let at = 0; at < lines.length; ) {
    const block: RegExpExecArray[] = []
    for (let found = INTERVAL.exec(lines[at] ?? ''); found !== null; found = INTERVAL.exec(lines[at] ?? '')) {
      block.push(found)
      at += 1
    }
    const intervals = block.map(([, , interval = '', from, to]) =>
      Number(to) - Number(from) > 70 ? 'too few rows' : interval,
    )
    const width = Math.max(0, ...intervals.map(({ length }) => length))
    for (const [index, [, before = '', , , , behind = '']] of block.entries())
      shown.push(`${before}${(intervals[index] ?? '').padEnd(width)}  ${behind}`)
    if (block.length === 0) {
      shown.push(lines[at] ?? '')
      at += 1
    }
  }
  return shown
}
