import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { listFiles, PROJECT_FOLDER, parseModule, type SourceModule } from './read-module.ts'

/** A page of the project, such as `docs/interface.md`, or other work, either of which sections may follow. */
const SOURCE = String.raw`(?<page>[\w./-]+\.md)|(?<foreign>RFC \d+|(?:19|20)\d\d,)`

/** Sections: one, or a list joined by commas, `and` or `to`. */
const SECTIONS = String.raw`§\d+(?:\.\d+)*(?:(?:,| and| to) §\d+(?:\.\d+)*)*`

const CITATION = new RegExp(`(?:(?:${SOURCE})[\`\\])]? )?(?<sections>${SECTIONS})`, 'g')

/** A named page: with its folder, or as the target of a link. */
const PAGE = /(?<path>\bdocs\/[\w./-]+\.md)|\]\((?<target>[\w./-]+\.md)\)/g

/** The numbers at the beginning of a page's headings; null if the page does not exist. */
export type ReadSections = (page: string) => ReadonlySet<string> | null

/** Reads the numbered headings of a page of the project, such as `docs/interface.md`. */
function readSections(page: string): ReadonlySet<string> | null {
  const path = join(PROJECT_FOLDER, page)
  if (!existsSync(path)) return null
  const headings = readFileSync(path, 'utf8').matchAll(/^#{2,} (\d+(?:\.\d+)*) /gm)
  return new Set([...headings].map(([, number = '']) => number))
}

/**
 * Faults in the citations of a text: a page that does not exist, a section that its page does not have, a
 * section without a page. `home` is the page that contains the text, to which sections without a page belong;
 * null for code.
 */
export function checkCitations(
  given: string,
  home: string | null,
  read: ReadSections = readSections,
): string[] {
  const problems: string[] = []
  const text = given.replace(/\s+/g, ' ')
  for (const { groups: { path, target } = {} } of text.matchAll(PAGE)) {
    const page = path ?? join(home ?? '.', '..', target ?? '')
    if (read(page) === null) problems.push(`cites ${page}, which does not exist`)
  }
  for (const { groups: { page, foreign, sections = '' } = {} } of text.matchAll(CITATION)) {
    if (foreign !== undefined) continue
    const source = page === undefined ? home : toPage(page, home)
    for (const [section] of sections.matchAll(/\d+(?:\.\d+)*/g)) {
      if (source === null) problems.push(`cites §${section} of no page`)
      else if (read(source)?.has(section) === false)
        problems.push(`cites ${source} §${section}, which does not exist`)
    }
  }
  return problems
}

/** The path of a page as a text names it; pages name their neighbours without the folder. */
function toPage(name: string, home: string | null): string {
  return home === null || name.startsWith('docs/') ? name : join(home, '..', name)
}

/** The comments of a file without their marks, those on consecutive lines as one. */
function joinComments({ comments }: Pick<SourceModule, 'comments'>): { text: string; line: number }[] {
  const joined: { text: string; line: number; lastLine: number }[] = []
  for (const { text, line } of comments) {
    const previous = joined.at(-1)
    const plain = text.replace(/^\s*\*\s?/gm, '')
    const lastLine = line + text.split('\n').length - 1
    if (previous !== undefined && previous.lastLine === line - 1) {
      previous.text += `\n${plain}`
      previous.lastLine = lastLine
    } else joined.push({ text: plain, line, lastLine })
  }
  return joined
}

/** Files of a folder that may contain citations; the others need no parsing. */
export function readCitingModules(folder: string): SourceModule[] {
  return listFiles(folder)
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => ({ path, text: readFileSync(join(PROJECT_FOLDER, path), 'utf8') }))
    .filter(({ text }) => /§|docs\//.test(text))
    .map(({ path, text }) => parseModule(path, text))
}

/** Faults in the citations of a file's comments. */
export function checkModuleCitations(module: Pick<SourceModule, 'path' | 'comments'>): string[] {
  return joinComments(module).flatMap(({ text, line }) =>
    checkCitations(text, null).map((problem) => `${module.path}:${line}: ${problem}`),
  )
}

/** GitHub's anchor for a heading. */
function toAnchor(heading: string): string {
  const words = heading.toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '')
  return words.trim().replace(/\s/g, '-')
}

/** Links of a page to a heading that does not exist, in it or in a neighbour. */
export function checkAnchors(text: string, home: string, readText: (page: string) => string): string[] {
  const links = [...text.matchAll(/\]\((?<target>[\w./-]+\.md)?#(?<anchor>[\w-]+)\)/g)]
  return links.flatMap(({ groups = {} }) => {
    const { target, anchor = '' } = groups
    const page = target === undefined ? home : join(home, '..', target)
    const headings = (page === home ? text : readText(page)).matchAll(/^#+ (.+)$/gm)
    const exists = [...headings].some(([, heading = '']) => toAnchor(heading) === anchor)
    return exists ? [] : [`links to ${page}#${anchor}, which does not exist`]
  })
}

/** Faults in the citations of a page, including files of the project that do not exist. */
export function checkPageCitations(page: string, files: readonly string[]): string[] {
  const text = readFileSync(join(PROJECT_FOLDER, page), 'utf8')
  const gone = [...text.matchAll(/`([\w./-]+\/[\w.-]+\.(?:tsx?|mjs)|[\w-]+[\w.-]*\.(?:tsx?|mjs))`/g)]
    .map(([, name = '']) => name)
    .filter((name) => !files.some((file) => `/${file}`.endsWith(`/${name}`)))
  const problems = gone.map((name) => `names ${name}, which does not exist`)
  const anchors = checkAnchors(text, page, (other) => readFileSync(join(PROJECT_FOLDER, other), 'utf8'))
  return [...checkCitations(text, page), ...anchors, ...problems].map((problem) => `${page}: ${problem}`)
}

/** The project's own pages. */
export function listPages(): string[] {
  const pages = listFiles('docs').filter((path) => path.endsWith('.md'))
  return ['README.md', 'CONTRIBUTING.md', ...pages]
}
