import { expect, inject, it, onTestFinished, vi } from 'vitest'
import {
  addConnection,
  changeConnections,
  readConnections,
  removeUnlessChanged,
} from '../../src/main/engine/workspace/connections.ts'
import { WORKER_URLS } from '../../src/main/program-files.ts'
import { startSandboxThread } from '../../src/main/sandbox/start-sandbox-thread.ts'
import { storedConnectionSchema } from '../../src/shared/plan/stored-connection.ts'
import { holdCalls } from '../helpers/e2e/held-messages.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import { chooseFile, openStep, seeScreen } from '../helpers/e2e/walk.ts'

const KEY = 'a-key-that-is-tested-first-8a1f'

const STAGING = storedConnectionSchema.parse({
  name: 'staging',
  baseUrl: 'http://127.0.0.1:1',
  keys: [{ label: 'main', env: 'UNUSED_KEY' }],
  activeKey: 'main',
})

it('points to missing settings, tests what is typed, and takes a name with spaces, all in view in a small window', {
  skip: !inject('walksAll'),
}, async () => {
  const service = await startSandboxThread(WORKER_URLS.sandbox, { apiKeys: [KEY] })
  onTestFinished(() => service.close())
  const { page, workspace, inspect } = await openApp({ width: 900, height: 600 })
  await page.getByRole('link', { name: 'Connections' }).click()
  await seeScreen(page, 'Connections')
  await page.getByRole('button', { name: 'Add a connection' }).click()
  const form = page.getByRole('dialog', { name: 'Add a connection' })
  const save = form.getByRole('button', { name: 'Save' })
  const focused = page.locator(':focus')
  const isInView = async (text: string) => {
    const box = await form.getByText(text).boundingBox()
    const foot = await form.getByRole('button', { name: 'Test' }).boundingBox()
    return box !== null && foot !== null && box.y > 0 && box.y + box.height < foot.y
  }
  // The production mark must not be hidden below the buttons.
  expect(await isInView('Sluice asks you to confirm before anything is sent there.')).toBe(true)
  await inspect('connection-form')

  await save.click()
  await form.getByText('The name must not be empty.').waitFor()
  expect(await focused.getAttribute('aria-invalid')).toBe('true')
  await inspect('connection-form-missing')
  await page.keyboard.type('Ana’s  Staging (EU)')
  await form.getByRole('button', { name: 'More settings' }).click()
  await form.getByLabel('Second host for v2 (optional)').fill('nonsense')
  await form.getByRole('button', { name: 'More settings' }).click()
  await form.getByLabel('Base URL').fill(service.baseUrl)
  await save.click()
  await expect.poll(() => focused.inputValue()).toBe('nonsense')
  expect(await isInView('Second host for v2 (optional)')).toBe(true)
  await focused.fill('')
  await form.getByLabel('Timeout (s)').pressSequentially('2.5')
  expect(await form.getByLabel('Timeout (s)').inputValue()).toBe('2.5')
  await form.getByRole('button', { name: 'More settings' }).waitFor()
  expect((await form.getByRole('button', { name: 'More settings' }).boundingBox())?.height).toBeGreaterThan(
    15,
  )

  await form.getByRole('button', { name: 'Test' }).click()
  await form.getByText('No key yet.').waitFor()
  await form.getByLabel('API key (optional)').fill('not-the-right-one')
  await form.getByRole('button', { name: 'Test' }).click()
  await form.getByText('The service refuses the key').waitFor()
  await inspect('connection-form-refused')
  await form.getByLabel('API key (optional)').fill(KEY)
  await form.getByRole('button', { name: 'Test' }).click()
  await form.getByText('The service accepts the key').waitFor()
  expect(readConnections(workspace).connections).toEqual([])
  await page.keyboard.press('Tab')
  await save.press('Enter')
  await form.waitFor({ state: 'detached' })
  await page.getByRole('region', { name: 'Ana’s Staging (EU)' }).getByText('in use').waitFor()
  await page.getByText("sluice connection set 'Ana’s Staging (EU)' --ca FILE").waitFor()
  expect(await page.content()).not.toContain(KEY)

  // A taken name is reported beside the buttons, whatever the scroll position.
  await page.getByRole('button', { name: 'Add a connection' }).click()
  await form.getByLabel('Name').fill('Ana’s Staging (EU)')
  await form.getByLabel('Base URL').fill(service.baseUrl)
  await save.click()
  await form.getByText('already exists').waitFor()
})

it('sends where Operation said when the person continued, even if the connection in use is read later', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace } = await openApp()
  changeConnections(workspace, (known) => addConnection(known, STAGING))
  const calls = await holdCalls(page, '/connections/list')
  calls.hold()
  await page.reload()
  await calls.arrived()
  await page.getByRole('link', { name: 'New run' }).click()
  await page.getByRole('radio', { name: 'The sandbox', checked: true }).waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await seeScreen(page, 'Source')
  calls.release()
  await openStep(page, 'Operation')
  await page.getByRole('radio', { name: 'staging' }).waitFor()
  await page.getByRole('radio', { name: 'The sandbox', checked: true }).waitFor()
})

it('sends nothing to the previous place if rows cannot be checked for the one chosen on Review', {
  skip: !inject('walksAll'),
}, async () => {
  vi.stubEnv('UNUSED_KEY', 'a-key-that-is-never-sent')
  onTestFinished(() => void vi.unstubAllEnvs())
  const { page, workspace } = await openApp()
  changeConnections(workspace, (known) => addConnection(known, STAGING))
  await page.reload()
  await openStep(page, 'Operation')
  await page.getByRole('radio', { name: 'staging' }).waitFor()
  await page.getByRole('radio', { name: 'The sandbox' }).check()
  await chooseFile(page, { name: 'posts.csv', text: 'text_data,user_id,post_id\nOne.,u1,p1\nTwo.,u2,p2\n' })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Review 2 rows' }).click()
  const send = page.getByRole('button', { name: 'Send 2 rows' })
  await expect.poll(() => send.isEnabled()).toBe(true)
  changeConnections(workspace, (known) => removeUnlessChanged(known, STAGING))
  await page.getByRole('radio', { name: 'staging' }).check()
  await page.getByRole('alert').filter({ hasText: 'staging' }).waitFor()
  await expect.poll(() => send.isDisabled()).toBe(true)
  await page.getByRole('link', { name: 'Check' }).click()
  await page.getByRole('button', { name: 'Review 2 rows' }).click()
  await page.getByRole('radio', { name: 'The sandbox', checked: true }).waitFor()
})
