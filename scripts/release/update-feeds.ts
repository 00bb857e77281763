import { stringify } from 'yaml'
import { ENDINGS, type Installer } from './release-files.ts'

/** A file that installed apps fetch to learn of a newer version. */
export interface UpdateFeed {
  name: string
  text: string
}

/** The name of the feed that an app on this system and processor fetches. */
function toFeedName({ system, processor }: Installer): string {
  if (system === 'win') return 'latest.yml'
  if (system === 'mac') return 'latest-mac.yml'
  return processor === 'x64' ? 'latest-linux.yml' : `latest-linux-${processor}.yml`
}

/**
 * The update feeds of a version, for all its installers. electron-builder's own feeds do not fit: each
 * system's machine writes them before the others' files exist. `releaseDate` is ISO 8601.
 */
export function writeUpdateFeeds(
  installers: readonly Installer[],
  version: string,
  releaseDate: string,
): UpdateFeed[] {
  const feeds = Map.groupBy(installers, toFeedName)
  return [...feeds].map(([name, members]) => {
    // Older updaters read one file only, and newer ones take the first of their kind.
    const files = members
      .toSorted((a, b) => ENDINGS[a.system].indexOf(a.ending) - ENDINGS[b.system].indexOf(b.ending))
      .map(({ name: url, sha512, sizeBytes }) => ({ url, sha512, size: sizeBytes }))
    const [first] = files
    const feed = { version, files, path: first?.url, sha512: first?.sha512, releaseDate }
    return { name, text: stringify(feed, { lineWidth: 0 }) }
  })
}
