/** What stands below the heading of a version in a changelog, which are the notes of its release; null without one. */
export function findNotes(changelog: string, version: string): string | null {
  const sections = changelog.split(/^## /m)
  const section = sections.find((text) => text.startsWith(`[${version}]`))
  return section === undefined ? null : section.slice(section.indexOf('\n')).trim()
}
