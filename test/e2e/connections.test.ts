import { readFileSync } from 'node:fs'
import { expect, inject, it, onTestFinished, vi } from 'vitest'
import {
  addConnection,
  changeConnections,
  toConnectionsFile,
} from '../../src/main/engine/workspace/connections.ts'
import { WORKER_URLS } from '../../src/main/program-files.ts'
import { startSandboxThread } from '../../src/main/sandbox/start-sandbox-thread.ts'
import { storedConnectionSchema } from '../../src/shared/plan/stored-connection.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import { chooseFile, readShownCounts, seeRunEnded, seeScreen } from '../helpers/e2e/walk.ts'

const KEY = 'connections-key'

it('goes to a stored production connection, asks outside the page, treats a closed question as a no, and switches its key on the way', {
  skip: !inject('walksAll'),
}, async () => {
  const service = await startSandboxThread(WORKER_URLS.sandbox, { apiKeys: [KEY] })
  onTestFinished(() => service.close())
  vi.stubEnv('E2E_OLD_KEY', 'not-any-more')
  vi.stubEnv('E2E_NEW_KEY', KEY)
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  const { page, workspace, inspect, openConsent } = await openApp()
  const stored = storedConnectionSchema.parse({
    name: 'live',
    baseUrl: service.baseUrl,
    keys: [
      { label: 'old', env: 'E2E_OLD_KEY' },
      { label: 'new', env: 'E2E_NEW_KEY' },
    ],
    activeKey: 'old',
    isProduction: true,
  })
  changeConnections(workspace, (known) => addConnection(known, stored))
  await page.reload()
  const lines = Array.from({ length: 30 }, (_, index) => `hello ${index},u${index}`)
  await chooseFile(page, { name: 'posts.csv', text: `text_data,user_id\n${lines.join('\n')}\n` })
  await page.getByText('live', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Review 30 rows' }).click()
  await page.getByRole('button', { name: 'Send 30 rows' }).click()
  const left = await openConsent()
  await left.getByText('It submits content of 30 rows.').waitFor()
  await left.goto('about:blank')
  await page.getByText('the production prompt was not confirmed').waitFor()
  await left.close()
  await page.getByRole('button', { name: 'Send 30 rows' }).click()
  const declined = await openConsent()
  await declined.getByText('It submits content of 30 rows.').waitFor()
  await inspect('production-question', declined)
  await declined.getByRole('button', { name: 'Cancel' }).click()
  await declined.getByText('Nothing is sent or changed.').waitFor()
  await declined.close()
  await page.getByText('the production prompt was not confirmed').waitFor()
  await page.getByRole('button', { name: 'Send 30 rows' }).click()
  const confirmed = await openConsent()
  await confirmed.getByRole('button', { name: 'Send to production' }).click()
  await confirmed.getByText('Confirmed.').waitFor()
  await confirmed.close()

  await page.getByRole('button', { name: 'Resume' }).waitFor()
  await page.getByRole('link', { name: 'Runs' }).click()
  await seeScreen(page, 'Runs')
  await inspect('runs-production')
  await page.getByRole('button', { name: 'posts.csv', exact: true }).click()
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  await inspect('run-wrong-key')
  await page.getByRole('button', { name: 'Use another API key…' }).click()
  const keys = page.getByRole('dialog', { name: 'Another API key' })
  await keys.getByRole('radio', { name: /^old/ }).check()
  await keys.getByRole('button', { name: 'Use this key' }).click()
  await page.getByText('Press Resume to continue with it.').waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  // A key that is refused again is none to continue with.
  await page.getByText(/^The run uses key old of live since /).waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Use another API key…' }).click()
  await keys.getByRole('radio', { name: /^new/ }).check()
  await inspect('run-keys')
  await keys.getByRole('button', { name: 'Use this key' }).click()
  await keys.waitFor({ state: 'detached' })
  await page.getByText(/^The run uses key new of live since /).waitFor()
  await page.getByText('Press Resume to continue with it.').waitFor()
  await page.getByRole('button', { name: 'Use another API key…' }).click()
  await keys.getByRole('radio', { name: 'new (active)' }).waitFor()
  await keys.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Resume' }).click()
  await seeRunEnded(page)
  const { succeeded = 0, rejected = 0, ...others } = await readShownCounts(page)
  // Nothing is left to send, so no other count is shown.
  expect([succeeded + rejected, others]).toEqual([30, {}])
  expect(succeeded).toBeGreaterThan(10)
  await page.locator('main header').getByText('production').waitFor()
  expect(await page.content()).not.toContain(KEY)
})

it('asks for another key before resending rows whose key was refused, and stores it in place of the refused one', {
  skip: !inject('walksAll'),
}, async () => {
  const service = await startSandboxThread(WORKER_URLS.sandbox, { apiKeys: [KEY] })
  onTestFinished(() => service.close())
  const { page, workspace, inspect } = await openApp()
  await page.getByRole('link', { name: 'Connections' }).click()
  await page.getByRole('button', { name: 'Add a connection' }).click()
  const form = page.getByRole('dialog', { name: 'Add a connection' })
  await form.getByLabel('Name').fill('staging')
  await form.getByLabel('Base URL').fill(service.baseUrl)
  await form.getByLabel('API key (optional)').fill('not-any-more')
  await form.getByRole('button', { name: 'Save' }).click()
  await form.waitFor({ state: 'detached' })
  await page.getByRole('link', { name: 'New run' }).click()
  const lines = Array.from({ length: 30 }, (_, index) => `hello ${index},u${index}`)
  await chooseFile(page, { name: 'posts.csv', text: `text_data,user_id\n${lines.join('\n')}\n` })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Review 30 rows' }).click()
  await page.getByRole('button', { name: 'Send 30 rows' }).click()
  await page.getByRole('button', { name: 'Use another API key…' }).click()
  const live = page.getByRole('dialog', { name: 'Another API key' })
  const replace = { name: 'Replace the key “default” of staging' }
  await expect.poll(() => live.getByRole('checkbox', replace).isChecked()).toBe(true)
  await inspect('run-refused-key')
  await live.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'Stop' }).click()
  await seeRunEnded(page, 'interrupted')
  const { rejected = 0 } = await readShownCounts(page)

  await page.getByRole('button', { name: 'Resume…' }).click()
  const resuming = page.getByRole('dialog', { name: 'Resume the run' })
  await resuming.getByText(`The service refused the API key for ${rejected} rows`).waitFor()
  const resume = resuming.getByRole('button', { name: 'Resume 30 rows' })
  await expect.poll(() => resume.isDisabled()).toBe(true)
  await inspect('resume-refused-key')
  await resuming.getByRole('textbox', { name: 'API key' }).fill(KEY)
  await expect.poll(() => resuming.getByRole('checkbox', replace).isChecked()).toBe(true)
  await resume.click()
  await resuming.waitFor({ state: 'detached' })
  await seeRunEnded(page)
  expect(await readShownCounts(page)).toMatchObject({ succeeded: 30 })

  await page.getByRole('link', { name: 'Connections' }).click()
  const staging = page.getByRole('region', { name: 'staging' })
  await staging.getByRole('button', { name: 'Test' }).click()
  await staging.getByText('The service accepts the key default').waitFor()
  expect(await page.content()).not.toContain(KEY)
  expect(readFileSync(toConnectionsFile(workspace), 'utf8')).not.toContain(KEY)
})
