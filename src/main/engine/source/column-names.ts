/** `Column 1`, `Column 2`, …: what a column without a name of its own is called. */
function toDefaultName(index: number): string {
  return `Column ${index + 1}`
}

/**
 * Gives every column a name of its own: an empty header becomes `Column 3`, a second `text` becomes `text (2)`, and
 * columns beyond the header are called by their number. Names stay untrimmed.
 */
export function toColumnNames(header: readonly string[], count = header.length): string[] {
  const names: string[] = []
  const written = new Set(header)
  const used = new Set<string>()
  for (let index = 0; index < Math.max(count, header.length); index += 1) {
    const given = header[index] ?? ''
    const isFirst = given !== '' && !used.has(given)
    const name = isFirst
      ? given
      : toFreeName(given === '' ? toDefaultName(index) : given, written, used, given === '')
    used.add(name)
    names.push(name)
  }
  return names
}

/** A name that neither the header nor a column before it has; numbering starts at `(2)`. */
function toFreeName(base: string, written: Set<string>, used: Set<string>, mayBeBare: boolean): string {
  if (mayBeBare && !written.has(base) && !used.has(base)) return base
  for (let number = 2; ; number += 1) {
    const name = `${base} (${number})`
    if (!written.has(name) && !used.has(name)) return name
  }
}
