/** The median of some figures. */
export function toMedian(figures: readonly number[]): number {
  const sorted = [...figures].sort((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** Prints rows of text as a table with aligned columns, the first left-aligned, the others right-aligned. */
export function printTable(rows: readonly (readonly string[])[]): void {
  const widths = (rows[0] ?? []).map((_, i) => Math.max(...rows.map((row) => (row[i] ?? '').length)))
  for (const row of rows) {
    const cells = widths.map((width, i) =>
      i === 0 ? (row[i] ?? '').padEnd(width) : (row[i] ?? '').padStart(width),
    )
    console.log(cells.join('   ').trimEnd())
  }
}

/** A number with grouped thousands, as in 41,300. */
export function toText(figure: number, digits = 0): string {
  return figure.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits })
}
