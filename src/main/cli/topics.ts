import { COMMAND_PREFIX } from './invocation.ts'
import { padRight, wrapWords } from './terminal/layout.ts'
import type { Terminal } from './terminal/terminal.ts'

/** A page of the documentation that `help` shows. */
export interface HelpTopic {
  /** Never the name of a command. */
  name: string
  /** Its file below `docs`. */
  page: string
  about: string
  /** Commands whose help names it. */
  commands?: readonly string[]
}

/** The pages that `help` shows, in the order in which they are listed. */
export const HELP_TOPICS: readonly HelpTopic[] = [
  {
    name: 'command-line',
    page: 'command-line.md',
    about: 'installing, plan files, exit codes, environment, JSON output',
  },
  { name: 'pipelines', page: 'pipelines.md', about: 'GitHub Actions, progress, reports, keys' },
  {
    name: 'precedence',
    page: 'precedence.md',
    about: 'which setting counts, variables in plans',
    commands: ['plan'],
  },
  {
    name: 'sources',
    page: 'sources.md',
    about: 'file formats and folders',
    commands: ['task', 'index', 'watchlist'],
  },
  {
    name: 'columns',
    page: 'mapping.md',
    about: 'which column fills which field, templates',
    commands: ['mapping', 'task', 'index', 'watchlist'],
  },
  {
    name: 'results',
    page: 'results.md',
    about: 'outcomes, retries, unknown rows',
    commands: ['show', 'task', 'resume', 'retry'],
  },
  {
    name: 'exports',
    page: 'exports.md',
    about: 'columns of an export',
    commands: ['export', 'report'],
  },
  {
    name: 'sql-views',
    page: 'sql.md',
    about: 'what SQL statements can ask of runs',
    commands: ['sql'],
  },
  {
    name: 'evaluation',
    page: 'evaluate.md',
    about: 'labels, samples and verdicts',
    commands: ['evaluate', 'sample', 'verdict'],
  },
  {
    name: 'comparing',
    page: 'compare.md',
    about: 'rows decided differently in two runs, baselines',
    commands: ['compare', 'baseline', 'trend'],
  },
  { name: 'sent-before', page: 'sent-before.md', about: 'which rows earlier runs sent, and --only-new' },
  {
    name: 'history',
    page: 'history.md',
    about: 'finding, tagging and deleting runs',
    commands: ['runs'],
  },
  {
    name: 'ledgers',
    page: 'ledger.md',
    about: 'items, terms and appeals across all runs',
    commands: ['ledger'],
  },
  {
    name: 'load-tests',
    page: 'load-tests.md',
    about: 'rates, thresholds, reports, k6',
    commands: ['load', 'import-k6'],
  },
  {
    name: 'callbacks',
    page: 'callbacks.md',
    about: 'async runs and their receiver',
    commands: ['receiver'],
  },
  {
    name: 'test-service',
    page: 'sandbox.md',
    about: 'the local test service',
    commands: ['sandbox'],
  },
  { name: 'security', page: 'security.md', about: 'what is protected, from whom' },
  { name: 'migrating', page: 'migrating.md', about: 'what changed for scripts' },
  { name: 'window', page: 'window.md', about: 'where the window has each option' },
]

// In the sources, this is a file of src/main/cli; in the package, bundles and pages are in sibling folders.
const PAGES = new URL(import.meta.url.endsWith('.ts') ? '../../../docs/' : '../docs/', import.meta.url)

export function listTopics(): string {
  const lines = HELP_TOPICS.map(({ name, about }) => `  ${padRight(name, 13)}  ${about}`)
  return `\nTopics, such as help columns; help WORDS searches all of them:\n${lines.join('\n')}`
}

/** The topic with that name or page name, singular or plural; null if there is none. */
export function findTopic(typed: string): HelpTopic | null {
  const name = typed.toLowerCase().replaceAll(/[_ ]/g, '-').replace(/\.md$/, '')
  const names = new Set([name, `${name}s`, name.replace(/s$/, '')])
  return HELP_TOPICS.find((one) => names.has(one.name) || names.has(one.page.replace(/\.md$/, ''))) ?? null
}

