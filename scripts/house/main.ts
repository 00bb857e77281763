// npm run house [-- --at FOLDER] [--json] [--still]: measures this checkout or another one: the size of the
// code, the files that typical changes touch, the files that each screen loads, hand-made elements, and the
// files a cell passes from disk to wire to screen (skipped with --still, which runs nothing).
// docs/architecture.md keeps the figures.
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { countHandMade } from './hand-made.ts'
import { findSingleImporters, measureScreens, readImportGraph } from './import-graph.ts'
import { measureSizes, readSourceFiles } from './source-files.ts'
import { findTypicalChanges } from './typical-changes.ts'
import { measureWay, type Stretch, type Way } from './way-of-a-cell.ts'

const { values } = parseArgs({
  options: {
    at: { type: 'string', default: resolve(import.meta.dirname, '../..') },
    json: { type: 'boolean' },
    still: { type: 'boolean' },
  },
})
const checkout = resolve(values.at)
const files = readSourceFiles(checkout)
const sizes = measureSizes(files)
const changes = findTypicalChanges(files)
const graph = readImportGraph(files)
const single = findSingleImporters(graph)
const screens = measureScreens(graph, files)
const handMade = countHandMade(files)
const way = values.still ? null : await measureWay(checkout)

const print = (text = '') => process.stdout.write(`${text}\n`)
const printStretches = (stretches: readonly Stretch[]) => {
  for (const { stage, files: members } of stretches) {
    print(`  ${stage} (${members.length})`)
    for (const path of members) print(`    ${path.replace(/^src\//, '')}`)
  }
}

if (values.json) print(JSON.stringify({ checkout, sizes, changes, single, screens, handMade, way }, null, 2))
else {
  print('src             files   lines  median     p90')
  for (const { kind, files: count, lines, median, p90 } of sizes) {
    print(kind.padEnd(13) + [count, lines, median, p90].map((figure) => String(figure).padStart(8)).join(''))
  }
  print('\nFiles that a change touches')
  for (const { change, example, files: members } of changes) {
    print(`  ${change} (as ${example} is named): ${members.length}`)
  }
  print(`\nFiles that one other file imports: ${single.length}`)
  print('\nWhat a screen brings with it')
  for (const { path, files: members, lines } of screens) {
    print(`  ${path.replace(/^src\/renderer\//, '')}: ${members} files, ${lines} lines`)
  }
  const { tables, charts, styleRules } = handMade
  print(
    `\nMade by hand: ${tables.count} tables in ${tables.files} files, charts in ${charts} files, ${styleRules} style rules`,
  )
  if (way !== null) printWay(way)
}

function printWay({ files: passed, stretches, preparing }: Way): void {
  print(`\nThe way of a cell: ${passed} files`)
  printStretches(stretches)
  print(`\nRun once in the run's thread: ${preparing.reduce((sum, one) => sum + one.files.length, 0)} files`)
  printStretches(preparing)
}
