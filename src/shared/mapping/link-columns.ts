const PREFIX = 'link of '

/** What the column with the links behind the cells of another is called; no field has such a name. */
export function nameLinkColumn(column: string): string {
  return PREFIX + column
}

/** Whether a column has the links behind the cells of another among these. */
export function isLinkColumn(name: string, names: ReadonlySet<string>): boolean {
  return name.startsWith(PREFIX) && names.has(name.slice(PREFIX.length))
}
