import { formatBytes } from '../../src/shared/messages/figure-text.ts'
import type { Answer } from './answers.ts'

/** Golden workspaces whose row numbers equal record numbers: a folder, and JSON Lines. */
const NUMBERED_LIKE_RECORDS = new Set(['folder', 'task-v2-sync'])

/**
 * Turns record numbers into row numbers as in spreadsheets. All other golden sources are CSV files with the
 * header in the first line and at most one row per record.
 */
export function numberLikeSpreadsheets(answer: Answer, workspace: string): Answer {
  const shift = NUMBERED_LIKE_RECORDS.has(workspace) ? 0 : 1
  const { args, stdout, stderr, files } = answer
  const lines = Array.isArray(stdout) && stdout.every((line) => typeof line === 'string')
  const numbered = Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, numberFile(args[0], name, text.join('\n'), shift)]),
  )
  const sizes = Object.entries(files).map(([name, text]): Sizes[number] => [
    Buffer.byteLength(text.join('\n')),
    Buffer.byteLength(numbered[name] ?? ''),
  ])
  const [command, , target] = args
  const format = command === 'export' && target === '-' ? `.${args.at(args.indexOf('--format') + 1)}` : null
  return {
    ...answer,
    args: args.map((arg, index) => (args[index - 1] === '--row' ? String(Number(arg) + shift) : arg)),
    stdout: !lines
      ? numberDocument(stdout, shift, sizes)
      : format === null
        ? numberLines(stdout, shift, sizes)
        : toLines(numberFile(command, format, stdout.join('\n'), shift)),
    stderr: stderr.map((line) => numberText(line, shift)),
    files: Object.fromEntries(Object.entries(numbered).map(([name, text]) => [name, toLines(text)])),
  }
}

type Sizes = readonly (readonly [before: number, after: number])[]

function toLines(text: string): string[] {
  return text === '' ? [] : text.split('\n')
}

function numberText(text: string, shift: number): string {
  return text
    .replaceAll(/(also in row |has no row )(\d+)/g, (_, words, row) => `${words}${Number(row) + shift}`)
    .replaceAll(
      'Rows are numbered as in sluice_row of an export: 1 is the first below the header.',
      'Rows are numbered as a spreadsheet shows them, the header and lines above it included.',
    )
    .replaceAll(/\(row (\d+)\)/g, (_, row) => `(row ${Number(row) + shift})`)
    .replaceAll(
      /(?<=^| {2}|First request, )([Rr]ows? )(\d+(?: \(line \d+\))?(?:, \d+(?: \(line \d+\))?)*)/g,
      (_, word, list) => {
        const rows = String(list).replaceAll(/(\d+)( \(line (\d+)\))?/g, (_, record, _line, line) => {
          const row = Number(record) + shift
          return line === undefined || Number(line) === row ? String(row) : `${row} (line ${line})`
        })
        return `${word}${rows}`
      },
    )
}

/** Width in characters of the column of section titles. */
const SECTION_COLUMNS = 17

/** Adjusts tables whose first column, titled `row`, has row numbers. */
function numberLines(lines: readonly string[], shift: number, sizes: Sizes): string[] {
  let isTable = false
  return lines.map((line) => {
    if (/^ *row {2}\S/.test(line)) isTable = true
    else if (line === '') isTable = false
    const [, padding = '', row, rest = ''] = (isTable ? /^( *)(\d+)( .*)$/.exec(line) : null) ?? []
    if (row !== undefined) {
      return String(Number(row) + shift).padStart(padding.length + row.length) + rest
    }
    const [title = '', shown = ''] = /^(Row \d+(?: \(line \d+\))?) {2,}(.*)$/.exec(line)?.slice(1) ?? []
    if (title !== '') return numberText(title, shift).padEnd(SECTION_COLUMNS) + numberText(shown, shift)
    const [sized = line] = sizes
      .map((pair) => pair.map((bytes) => `(${formatBytes(bytes)})`))
      .flatMap(([before = '', after = '']) => (line.includes(before) ? [line.replace(before, after)] : []))
    return numberText(sized, shift)
  })
}

