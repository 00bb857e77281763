import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { extname, join, relative, resolve } from 'node:path'
import process from 'node:process'
import { parseArgs } from 'node:util'
import { type Asked, AskedChild } from './ask-child.ts'
import { type CellDifference, compareTables } from './compare-tables.ts'
import { compareTexts } from './compare-texts.ts'
import { createZooReport, type ExpectedDifference, formatZooReport, isExpected } from './report.ts'
import type { ReadFile, ReadTable, SecondFile } from './tables.ts'

const USAGE = `Reads every workbook and table below a folder and compares it cell by cell with second readers.

Usage: npm run check:zoo -- FOLDER [--python PROGRAM] [--limit SECONDS] [--report FILE]

  --python PROGRAM   Python with openpyxl and python-calamine (default: python3)
  --limit SECONDS    time for one file and reader (default 30)
  --report FILE      writes all differences as JSON
`

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    python: { type: 'string', default: 'python3' },
    limit: { type: 'string', default: '30' },
    report: { type: 'string' },
  },
})
const [folder] = positionals
if (folder === undefined) {
  process.stderr.write(USAGE)
  process.exit(2)
}

const limitMs = Number(values.limit) * 1000
const ours = new AskedChild<ReadFile>([process.execPath, join(import.meta.dirname, 'read-child.ts')], limitMs)
const second = new AskedChild<SecondFile>(
  [values.python, join(import.meta.dirname, 'second-readers.py')],
  limitMs,
)
const expected = JSON.parse(
  readFileSync(join(import.meta.dirname, 'expected-differences.json'), 'utf8'),
) as ExpectedDifference[]
const report = createZooReport()
const PLAIN = { encoding: 'utf-8', delimiter: ',', quote: '"', escape: '' }

const root = resolve(folder)
for (const path of listTables(root)) {
  const name = relative(root, path).replaceAll('\\', '/')
  const read = await ours.ask({ path })
  report.files += 1
  if (read.kind !== 'answer') {
    report[read.kind === 'hang' ? 'hangs' : 'crashes'].push({ file: name, detail: read.detail })
    continue
  }
  const { tables, refused, crashed } = read.answer
  if (crashed !== null) report.crashes.push({ file: name, detail: crashed })
  const isWorkbook = /^\.xls[xm]$/i.test(extname(path))
  const others: { reader: string; answer: Asked<SecondFile>; tables: ReadTable[] }[] = []
  if (isWorkbook) {
    for (const reader of ['openpyxl', 'calamine']) {
      others.push({ reader, answer: await second.ask({ reader, path }), tables })
    }
  } else {
    for (const table of tables.length === 0 ? [undefined] : tables) {
      const { encoding, delimiter, quote, escape: escaping } = table ?? PLAIN
      const how = { encoding, delimiter, quote, escape: escaping }
      const answer = await second.ask({ reader: 'csv', path, ...how })
      others.push({ reader: 'csv', answer, tables: table === undefined ? [] : [table] })
    }
  }
  const readBy = others.flatMap(({ reader, answer }) => (hasTables(answer) ? [reader] : []))
  for (const { reading, guessed } of tables) {
    for (const guess of guessed) report.guesses.push({ file: name, reading, guess })
  }
  if (refused !== null) report.refusals.push({ file: name, ...refused, readBy })
  else if (crashed === null) report.read += 1
  for (const { reader, answer, tables: compared } of others) {
    const counts = report.readers.get(reader) ?? { files: 0, cells: 0, differ: 0, told: 0, expected: 0 }
    report.readers.set(reader, counts)
    if (!hasTables(answer) || compared.length === 0) continue
    if (compared[0]?.reading !== 'header' || isWorkbook) counts.files += 1
    for (const table of compared) {
      const theirs = answer.answer.tables.find(({ sheet }) => sheet === table.sheet)
      if (theirs === undefined) continue
      const { rows } = theirs
      const { cells, told, differences } =
        rows === undefined ? compareTables(table, theirs) : compareTexts(table, rows)
      counts.cells += cells
      counts.told += told
      for (const difference of differences) noteDifference(name, reader, counts, difference)
    }
  }
}
await Promise.all([ours.close(), second.close()])
process.stdout.write(formatZooReport(report))
if (values.report !== undefined) {
  mkdirSync(resolve(values.report, '..'), { recursive: true })
  writeFileSync(values.report, JSON.stringify({ ...report, readers: [...report.readers] }, null, 1))
}
process.exitCode = report.crashes.length + report.hangs.length + report.differences.length > 0 ? 1 : 0

function noteDifference(
  file: string,
  reader: string,
  counts: { differ: number; expected: number },
  difference: CellDifference,
): void {
  const noted = { file, reader, ...difference }
  if (isExpected(expected, noted)) counts.expected += 1
  else {
    counts.differ += 1
    report.differences.push(noted)
  }
}

function hasTables(answer: Asked<SecondFile>): answer is { kind: 'answer'; answer: SecondFile } {
  return answer.kind === 'answer' && answer.answer.refused === null
}

/** Workbooks and tables below a folder, sorted by path. */
function listTables(top: string): string[] {
  return readdirSync(top, { withFileTypes: true, recursive: true })
    .filter(
      (entry) =>
        entry.isFile() && /\.(?:xlsx|xlsm|csv|tsv)$/i.test(entry.name) && !entry.name.startsWith('~$'),
    )
    .map(({ parentPath, name }) => join(parentPath, name))
    .toSorted()
}
