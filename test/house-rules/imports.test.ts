import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { checkImport, findCycles, findLayer, hasOwner } from './import-rules.ts'
import { PROJECT_FOLDER, parseModule, readModules } from './read-module.ts'

const modules = readModules('src')

describe('imports', () => {
  it('go only in the directions the architecture allows', () => {
    const problems = modules.flatMap(({ path, imports }) => imports.map((one) => checkImport(path, one)))
    expect(problems.filter((problem) => problem !== null)).toEqual([])
  })

  it('never form a circle, not even by types', () => {
    expect(findCycles(modules)).toEqual([])
  })

  it('of packages have an owner', () => {
    const { dependencies } = JSON.parse(readFileSync(join(PROJECT_FOLDER, 'package.json'), 'utf8'))
    expect(Object.keys(dependencies).filter((name) => name !== 'zod' && !hasOwner(name))).toEqual([])
  })

  it('are checked in every file of src, each in a known part', () => {
    expect(modules.length).toBeGreaterThan(10)
    expect(modules.filter(({ path }) => findLayer(path) === null)).toEqual([])
  })
})

describe('the import rules', () => {
  it.each([
    ['src/shared/plan/plan.ts', '../../main/engine/engine.ts', 'nothing of ours outside itself'],
    ['src/shared/plan/plan.ts', 'node:fs', 'no Node module'],
    ['src/renderer/app.tsx', 'node:path', 'no Node module'],
    ['src/renderer/app.tsx', '../main/engine/engine-interface.ts', 'renderer may import shared'],
    [
      'src/renderer/features/runs/runs-screen.tsx',
      '../results/results-screen.tsx',
      'never import each other',
    ],
    ['src/renderer/ui/button.tsx', '../features/runs/runs-screen.tsx', 'ui may import shared'],
    ['src/main/engine/source/csv-reader.ts', '../mapping/map-row.ts', 'source may import shared'],
    [
      'src/main/engine/journal/journal.ts',
      '../sending/retry.ts',
      'journal may import shared, worker rpc, own process, engine-interface, workspace',
    ],
    ['src/main/engine/service/client.ts', '../engine.ts', 'service may import'],
    ['src/main/engine/load/page.ts', '../run/write-csv.ts', 'load may import'],
    ['src/main/bridge/router.ts', '../engine/journal/journal.ts', 'bridge may import'],
    [
      'src/main/desktop/main.ts',
      '../engine/engine.ts',
      'desktop may import shared, own process, secrets, workspace, shell parts, bridge',
    ],
    ['src/main/cli/main.ts', '../desktop/window.ts', 'cli may import'],
    ['src/main/web/server.ts', 'electron', 'only desktop may import electron'],
    ['src/main/web/server.ts', 'electron/main', 'only desktop may import electron/main'],
    ['src/main/engine/sending/lane.ts', 'undici', 'only service may import undici'],
    ['src/main/engine/service/client.ts', 'p-queue', 'only sending may import p-queue'],
    ['src/main/cli/export.ts', 'papaparse', 'only source may import papaparse'],
    ['src/main/engine/query/page.ts', 'node:sqlite', 'only what reads and writes databases'],
    ['src/main/extra/thing.ts', './other.ts', 'no known part of src'],
    ['src/main/cli/main.ts', '../../../test/helpers/fixture.ts', 'outside src'],
  ])('refuse that %s imports %s, and say what is allowed', (path, specifier, allowed) => {
    expect(checkImport(path, { specifier, line: 3 })).toContain(allowed)
  })

  it.each([
    ['src/shared/run/results.ts', './problem.ts'],
    ['src/main/engine/session/run-worker.ts', '../source/csv-reader.ts'],
    ['src/main/engine/query/query-worker.ts', '../run/write-csv.ts'],
    ['src/main/engine/engine.ts', './run/csv-report.ts'],
    ['src/main/engine/service/client.ts', 'undici'],
    ['src/main/sandbox/store/open-store.ts', 'node:sqlite'],
    ['src/main/bridge/router.ts', '../engine/engine.ts'],
    ['src/renderer/features/runs/runs-screen.tsx', '../../ui/button.tsx'],
    ['src/renderer/features/runs/runs-screen.tsx', './run-row.tsx'],
  ])('allow %s to import %s', (path, specifier) => {
    expect(checkImport(path, { specifier, line: 1 })).toBeNull()
  })

  it('find imports in any syntax', () => {
    const { imports } = parseModule(
      'src/example.ts',
      `import a from 'static'
import type { B } from 'type-only'
import { type C } from 'inline-type'
import 'bare'
export * from 're-exported'
export { d } from 'named-re-export'
export type E = import('import-type').E
export const f = () => import('dynamic')
export const g = require('required')
`,
    )
    expect(imports.map(({ specifier, typeOnly }) => [specifier, typeOnly])).toEqual([
      ['static', false],
      ['type-only', true],
      ['inline-type', true],
      ['bare', false],
      ['re-exported', false],
      ['named-re-export', false],
      ['import-type', true],
      ['dynamic', false],
      ['required', false],
    ])
  })

  it('find a circle of imports, even if one link is a type', () => {
    const first = parseModule('src/a.ts', "import { b } from './b.ts'\nb()")
    const back = parseModule('src/b.ts', "import { a } from './a.ts'\na()")
    const typed = parseModule('src/b.ts', "import type { A } from './a.ts'\nlet a: A")
    expect(findCycles([first, back])).toEqual(['src/a.ts → src/b.ts → src/a.ts'])
    expect(findCycles([first, typed])).toEqual(['src/a.ts → src/b.ts → src/a.ts'])
    const apart = parseModule('src/b.ts', "import { c } from './c.ts'\nc()")
    expect(findCycles([first, apart])).toEqual([])
  })
})
