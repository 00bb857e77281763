import { expect, it, onTestFinished, vi } from 'vitest'
import { addConnection, changeConnections } from '../../src/main/engine/workspace/connections.ts'
import { WORKER_URLS } from '../../src/main/program-files.ts'
import { startSandboxThread } from '../../src/main/sandbox/start-sandbox-thread.ts'
import { storedConnectionSchema } from '../../src/shared/plan/stored-connection.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import { chooseFile, readShownCounts, seeRunEnded, seeScreen } from '../helpers/e2e/walk.ts'

const KEY = 'connections-key'

it('goes to a stored connection, asks outside of the page since it is production, takes a closed question for a no, and switches its key on the way', async () => {
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
  await keys.getByRole('radio', { name: /^new/ }).check()
  await inspect('run-keys')
  await keys.getByRole('button', { name: 'Use this key' }).click()
  await keys.waitFor({ state: 'detached' })
  await page.getByText(/^The run uses key new of live since /).waitFor()
  await page.getByText('Press Resume to continue with it.').waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await seeRunEnded(page)
  const { succeeded = 0, rejected = 0, pending } = await readShownCounts(page)
  expect([succeeded + rejected, pending]).toEqual([30, 0])
  expect(succeeded).toBeGreaterThan(10)
  await page.locator('main header').getByText('production').waitFor()
  expect(await page.content()).not.toContain(KEY)
})