export function toPageUrl(page: string): URL {
  return new URL(page, PAGES)
}

/** The line in a command's help that names its topics; null if it has none. */
export function sayTopics(command: string): string | null {
  const named = HELP_TOPICS.filter(({ commands = [] }) => commands.includes(command))
  if (named.length === 0) return null
  return `\nMore: ${named.map(({ name }) => `${COMMAND_PREFIX} help ${name}`).join(', ')}`
}

const MOST_COLUMNS = 100

/**
 * A page of Markdown as text for a terminal: headings stand out, tables become lists, links keep their text,
 * and commands to paste begin as they do here.
 */
export function formatPage(terminal: Terminal, page: string): string {
  const columns = Math.min(MOST_COLUMNS, terminal.columns())
  const lines: string[] = []
  let heads: string[] | null = null
  let isCode = false
  for (const block of joinLines(page)) {
    if (block.startsWith('```')) isCode = !isCode
    else if (isCode) lines.push(`  ${block.replaceAll('npm run -s sluice --', COMMAND_PREFIX)}`)
    else if (block.startsWith('#')) lines.push(terminal.tone('strong', toPlain(block.replace(/^#+ /, ''))))
    else if (block.startsWith('|')) {
      const cells = splitCells(block)
      if (heads === null) heads = cells
      else if (!/^[|:\s-]+$/.test(block)) lines.push(...formatTableRow(terminal, heads, cells, columns))
    } else lines.push(...formatText(block, columns))
    if (!block.startsWith('|')) heads = null
  }
  return `${lines
    .join('\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()}\n`
}

/** Lines of a page, with the lines of each paragraph or list item joined. */
function joinLines(page: string): string[] {
  const blocks: string[] = []
  let isCode = false
  for (const line of page.split('\n')) {
    const isFence = line.startsWith('```')
    const last = blocks.at(-1) ?? ''
    const continues = !isCode && !isFence && line !== '' && !/^(#|\||\s*([-*]|\d+\.) )/.test(line)
    if (continues && last !== '' && !/^(#|\||```)/.test(last))
      blocks[blocks.length - 1] = `${last} ${line.trim()}`
    else blocks.push(line)
    if (isFence) isCode = !isCode
  }
  return blocks
}

function toPlain(text: string): string {
  return text
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, (_link, words: string) => {
      const topic = HELP_TOPICS.find(({ page }) => page === words)
      return topic === undefined ? words : `help ${topic.name}`
    })
    .replaceAll('**', '')
}

function splitCells(row: string): string[] {
  const cells = row.replaceAll('\\|', '\u{0}').split('|').slice(1, -1)
  return cells.map((cell) => toPlain(cell.replaceAll('\u{0}', '|').replaceAll('<br>', '; ').trim()))
}

/** A table row: its first cell, and others below it, each after its column's head if there are several. */
function formatTableRow(
  terminal: Terminal,
  heads: readonly string[],
  [first = '', ...others]: string[],
  columns: number,
): string[] {
  const rest = others.flatMap((cell, index) => {
    if (cell === '') return []
    const text = others.length === 1 ? cell : `${heads[index + 1]}: ${cell}`
    return wrapWords(text, columns - 4).map((line) => `    ${line}`)
  })
  return [`  ${terminal.tone('accent', first)}`, ...rest]
}

function formatText(block: string, columns: number): string[] {
  const [, indent = '', mark = ''] = /^(\s*)((?:[-*]|\d+\.) )?/.exec(block) ?? []
  const hanging = ' '.repeat(indent.length + mark.length)
  const wrapped = wrapWords(toPlain(block.slice(hanging.length)), columns - hanging.length)
  return wrapped.map((line, index) => `${index === 0 ? indent + mark : hanging}${line}`)
}
