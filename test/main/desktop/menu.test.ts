import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { APP_VERSION, WHERE_COMMAND_LINE_IS } from '../../../src/shared/version.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { waitFor } from '../../helpers/wait-for.ts'
import { electron, openPage, settle, standInForElectron, start } from './start-shell.ts'

standInForElectron()

describe('the menu', () => {
  it('has the roles of each system and an entry for diagnostics', async () => {
    await start()
    const text = JSON.stringify(electron.Menu.installed)
    for (const role of ['editMenu', 'windowMenu', 'help', 'togglefullscreen'])
      expect(text).toContain(`"${role}"`)
    expect(electron.app.about).toMatchObject({ applicationName: 'Sluice' })
    const { createMenuTemplate } = await import('../../../src/main/desktop/menu.ts')
    const actions = {
      openFile: () => {},
      openFolder: () => {},
      collectDiagnostics: () => {},
      recent: [],
      openRecent: () => {},
      clearRecent: () => {},
      releasesUrl: null,
      updates: null,
    }
    const mac = JSON.stringify(createMenuTemplate({ platform: 'darwin', development: false, ...actions }))
    for (const role of ['appMenu', 'close', 'recentDocuments', 'clearRecentDocuments']) {
      expect(mac).toContain(`"${role}"`)
    }
    const windows = JSON.stringify(createMenuTemplate({ platform: 'win32', development: false, ...actions }))
    expect(windows).toMatch(/"quit".*"about"/)
    expect(windows).not.toContain('appMenu')
  })
})

describe.runIf(process.platform !== 'darwin')('the list of recent sources', () => {
  it('offers recently opened sources, the newest first, even after a restart, and can be cleared', async () => {
    const folder = createTemporaryFolder()
    const [first, second] = [join(folder, 'a & b.csv'), join(folder, 'media')]
    writeFileSync(first, 'a\n')
    mkdirSync(second)
    const { home } = await start()
    const page = await openPage()
    const labels = () => electron.Menu.list('Open Recent').map(({ label }) => label)
    expect(labels()).toEqual(['Nothing opened yet', undefined, 'Clear List'])
    for (const path of [first, second, first]) {
      electron.app.emit('second-instance', {}, ['/app/sluice', path], '/')
      await waitFor(async () => expect(await page.take()).not.toBeNull())
    }
    const sources = [`a && b.csv (${folder})`, `media (${folder})`]
    await waitFor(() => expect(labels()).toEqual([...sources, undefined, 'Clear List']))

    await start({ home })
    await waitFor(() => expect(labels()).toEqual([...sources, undefined, 'Clear List']))
    electron.Menu.click(`media (${folder})`)
    await waitFor(async () =>
      expect(await page.take()).toMatchObject({ source: { sourceId: `handle of ${second}` } }),
    )
    electron.Menu.click('Clear List')
    await waitFor(() => expect(labels()).toEqual(['Nothing opened yet', undefined, 'Clear List']))
  })

  it('checks files in the background, since a missing share takes long to answer', async () => {
    const file = join(createTemporaryFolder(), 'recent.json')
    writeFileSync(file, JSON.stringify([file]))
    const { createRecentSources } = await import('../../../src/main/desktop/recent-sources.ts')
    const changes: string[] = []
    const recent = createRecentSources(file, () => changes.push('changed'))
    recent.look()
    expect(recent.known).toEqual([])
    await waitFor(() => expect(recent.known).toEqual([{ path: file, isThere: true }]))
    expect(changes).toEqual(['changed'])
  })

  it('greys out missing files when the person comes back, and offers them again when they reappear', async () => {
    const file = join(createTemporaryFolder(), 'rows.csv')
    writeFileSync(file, 'a\n')
    await start({ args: [file] })
    await waitFor(() => expect(electron.app.recent).toEqual([file]))
    rmSync(file)
    electron.app.emit('browser-window-focus')
    const newest = () => electron.Menu.list('Open Recent')[0]
    await waitFor(() => expect(newest()).toMatchObject({ label: 'rows.csv (missing)', enabled: false }))
    writeFileSync(file, 'a\n')
    electron.app.emit('browser-window-focus')
    await waitFor(() => expect(newest()).toMatchObject({ enabled: true }))
  })
})

describe('the command line', () => {
  it('is not in the app: menu and About say where to get it, copy the command and open the releases', async () => {
    await start()
    const ask = async (pressed: number) => {
      electron.dialog.pressed = pressed
      electron.Menu.click('Install the Command Line…')
      await settle()
    }
    await ask(0)
    expect(electron.dialog.messages).toMatchObject([
      {
        message: 'The command line is installed separately',
        detail: WHERE_COMMAND_LINE_IS,
        buttons: ['Close', 'Copy Command', 'Open Releases'],
      },
    ])
    expect([electron.clipboard.text, ...electron.shell.opened]).toEqual([''])
    await ask(1)
    expect(electron.clipboard.text).toBe(`npm install -g sluice-${APP_VERSION}.tgz`)
    await ask(2)
    expect(electron.shell.opened).toEqual(['https://example.com/releases'])

    const { installAbout } = await import('../../../src/main/desktop/menu.ts')
    for (const platform of ['darwin', 'win32', 'linux'] as const) {
      installAbout(platform)
      // The panel on Linux shows no credits; those on other systems do.
      expect(electron.app.about[platform === 'linux' ? 'copyright' : 'credits']).toContain(
        WHERE_COMMAND_LINE_IS,
      )
    }
  })
})
