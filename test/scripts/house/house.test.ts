import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'
import { describe, expect, it } from 'vitest'
import {
  countNodeCalls,
  countPageCalls,
  findFilesThatGrow,
  findFilesThatRan,
} from '../../../scripts/house/call-counts.ts'
import { countHandMade } from '../../../scripts/house/hand-made.ts'
import { findSingleImporters, measureScreens, readImportGraph } from '../../../scripts/house/import-graph.ts'
import { measureSizes, readSourceFiles } from '../../../scripts/house/source-files.ts'
import { findTypicalChanges } from '../../../scripts/house/typical-changes.ts'
import { toStretches } from '../../../scripts/house/way-of-a-cell.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'

const toFile = (path: string, text: string) => ({ path, text })

const toScript = (url: string, calls: Record<number, number>) => ({
  url,
  functions: Object.entries(calls).map(([startOffset, count]) => ({
    functionName: 'read',
    ranges: [{ startOffset: Number(startOffset), count }],
  })),
})

describe('the sizes of a checkout', () => {
  it('count its code by kind and leave out everything else', () => {
    const folder = createTemporaryFolder()
    mkdirSync(join(folder, 'src/room'), { recursive: true })
    for (const lines of [1, 2, 3, 4, 5, 6, 7, 8, 9, 100]) {
      writeFileSync(join(folder, `src/room/of-${lines}.ts`), 'x\n'.repeat(lines))
    }
    writeFileSync(join(folder, 'src/room/page.tsx'), 'x\ny')
    writeFileSync(join(folder, 'src/sample.csv'), 'x\n'.repeat(50))
    const files = readSourceFiles(folder)
    expect(files.map(({ path }) => path)).toContain('src/room/page.tsx')
    expect(measureSizes(files)).toEqual([
      { kind: 'all', files: 11, lines: 147, median: 5, p90: 9 },
      { kind: 'ts', files: 10, lines: 145, median: 5, p90: 9 },
      { kind: 'tsx', files: 1, lines: 2, median: 2, p90: 2 },
      { kind: 'css', files: 0, lines: 0, median: 0, p90: 0 },
    ])
  })
})

describe('a typical change', () => {
  it('touches the files that name an existing one, however they spell it', () => {
    const changes = findTypicalChanges([
      toFile('src/a.ts', "const kind = 'index-remove'"),
      toFile('src/b.ts', 'judgeIndexRemove(answer)'),
      toFile('src/c.ts', 'INDEX_REMOVE_FIELDS'),
      toFile('src/d.ts', "const kind = 'index-add'"),
      toFile('src/e.ts', '/** Not of index-remove. */\n// Nor here: index-remove.\nexport const url = 1'),
    ])
    const { files } = changes.find(({ example }) => example === 'index-remove') ?? {}
    expect(files).toEqual(['src/a.ts', 'src/b.ts', 'src/c.ts'])
  })
})

describe('the imports of a checkout', () => {
  const files = [
    toFile(
      'src/renderer/features/a/a-screen.tsx',
      "import { part } from './part.ts'\nimport { ui } from '../../ui/ui.ts'\n",
    ),
    toFile(
      'src/renderer/features/a/part.ts',
      "import type { Shape } from '../../ui/shape.ts'\nimport 'react'\n",
    ),
    toFile('src/renderer/features/b/b-screen.tsx', "import { ui } from '../../ui/ui.ts'\n"),
    toFile('src/renderer/ui/ui.ts', 'export const ui = 1\n'),
    toFile('src/renderer/ui/shape.ts', 'export interface Shape {}\n'),
    toFile('src/renderer/ui/ui.css', '.a {\n}\n'),
  ]
  const graph = readImportGraph(files)

  it('show the files that exactly one other file imports, including by type', () => {
    expect(findSingleImporters(graph)).toEqual([
      'src/renderer/features/a/part.ts',
      'src/renderer/ui/shape.ts',
    ])
  })

  it('show the files that a screen loads at run time, the largest screen first', () => {
    expect(measureScreens(graph, files)).toEqual([
      { path: 'src/renderer/features/a/a-screen.tsx', files: 3, lines: 5 },
      { path: 'src/renderer/features/b/b-screen.tsx', files: 2, lines: 2 },
    ])
  })
})

