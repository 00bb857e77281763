import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { PROJECT_FOLDER } from './read-module.ts'

/** The columns that must be filled in every row of the table. */
const FILLED = ['client side', 'sandbox side']

interface CoverageRow {
  section: string
  part: string
  /** By the heading of its column. */
  cells: Record<string, string>
}

function readRows(): CoverageRow[] {
  const text = readFileSync(join(PROJECT_FOLDER, 'docs', 'interface-coverage.md'), 'utf8')
  const rows: CoverageRow[] = []
  let section = ''
  let heads: string[] = []
  for (const line of text.split('\n')) {
    section = /^## §(\S+)/.exec(line)?.[1] ?? section
    if (!line.startsWith('|')) continue
    const [part = '', ...cells] = line
      .slice(1, -1)
      .split(/(?<!\\)\|/)
      .map((cell) => cell.trim())
    if (part === 'interface') heads = cells
    else if (!/^-+$/.test(part)) {
      rows.push({ section, part, cells: Object.fromEntries(heads.map((head, i) => [head, cells[i] ?? ''])) })
    }
  }
  return rows
}

/** The tests that a cell names, each a file and what it says there. */
function readReferences(cell: string): { file: string; title: string }[] {
  return cell.split('<br>').flatMap((part) => {
    const [, file, title] = /^`([\w/.-]+\.test\.tsx?)` (.+)$/.exec(part.trim()) ?? []
    return file === undefined || title === undefined ? [] : [{ file, title: title.replaceAll('\\|', '|') }]
  })
}

/** Whether a file has a test of that title, which may begin with the words of its `describe`. */
function hasTest(file: string, title: string): boolean {
  const path = join(PROJECT_FOLDER, 'test', file)
  if (!existsSync(path)) return false
  for (const [, quote = '', literal = ''] of readFileSync(path, 'utf8').matchAll(
    /(['"`])((?:\\.|(?!\1)[^\\\n])*)\1/g,
  )) {
    const text = literal.replaceAll(`\\${quote}`, quote)
    if (text.length >= 8 && (title === text || title.endsWith(` ${text}`))) return true
  }
  return false
}

it('follows every section of the interface, and leaves no row empty', () => {
  const rows = readRows()
  const sections = '1 2.1 2.2 2.3 2.4 2.5 2.6 3 4 4.1 4.2 4.3 4.4 4.5 4.6 4.7 5 6 7 8 9'
  expect([...new Set(rows.map(({ section }) => section))].join(' ')).toBe(sections)
  const empty = rows.flatMap(({ section, part, cells }) =>
    FILLED.filter((head) => (cells[head] ?? '') === '').map((head) => `§${section} ${part}: ${head}`),
  )
  expect(empty).toEqual([])
})

it('names tests that there are', () => {
  const missing = readRows().flatMap(({ section, part, cells }) =>
    Object.values(cells)
      .flatMap(readReferences)
      .filter(({ file, title }) => !hasTest(file, title))
      .map(({ file, title }) => `§${section} ${part}: ${file} ${title}`),
  )
  expect(missing).toEqual([])
})

it('says something else than a test only where it says why', () => {
  const unexplained = readRows().flatMap(({ section, part, cells }) =>
    Object.values(cells)
      .filter((cell) => cell !== '' && readReferences(cell).length === 0 && !/^[A-Z].{20,}\.$/.test(cell))
      .map((cell) => `§${section} ${part}: ${cell}`),
  )
  expect(unexplained).toEqual([])
})
