import type { PlanSource } from './plan.ts'

/** Files and folders that a source names, in the order of their rows. */
type NamedPaths = Pick<PlanSource, 'path' | 'more'>

/** Every path that a source names, in the order of the rows. */
export function listSourcePaths({ path, more = [] }: NamedPaths): string[] {
  return [path, ...more]
}

/** Every path that the source of a run names, as documents have them. */
export function listRunSources(run: { source: string; more_sources?: string[] }): [string, ...string[]] {
  return [run.source, ...(run.more_sources ?? [])]
}

export function mapSourcePaths<Source extends NamedPaths>(
  source: Source,
  change: (path: string) => string,
): Source {
  const { path, more } = source
  return { ...source, path: change(path), ...(more !== undefined && { more: more.map(change) }) }
}

/** A file that a browser sent to its window, in a folder of its own. */
const UPLOADED = /^(.*[\\/]uploads[\\/])[0-9a-f]{24}[\\/]([^\\/]+)$/

/** Whether two runs are of one source: the same path, or files of the same name that were chosen in a browser. */
export function isSameSource(a: string, b: string): boolean {
  return a === b || (UPLOADED.test(a) && withoutUploadFolder(a) === withoutUploadFolder(b))
}

/** A path that is the same for all files of one name that were chosen in a browser. */
export function withoutUploadFolder(path: string): string {
  return path.replace(UPLOADED, '$1$2')
}

/** The first path of a source as {@link showSourcePath} has it, and how many others it has. */
export function showSource({ path, more = [] }: NamedPaths): string {
  return countFurther(showSourcePath(path), more)
}

/** The path of a source; of a file that was chosen in a browser its name, since nobody knows the folder. */
export function showSourcePath(path: string): string {
  return path.replace(UPLOADED, '$2')
}

/** What the source of a run is called, as its documents have it; see {@link nameSource}. */
export function nameRunSource({
  source,
  more_sources: more,
}: {
  source: string
  more_sources?: string[]
}): string {
  return nameSource({ path: source, ...(more !== undefined && { more }) })
}

/** What a source is called: the name of its file, and how many others it has: `a.csv and 2 more`. */
export function nameSource({ path, more = [] }: NamedPaths): string {
  const name = path.split(/[/\\]/).findLast((part) => part !== '') ?? path
  return countFurther(name, more)
}

function countFurther(first: string, more: readonly string[]): string {
  return more.length === 0 ? first : `${first} and ${more.length} more`
}
