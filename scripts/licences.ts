// Last step of npm run build: checks the licences of every bundled package and writes their notices to
// out/THIRD-PARTY-NOTICES.txt, which is shipped. Electron includes the notices of its own parts.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { LICENCE_LIST } from './main-bundle.ts'

const project = resolve(import.meta.dirname, '..')

/** A package inside a bundle, as Vite's `build.license` lists it. */
export interface BundledPackage {
  name: string
  version: string
  /** SPDX expression from its package.json. */
  identifier?: string
  /** The text of its licence file. */
  text?: string
}

/**
 * Licences under which we ship a package. All ask for their notice, and MPL-2.0 for the address of the source. MPL-2.0 and
 * Apache-2.0 ask for more if a package is changed, which we do not do.
 */
const ACCEPTED = [
  '0BSD',
  'AFL-2.1',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'ISC',
  'MIT',
  'MPL-2.0',
  'Unicode-3.0',
  'Zlib',
]

/** Licences whose text is in scripts/licence-texts, for packages that only name theirs. */
const KNOWN_TEXTS = ['Apache-2.0', 'ISC', 'MIT']

/** Whether an SPDX expression allows us to ship the package: `AND` needs all of its licences accepted, `OR` one. */
export function isAccepted(expression: string): boolean {
  return expression
    .replaceAll(/[()]/g, '')
    .split(' AND ')
    .every((choice) => choice.split(' OR ').some((licence) => ACCEPTED.includes(licence.trim())))
}

/**
 * The packages of several lists and the given ones, each once, sorted by name, with their licence texts.
 * Throws if any may not be shipped, and names all of those.
 */
export function readPackages(
  lists: readonly string[],
  given: readonly BundledPackage[] = [],
): Required<BundledPackage>[] {
  const listed = lists.flatMap((list): BundledPackage[] => JSON.parse(readFileSync(list, 'utf8')))
  const all = [...listed, ...given]
  const packages = new Map(all.map((one) => [`${one.name}@${one.version}`, one]))
  const complaints: string[] = []
  const accepted = [...packages.values()].flatMap((one) => {
    const { name, version, identifier, text = findText(one) } = one
    if (identifier === undefined) complaints.push(`${name} ${version} names no licence`)
    else if (!isAccepted(identifier)) complaints.push(`${name} ${version} is under ${identifier}`)
    else if (text === null) complaints.push(`${name} ${version} (${identifier}) has no licence file`)
    else return [{ name, version, identifier, text }]
    return []
  })
  if (complaints.length > 0) {
    throw new Error(
      `Bundled packages that cannot be shipped (scripts/licences.ts):\n  ${complaints.join('\n  ')}`,
    )
  }
  return accepted.toSorted((a, b) => (a.name < b.name ? -1 : 1))
}

/**
 * The text of the licence that a package without a licence file names, with its author; null if we have no
 * text.
 */
function findText({ name, version, identifier = '' }: BundledPackage): string | null {
  if (!KNOWN_TEXTS.includes(identifier)) return null
  const about = JSON.parse(readFileSync(join(project, 'node_modules', name, 'package.json'), 'utf8'))
  const author: unknown = about.author?.name ?? about.author
  if (about.version !== version || typeof author !== 'string') return null
  const words = readFileSync(join(import.meta.dirname, 'licence-texts', `${identifier}.txt`), 'utf8')
  return `Copyright (c) ${author}\n\n${words.trim()}`
}

/** The notices of packages, as one text. */
export function formatNotices(packages: readonly Required<BundledPackage>[]): string {
  const notices = packages.map(
    ({ name, version, identifier, text }) => `${'='.repeat(80)}
${name} ${version} (${identifier})
Source: https://www.npmjs.com/package/${name}/v/${version}

${text}
`,
  )
  return `Sluice contains these packages, each under its own licence.\n\n${notices.join('\n')}`
}

if (import.meta.main) {
  const out = join(project, 'out')
  const packages = readPackages(['main', 'preload', 'renderer'].map((part) => join(out, part, LICENCE_LIST)))
  writeFileSync(join(out, 'THIRD-PARTY-NOTICES.txt'), formatNotices(packages))
  const counts = [...Map.groupBy(packages, ({ identifier }) => identifier)].map(
    ([licence, of]) => `${of.length} ${licence}`,
  )
  process.stdout.write(`Licences of ${packages.length} bundled packages: ${counts.join(', ')}\n`)
}
