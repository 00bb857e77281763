import { readFile } from 'node:fs/promises'
import { listNearest } from '../../shared/messages/find-nearest.ts'
import type { CliContext } from './context.ts'
import { COMMAND_PREFIX } from './invocation.ts'
import { cutToWidth } from './terminal/layout.ts'
import { findTopic, formatPage, HELP_TOPICS, type HelpTopic, toPageUrl } from './topics.ts'

/** A section of a page: a heading and the text below it, including its subsections. */
interface PageSection {
  topic: HelpTopic
  /** Its words, without the number. */
  heading: string
  text: string
}

const PLACES_MAX = 15

/**
 * Shows what `help WORDS` is about: a topic by its name or its page's name, a section by its heading, or else
 * the places whose text has all the words. Returns whether there is any.
 */
export async function showHelp(context: CliContext, words: readonly string[]): Promise<boolean> {
  const [first = '', ...others] = words
  const topic = findTopic(first)
  if (topic !== null && others.length === 0) {
    await context.out.write(formatPage(context.outTerminal, await readPage(topic)))
    return true
  }
  const wanted = topic === null ? words : others
  const sections = await readSections(topic === null ? HELP_TOPICS : [topic])
  const named = sections.filter(({ heading }) => toKey(heading) === toKey(wanted.join(' ')))
  const [only] = named
  if (only !== undefined && named.length === 1) {
    await context.out.write(formatPage(context.outTerminal, only.text))
    await context.out.writeLine(`\nThe whole page: ${COMMAND_PREFIX} help ${only.topic.name}`)
    return true
  }
  const found = named.length > 0 ? named : searchSections(sections, wanted)
  if (found.length === 0) return false
  await context.out.write(formatPlaces(context, found))
  return true
}

/** Topics and commands that a person may have meant. */
export function listNearTopics(typed: string, commands: readonly string[]): string[] {
  return listNearest(typed, [...commands, ...HELP_TOPICS.map(({ name }) => name)]).slice(0, 3)
}

function readPage({ page }: HelpTopic): Promise<string> {
  return readFile(toPageUrl(page), 'utf8')
}

async function readSections(topics: readonly HelpTopic[]): Promise<PageSection[]> {
  const pages = await Promise.all(topics.map(async (topic) => [topic, await readPage(topic)] as const))
  return pages.flatMap(([topic, page]) => splitPage(topic, page))
}

function splitPage(topic: HelpTopic, page: string): PageSection[] {
  const lines = page.split('\n')
  let isCode = false
  const headings = lines.flatMap((line, at) => {
    if (line.startsWith('```')) isCode = !isCode
    const [, marks = '', words = ''] = (!isCode && /^(##+) (?:\d+(?:\.\d+)* )?(.+)$/.exec(line)) || []
    return marks === '' ? [] : [{ at, rank: marks.length, words: words.replaceAll('`', '') }]
  })
  return headings.map(({ at, rank, words }, index) => {
    const next = headings.slice(index + 1).find((later) => later.rank <= rank)
    return { topic, heading: words, text: lines.slice(at, next?.at).join('\n') }
  })
}

/** Sections whose own text has all the words; those with the words in their heading come first. */
function searchSections(sections: readonly PageSection[], words: readonly string[]): PageSection[] {
  const has = (text: string) => {
    const key = ` ${toKey(text)}`
    return words.every((word) => key.includes(`-${toKey(word)}`) || key.includes(` ${toKey(word)}`))
  }
  const inHeading = sections.filter(({ heading }) => has(heading))
  const inText = sections.filter((section) => !inHeading.includes(section) && has(toOwnText(section)))
  return [...inHeading, ...inText]
}

/** A section without its subsections, which are found separately. */
function toOwnText({ text }: PageSection): string {
  const [heading = '', ...rest] = text.split('\n')
  const end = rest.findIndex((line) => /^##+ /.test(line))
  return [heading, ...(end < 0 ? rest : rest.slice(0, end))].join('\n')
}

/** Lower-case words with hyphens between them. */
function toKey(text: string): string {
  return text
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-|-$/g, '')
}

function formatPlaces({ outTerminal: terminal }: CliContext, found: readonly PageSection[]): string {
  const commands = found
    .slice(0, PLACES_MAX)
    .map(({ topic, heading }) => `  ${COMMAND_PREFIX} help ${topic.name} ${toKey(heading)}`)
  const left = found.length - commands.length
  return [
    terminal.tone('strong', 'Found in'),
    ...commands.map((line) => cutToWidth(line, terminal.columns(), terminal.glyphs.ellipsis)),
    ...(left > 0 ? [`  and ${left} more; add words to narrow them down`] : []),
    '',
  ].join('\n')
}
