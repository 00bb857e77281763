import type { PlanSource } from './plan.ts'

/** Paths of a source's files and folders, in the order of their rows. */
type NamedPaths = Pick<PlanSource, 'path' | 'more'>

/** Every path of a source, in the order of the rows. */
export function listSourcePaths({ path, more = [] }: NamedPaths): string[] {
  return [path, ...more]
}

/** Every path of a run's source, from documents. */
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

/** A file uploaded by a browser, in a folder of its own. */
const UPLOADED = /^(.*[\\/]uploads[\\/])[0-9a-f]{24}[\\/]([^\\/]+)$/

/** Whether two runs have the same source: the same path, or uploaded files of the same name. */
export function isSameSource(a: string, b: string): boolean {
  return a === b || (UPLOADED.test(a) && withoutUploadFolder(a) === withoutUploadFolder(b))
}

/** A path that is equal for all uploaded files of the same name. */
export function withoutUploadFolder(path: string): string {
  return path.replace(UPLOADED, '$1$2')
}

/** The first path of a source as {@link showSourcePath} shows it, and the number of further ones. */
export function showSource({ path, more = [] }: NamedPaths): string {
  return countFurther(showSourcePath(path), more)
}

/** The path of a source; for an uploaded file only the name, since its folder is unknown. */
export function showSourcePath(path: string): string {
  return path.replace(UPLOADED, '$2')
}

/** The name of a run's source, from its documents; see {@link nameSource}. */
export function nameRunSource({
  source,
  more_sources: more,
}: {
  source: string
  more_sources?: string[]
}): string {
  return nameSource({ path: source, ...(more !== undefined && { more }) })
}

/** The name of a source: its file's name and the number of further files, `a.csv and 2 more`. */
export function nameSource({ path, more = [] }: NamedPaths): string {
  const name = path.split(/[/\\]/).findLast((part) => part !== '') ?? path
  return countFurther(name, more)
}

function countFurther(first: string, more: readonly string[]): string {
  return more.length === 0 ? first : `${first} and ${more.length} more`
}
