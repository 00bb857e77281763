import { openWebShell } from '../../src/main/web/web-shell.ts'
import type { WindowCosts } from '../lib/window-server.ts'

// The browser shell over a workspace, until the process that started it disconnects. It answers any message
// with its costs so far.
const { workspace, rendererFolder } = JSON.parse(process.argv[2] ?? '') as {
  workspace: string
  rendererFolder: string
}
const shell = await openWebShell({
  lastingKeys: { absence: 'measured without a keyring' },
  workspace,
  rendererFolder,
  openCommand: 'npm run bench',
  port: 0,
  showConsent: () => Promise.reject(new Error('the bench sends nothing to a production service')),
})
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.({
    cpuMs: (user + system) / 1000,
    rssBytes: process.memoryUsage.rss(),
  } satisfies WindowCosts)
})
process.on('disconnect', () => {
  shell.close().finally(() => process.exit())
})
process.send?.({ url: shell.createEntryUrl() })
