import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { pathToFileURL } from 'node:url'
import Papa from 'papaparse'
import { expect, test } from 'vitest'
import { readTableCells, toTableNames } from '../../../../../src/main/engine/run/export/csv-report.ts'
import { writeWorkbook } from '../../../../../src/main/engine/run/export/workbook.ts'
import { toResultsSheet } from '../../../../../src/main/engine/run/export/xlsx-report.ts'
import { findCommand } from '../../../../helpers/find-command.ts'
import { onlyInLongForm } from '../../../../helpers/long-form.ts'
import { createTemporaryFolder } from '../../../../helpers/temporary-folder.ts'
import { buildOptions, buildResult } from './build-result.ts'

const soffice = findCommand('soffice', 'SLUICE_SOFFICE')

/** Each sheet as a CSV file: commas, all texts quoted, UTF-8, cells as displayed. */
const ALL_SHEETS = 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,true,true,false,false,false,-1'

const AWKWARD = [
  ...[
    '00042',
    '12345678901234567890',
    '=1+1',
    "'=1+1",
    '+49 170 1',
    '-5',
    '@name',
    '1e5',
    '2024-02-29',
    'TRUE',
  ],
  ...['  spaces  ', 'a,b;"c"\td', 'lines\nof text', '<b>&amp;</b> ]]>', '_x000D_ _x0041_ _x', 'Müller 漢 😀'],
  ...['', ' ', '1/2', '50 %', '#N/A', 'مرحبا', 'x'.repeat(30_000)],
]

/** Opens a workbook in LibreOffice and returns the cells of its sheets. */
async function openSheets(workbook: Parameters<typeof writeWorkbook>[0]): Promise<string[][][]> {
  const folder = createTemporaryFolder()
  writeFileSync(join(folder, 'report.xlsx'), await buffer(writeWorkbook(workbook)))
  const profile = `-env:UserInstallation=${pathToFileURL(join(folder, 'profile')).href}`
  const args = [
    profile,
    '--headless',
    '--convert-to',
    ALL_SHEETS,
    '--outdir',
    folder,
    join(folder, 'report.xlsx'),
  ]
  execFileSync(soffice ?? '', args, { stdio: 'ignore' })
  return workbook.map(({ name }) => {
    const text = readFileSync(join(folder, `report-${name}.csv`), 'utf8')
    return Papa.parse<string[]>(text, { delimiter: ',', skipEmptyLines: false }).data
  })
}

test.skipIf(soffice === null)(
  'LibreOffice opens each sheet of a workbook, with all texts unchanged and figures as numbers',
  async () => {
    onlyInLongForm()
    const columns = AWKWARD.map((_, index) => `column ${index}`)
    const results = [
      buildResult({ cells: AWKWARD }),
      buildResult({ row: 2, cells: AWKWARD.toReversed(), message: '=HYPERLINK("x")' }),
    ]
    const options = buildOptions(columns)
    const figures = { name: 'Figures', columns: 3, rows: [[{ cells: ['rows', 5_572, 0.0625] }]] }
    const [rows = [], shown = []] = await openSheets([toResultsSheet(options, [results]), figures])
    expect(rows[0]).toEqual(toTableNames(options))
    for (const [index, result] of results.entries()) {
      expect(rows[index + 1]).toEqual(readTableCells(options, result).map(String))
    }
    expect(shown[0]).toEqual(['rows', '5572', '0.0625'])
  },
)
