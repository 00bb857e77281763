import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, inject, it, onTestFinished } from 'vitest'
import { fillWorkspace, measureRuns } from '../../bench/ui.ts'
import { openWebShell } from '../../src/main/web/web-shell.ts'
import { openBrowser } from '../helpers/e2e/open-app.ts'

const ROWS = inject('isLong') ? 2_000 : 300

it(`measures every screen of a run of ${ROWS} rows with the window's bench`, {
  skip: !inject('walksAll'),
}, async () => {
  const workspace = mkdtempSync(join(tmpdir(), 'sluice-window-bench-'))
  onTestFinished(() => rmSync(workspace, { recursive: true, force: true, maxRetries: 5 }))
  const runs = await fillWorkspace(workspace, ROWS)
  const serve = async () => {
    const shell = await openWebShell({
      lastingKeys: { absence: 'measured without a keyring' },
      workspace,
      rendererFolder: inject('rendererFolder'),
      openCommand: 'sluice open',
      port: 0,
      showConsent: () => Promise.reject(new Error('nothing is sent')),
    })
    return {
      url: shell.createEntryUrl(),
      readCosts: async () => ({ cpuMs: process.cpuUsage().user / 1000, rssBytes: process.memoryUsage.rss() }),
      close: () => shell.close(),
    }
  }
  const figures = await measureRuns(await openBrowser(), serve, runs, { scrollS: 0.5, screens: 5 })
  const valueByName = new Map(figures.map(({ name, value }) => [name, value]))
  for (const name of [
    'results, first page',
    'results, facets',
    'jump to the last row',
    'jump to the middle',
    'search, all counted',
    'rows of a rule and a score',
    'slowest first',
    'evaluate, figures',
    'evaluate, figures, never looked at',
    'compare, figures',
    'scrolling, p50 of a frame',
    'scrolling, p99 of a frame',
    'scrolling, frames',
    'heap of the page',
    'memory of the server',
  ]) {
    expect(valueByName.get(name), name).toBeGreaterThan(0)
  }
})
