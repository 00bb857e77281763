/** The text below a version's heading in a changelog, used as its release notes; null if there is none. */
export function findNotes(changelog: string, version: string): string | null {
  const sections = changelog.split(/^## /m)
  const section = sections.find((text) => text.startsWith(`[${version}]`))
  return section === undefined ? null : section.slice(section.indexOf('\n')).trim()
}