function numberDocument(value: unknown, shift: number, sizes: Sizes): unknown {
  if (Array.isArray(value)) return value.map((item) => numberDocument(item, shift, sizes))
  if (typeof value === 'string') return numberText(value, shift)
  if (typeof value !== 'object' || value === null) return value
  const document = Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, numberDocument(member, shift, sizes)]),
  )
  const [size] = sizes.flatMap(([before, after]) => (document['bytes'] === before ? [after] : []))
  if (size !== undefined) document['bytes'] = size
  const { row } = document
  // An object with a line already has the spreadsheet's number.
  if (typeof row !== 'number' || 'line' in document) return document
  return { ...document, row: row + shift, record: row }
}

/**
 * Columns with row numbers, the command that writes them, and the column after which the record's column
 * comes.
 */
const RECORD_COLUMNS = [
  { command: 'ledger', row: 'sluice_run_row', record: 'sluice_run_record', behind: ['sluice_run_row'] },
  { command: 'compare', row: 'sluice_a_row', record: 'sluice_a_record', behind: ['sluice_a_row'] },
  {
    command: null,
    row: 'sluice_row',
    record: 'sluice_record',
    behind: ['sluice_attempts', 'sluice_triggered_rules', 'sluice_row'],
  },
]

function numberFile(asked: string | undefined, name: string, text: string, shift: number): string {
  if (name.endsWith('.jsonl')) return numberJsonLines(text, shift)
  const [header = [], ...records] = name.endsWith('.csv') ? readRawRecords(text) : []
  const names = header.map((cell) => cell.replaceAll(/^\ufeff|"|\r$/g, ''))
  const numbered = RECORD_COLUMNS.flatMap(({ command, row, record, behind }) => {
    if (command !== null && command !== asked) return []
    const after = behind.find((column) => names.includes(column))
    // The source may itself be an export, with columns of these names in front.
    return names.includes(row) && after !== undefined
      ? [{ at: names.lastIndexOf(row), record, after: names.lastIndexOf(after) }]
      : []
  })
  if (numbered.length === 0) return text
  const insert = (cells: readonly string[], toCell: (column: (typeof numbered)[number]) => string) =>
    cells.flatMap((cell, index) => [cell, ...numbered.filter(({ after }) => after === index).map(toCell)])
  const toRecord = (cells: readonly string[]) => {
    if (cells.length < names.length) return cells
    const shifted = cells.map((cell, index) =>
      numbered.some(({ at }) => at === index) ? String(Number(cell) + shift) : numberText(cell, shift),
    )
    return insert(shifted, ({ at }) => cells[at] ?? '')
  }
  return [insert(header, ({ record }) => record), ...records.map(toRecord)]
    .map((cells) => cells.join(','))
    .join('\n')
}

function numberJsonLines(text: string, shift: number): string {
  const number = (row: string) => String(Number(row) + shift)
  return text
    .split('\n')
    .map((line) =>
      numberText(line, shift)
        .replace(/^\{"row":(\d+),/, (_, row) => `{"row":${number(row)},"record":${row},`)
        .replace(/^(\{"kept":"\w+","sent_ms":[\d.]+,"row":)(\d+)/, (_, start, row) => {
          return `${start}${number(row)},"record":${row}`
        })
        .replace(/"exchange_in_row":(\d+|null)/, (_, row) => {
          return `"exchange_in_row":${row === 'null' ? row : number(row)},"exchange_in_record":${row}`
        }),
    )
    .join('\n')
}

/** The records of a CSV file; cells keep their quotes, and the last keeps its carriage return. */
function readRawRecords(text: string): string[][] {
  const records: string[][] = [['']]
  let isQuoted = false
  for (const character of text) {
    const record = records.at(-1) ?? []
    if (character === '"') isQuoted = !isQuoted
    if (character === ',' && !isQuoted) record.push('')
    else if (character === '\n' && !isQuoted) records.push([''])
    else record[record.length - 1] += character
  }
  return records
}
