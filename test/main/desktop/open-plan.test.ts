import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { DESKTOP_API_NAME } from '../../../src/shared/bridge/desktop-api.ts'
import { createTemporaryFolder } from '../../helpers/temporary-folder.ts'
import { waitFor } from '../../helpers/wait-for.ts'
import { electron, openPage, settle, standInForElectron, start } from './start-shell.ts'

standInForElectron()

function writePlan(name = 'posts.sluiceplan'): string {
  const file = join(createTemporaryFolder(), name)
  writeFileSync(file, '{}')
  return file
}

const QUESTION = { source: '/home/somebody/.ssh/id_rsa', sent: 'the API key in OTHER to https://example.com' }

it('can be given at the start, by macOS before the app is ready, or by a second start', async () => {
  const [first, second, third] = [writePlan(), writePlan('posts.plan.json'), writePlan()]
  await start({ args: [first] })
  const page = await openPage()
  await waitFor(async () => expect(await page.take()).toEqual({ kind: 'plan', planId: `handle of ${first}` }))
  electron.app.emit('second-instance', {}, ['/app/sluice', second], '/')
  await waitFor(async () =>
    expect(await page.take()).toEqual({ kind: 'plan', planId: `handle of ${second}` }),
  )

  const ready = Promise.withResolvers<undefined>()
  electron.app.whenReady = () => ready.promise
  const starting = start()
  await waitFor(() => expect(electron.app.listenerCount('open-file')).toBe(2))
  electron.app.emit('open-file', { preventDefault: () => {} }, third)
  ready.resolve(undefined)
  await starting
  await waitFor(async () => expect(await page.take()).toEqual({ kind: 'plan', planId: `handle of ${third}` }))
})

it('is opened when dropped or chosen, and is not a source', async () => {
  const file = writePlan()
  await start()
  const page = await openPage()
  const api = electron.contextBridge.exposed.get(DESKTOP_API_NAME) ?? {}
  const dropped = new File(['{}'], 'posts.sluiceplan')
  electron.filesOnDisk.set(dropped, file)
  expect(await api['takeFile']?.(dropped)).toBeNull()
  expect(await page.take()).toMatchObject({ kind: 'plan' })
  electron.dialog.answer = { canceled: false, filePaths: [file], filePath: '' }
  expect(await api['chooseSource']?.()).toBeNull()
  expect(await page.take()).toMatchObject({ kind: 'plan' })
  expect(JSON.stringify(electron.dialog.shown[0]?.options)).toContain('sluiceplan')
  expect(page.countAnnounced()).toBe(2)
  electron.dialog.answer = { canceled: false, filePaths: [file, '/data/rows.csv'], filePath: '' }
  expect(await api['chooseSource']?.()).toBeNull()
  expect(await page.take()).toBeNull()
  expect(electron.dialog.messages.at(-1)?.['message']).toContain('together with other files')
})

it('is not a folder with the name of a plan', async () => {
  const folder = join(createTemporaryFolder(), 'media.sluiceplan')
  mkdirSync(folder)
  await start({ args: [folder] })
  const page = await openPage()
  await waitFor(async () => expect(await page.take()).toMatchObject({ kind: 'source' }))
})

it('only reaches the page if a person agrees to its destination in a dialog that no page can answer', async () => {
  const file = writePlan()
  const { window } = await start({ question: QUESTION })
  const page = await openPage()
  const open = async (pressed: number) => {
    electron.dialog.pressed = pressed
    electron.app.emit('second-instance', {}, ['/app/sluice', file], '/')
    await waitFor(() => expect(electron.dialog.messages.length).toBe(pressed + 1))
    await settle()
    return page.take()
  }
  expect(await open(0)).toBeNull()
  expect(electron.dialog.messages[0]).toMatchObject({
    message: 'Open the plan posts.sluiceplan?',
    buttons: ['Cancel', 'Open'],
    defaultId: 0,
    cancelId: 0,
  })
  for (const part of Object.values(QUESTION)) expect(electron.dialog.messages[0]?.['detail']).toContain(part)
  expect(await open(1)).toEqual({ kind: 'plan', planId: `handle of ${file}` })
  expect(window.calls).toContain('show')
})
