// npm run house [-- --at FOLDER] [--json]: how large this checkout's code is, or another's, which files a cell passes on
// its way from disk to wire to screen, and which files typical changes touch. docs/architecture.md keeps the figures.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { measureSizes, readSourceFiles } from './source-files.ts'
import { findTypicalChanges } from './typical-changes.ts'
import { measureWay, type Stretch } from './way-of-a-cell.ts'

const { values } = parseArgs({
  options: {
    at: { type: 'string', default: resolve(import.meta.dirname, '../..') },
    json: { type: 'boolean' },
  },
})
const checkout = resolve(values.at)
const files = readSourceFiles(checkout)
const sizes = measureSizes(files)
const changes = findTypicalChanges(files)
const way = await measureWay(checkout)

const print = (text = '') => process.stdout.write(`${text}\n`)
const printStretches = (stretches: readonly Stretch[]) => {
  for (const { stage, files: members } of stretches) {
    print(`  ${stage} (${members.length})`)
    for (const path of members) print(`    ${path.replace(/^src\//, '')}`)
  }
}

if (values.json) print(JSON.stringify({ checkout, sizes, way, changes }, null, 2))
else {
  print('src             files   lines  median     p90')
  for (const { kind, files: count, lines, median, p90 } of sizes) {
    print(kind.padEnd(13) + [count, lines, median, p90].map((figure) => String(figure).padStart(8)).join(''))
  }
  print(`\nThe way of a cell: ${way.files} files`)
  printStretches(way.stretches)
  print(
    `\nRun once in the run's thread: ${way.preparing.reduce((sum, one) => sum + one.files.length, 0)} files`,
  )
  printStretches(way.preparing)
  print('\nFiles that a change touches')
  for (const { change, example, files: members } of changes) {
    print(`  ${change} (as ${example} is named): ${members.length}`)
  }
}
