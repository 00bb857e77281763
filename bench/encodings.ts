import { type Detection, measureDetection } from '../test/helpers/encodings/measure-detection.ts'
import { printTable, toText } from './lib/figures.ts'

const ROWS = [1, 4, 40]

/** Most tables of different sentences for each encoding and language. */
const OTHER_TABLES = 40

/**
 * How encodings are recognised in tables of real sentences, by number of rows: right, asked, wrong although
 * reported as a guess, and wrong silently. Lists the wrong ones. SLUICE_SENTENCES=FOLDER uses other sentences
 * than those with which the weights were set: `de.txt`, `fr.txt` and so on, one per line.
 */
export async function runEncodingsBench(): Promise<void> {
  const lines = [
    ['rows', 'tables', 'right', 'asked', 'right first', 'right among', 'wrong, told', 'wrong, silent'],
  ]
  const wrong: string[] = []
  const folder = process.env['SLUICE_SENTENCES']
  const tables = folder === undefined ? Infinity : OTHER_TABLES
  for (const rows of ROWS) {
    const started = performance.now()
    const { counts, askedFirst, askedAmong, missed } = await measureDetection(rows, tables, folder)
    const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
    const share = (count: number) => `${toText((100 * count) / total, 1)} %`
    const of = (detection: Detection) => share(counts[detection])
    lines.push([
      String(rows),
      toText(total),
      of('right'),
      of('asked'),
      share(askedFirst),
      share(askedAmong),
      of('wrong'),
      of('silent'),
    ])
    for (const { detection, encoding, language, guess } of missed) {
      if (detection !== 'asked')
        wrong.push(`${rows} rows, ${detection}: ${language} in ${encoding} as ${guess}`)
    }
    console.log(`${rows} rows: ${toText((performance.now() - started) / total, 1)} ms a table`)
  }
  printTable(lines)
  for (const line of wrong) console.log(line)
}
