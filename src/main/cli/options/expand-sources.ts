import { existsSync, globSync } from 'node:fs'
import { join, sep } from 'node:path'
import { SluiceError } from '../../../shared/messages/errors.ts'
import { resolveFromCaller } from '../invocation.ts'

/**
 * The absolute paths of sources as a person names them. A pattern, which a shell left as it is, stands for the files that
 * match it, in the order of their paths; hidden ones only match a pattern that names the dot. A file whose name has the
 * signs of a pattern in it is that file. Throws `BAD_SOURCE` for a pattern that matches nothing.
 */
export function expandSources(
  named: readonly string[],
  env: NodeJS.ProcessEnv,
): readonly [string, ...string[]] {
  const [first, ...more] = named.flatMap((name) => expandSource(name, env))
  // The commands ask for one.
  if (first === undefined) throw new Error('no source was named')
  return [first, ...more]
}

function expandSource(name: string, env: NodeJS.ProcessEnv): string[] {
  const path = resolveFromCaller(name, env)
  if (!/[*?[{]/.test(name) || existsSync(path)) return [path]
  const pattern = sep === '\\' ? path.replaceAll('\\', '/') : path
  const found = globSync(pattern, { withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted((a, b) => (a < b ? -1 : 1))
  if (found.length === 0) throw new SluiceError({ id: 'pattern_matches_nothing', source: name })
  return found
}