describe('what is made by hand', () => {
  it('is tables, drawings and style rules of the window', () => {
    const sheet = '.row {\n  gap: 1px;\n}\n@media (width < 9px) {\n  .row:hover, .cell {\n  }\n}\nbody {\n}\n'
    const made = countHandMade([
      toFile('src/renderer/a.tsx', '<table><tr/></table><table className="b"></table><svg/><svg/>'),
      toFile('src/renderer/b.tsx', '<svg viewBox="0"></svg>'),
      toFile('src/renderer/a.module.css', sheet),
      toFile('src/main/report.ts', '<table>'),
    ])
    expect(made).toEqual({ tables: { count: 2, files: 1 }, charts: 2, styleRules: 2 })
  })
})

describe('the way of a cell', () => {
  it('leads through files with a function that is called more often for more rows', () => {
    const count = (perRow: number, once: number) =>
      countNodeCalls([
        [toScript('file:///checkout/src/reader.ts', { 0: 1, 40: perRow, 90: once })],
        [toScript('file:///checkout/src/flags.ts', { 0: 1, 40: once })],
      ])
    expect(findFilesThatGrow(count(2_000, 1), count(4_000, 1), 20)).toEqual(new Set(['src/reader.ts']))
    expect(findFilesThatGrow(count(2_000, 1), count(2_019, 1), 20)).toEqual(new Set())
    expect(findFilesThatRan(count(0, 1))).toEqual(new Set(['src/reader.ts', 'src/flags.ts']))
  })

  it('adds up the calls of all threads, without modules that only load, packages and Node', () => {
    const thread = [
      toScript('file:///checkout/src/reader.ts', { 40: 10 }),
      toScript('file:///checkout/src/schema.ts', { 0: 10 }),
      toScript('file:///checkout/node_modules/some/src/index.js', { 40: 10 }),
      toScript('node:internal/src/streams', { 40: 10 }),
    ]
    expect([...countNodeCalls([thread, thread])]).toEqual([['src/reader.ts\0read@40', 20]])
  })

  it('maps calls in the page back to the files that the bundle was built from', async () => {
    const folder = createTemporaryFolder()
    mkdirSync(join(folder, 'src'))
    writeFileSync(join(folder, 'src/cell.ts'), 'export function drawCell() {\n  document.title += "x"\n}\n')
    writeFileSync(
      join(folder, 'src/main.ts'),
      'import { drawCell } from "./cell.ts"\nwindow.onload = function start() { drawCell(); drawCell() }\n',
    )
    await build({
      root: folder,
      configFile: false,
      logLevel: 'silent',
      build: {
        sourcemap: true,
        minify: false,
        write: true,
        outDir: 'out',
        rolldownOptions: { input: join(folder, 'src/main.ts'), output: { entryFileNames: 'main.js' } },
      },
    })
    const text = readFileSync(join(folder, 'out/main.js'), 'utf8')
    const map = JSON.parse(readFileSync(join(folder, 'out/main.js.map'), 'utf8'))
    const places = { [text.indexOf('function drawCell')]: 7, [text.indexOf('function start')]: 1 }
    const counts = countPageCalls([toScript('http://127.0.0.1/main.js', { 0: 1, ...places })], (url) =>
      url.endsWith('main.js') ? { text, map } : null,
    )
    expect([...counts].map(([key, calls]) => [key.split('\0')[0], calls])).toEqual([
      ['src/cell.ts', 7],
      ['src/main.ts', 1],
    ])
  })

  it('lists the stages in order, for this layout and the previous one', () => {
    const files = [
      'src/renderer/ui/grid/data-grid.tsx',
      'src/main/engine/service/http1-client.ts',
      'src/main/engine/intake/text-reader.ts',
      'src/main/engine/source/csv/delimited-source.ts',
      'src/main/engine/run/results/result-page.ts',
      'src/main/engine/run/journal.ts',
    ]
    expect(toStretches(files).map(({ stage, files: members }) => [stage, members.length])).toEqual([
      ['source', 2],
      ['run', 1],
      ['service', 1],
      ['queries', 1],
      ['screen', 1],
    ])
  })
})
