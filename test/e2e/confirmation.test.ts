import { expect, inject, it, onTestFinished, vi } from 'vitest'
import { addConnection, changeConnections } from '../../src/main/engine/workspace/connections.ts'
import { WORKER_URLS } from '../../src/main/program-files.ts'
import { startSandboxThread } from '../../src/main/sandbox/start-sandbox-thread.ts'
import { storedConnectionSchema } from '../../src/shared/plan/stored-connection.ts'
import { openApp } from '../helpers/e2e/open-app.ts'

const KEY = 'key-of-production-51c0'

it('says that production has to be confirmed, leads to the question, and continues once it is answered', {
  skip: !inject('walksAll'),
}, async () => {
  const service = await startSandboxThread(WORKER_URLS.sandbox, { apiKeys: [KEY] })
  onTestFinished(() => service.close())
  vi.stubEnv('E2E_LIVE_KEY', KEY)
  onTestFinished(() => void vi.unstubAllEnvs())
  const { page, workspace, inspect } = await openApp({ width: 900, height: 600 })
  const live = storedConnectionSchema.parse({
    name: 'live',
    baseUrl: service.baseUrl,
    keys: [{ label: 'only', env: 'E2E_LIVE_KEY' }],
    activeKey: 'only',
    isProduction: true,
  })
  changeConnections(workspace, (known) => addConnection(known, live))
  await page.reload()
  const waiting = page.getByRole('dialog', { name: 'Confirmation needed' })
  const open = waiting.getByRole('link', { name: 'Open the question' })
  const openQuestion = async () => {
    const opened = page.context().waitForEvent('page')
    await expect.poll(() => page.locator(':focus').textContent()).toBe('Open the question')
    await page.keyboard.press('Enter')
    return opened
  }

  // By keyboard only: the link has the focus.
  await page.getByRole('link', { name: 'Connections' }).click()
  const region = page.getByRole('region', { name: 'live' })
  await region.getByRole('button', { name: 'Test' }).click()
  await waiting.getByText('Test production connection live?').waitFor()
  await waiting.getByText(/^Waiting until \d\d:\d\d:\d\d/).waitFor()
  await inspect('confirmation')
  const question = await openQuestion()
  await question.getByRole('heading', { name: 'Test production connection live?' }).waitFor()
  expect(new URL(question.url()).host).not.toBe(new URL(page.url()).host)
  await question.getByRole('button', { name: 'Test it' }).click()
  await waiting.waitFor({ state: 'detached' })
  await region.getByText('The service accepts the key only').waitFor()
  await question.close()

  // The question is declined there.
  await region.getByRole('button', { name: 'Test' }).click()
  await open.waitFor()
  const declined = await openQuestion()
  await declined.getByRole('button', { name: 'Cancel' }).click()
  await waiting.waitFor({ state: 'detached' })
  await region.getByText('the production prompt was not confirmed').waitFor()
  await declined.close()

  // Over a dialog, which stays open when the question is cancelled and shows the answer.
  await region.getByRole('button', { name: 'Edit' }).click()
  const edit = page.getByRole('dialog', { name: 'Edit live' })
  await edit.getByRole('button', { name: 'Test' }).click()
  await expect.poll(() => page.locator(':focus').textContent()).toBe('Open the question')
  await inspect('confirmation-over-dialog')
  await page.keyboard.press('Escape')
  await waiting.waitFor({ state: 'detached' })
  await edit.getByText('the production prompt was not confirmed').waitFor()
  await edit.getByRole('button', { name: 'Test' }).click()
  const tested = await openQuestion()
  await tested.getByRole('button', { name: 'Test it' }).click()
  await waiting.waitFor({ state: 'detached' })
  await edit.getByText('The service accepts the key only').waitFor()
  await tested.close()
  await page.keyboard.press('Escape')
  await edit.waitFor({ state: 'detached' })

  // Cancelled here.
  await page.getByRole('link', { name: 'Scratchpad' }).click()
  await page.getByRole('combobox', { name: 'Destination' }).click()
  await page.getByRole('option', { name: /^live/ }).click()
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await waiting.getByText('Send one request to production connection live?').waitFor()
  await page.keyboard.press('Escape')
  await waiting.waitFor({ state: 'detached' })
  await page.getByText('the production prompt was not confirmed').waitFor()
})
