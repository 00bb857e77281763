const PREFIX = 'link of '

/** The name of the column with the links in another column's cells; no field has such a name. */
export function nameLinkColumn(column: string): string {
  return PREFIX + column
}

/** Whether a column has the links of another of these columns. */
export function isLinkColumn(name: string, names: ReadonlySet<string>): boolean {
  return name.startsWith(PREFIX) && names.has(name.slice(PREFIX.length))
}
