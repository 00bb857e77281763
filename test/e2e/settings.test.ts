import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it, onTestFinished } from 'vitest'
import { planSchema } from '../../src/shared/plan/plan.ts'
import { holdCalls } from '../helpers/e2e/held-messages.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import { seeScreen, switchTo } from '../helpers/e2e/walk.ts'
import { RUN_KEY } from '../helpers/in-process-runs.ts'
import { withSandbox } from '../helpers/sandbox.ts'
import { createTestEngine } from '../helpers/test-engine.ts'
import { writeRun } from '../helpers/write-run.ts'

it('keeps theme, wellness and clean-up settings', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect, workspace } = await openApp()
  await page.getByRole('link', { name: 'Settings' }).click()
  await seeScreen(page, 'Settings')
  await page.getByText('None: every run is kept').waitFor()
  await inspect('settings')

  await page.getByRole('radiogroup', { name: 'Theme' }).getByText('Dark').click()
  await expect.poll(() => page.locator('html').getAttribute('data-mantine-color-scheme')).toBe('dark')
  await page.getByRole('combobox', { name: 'Pictures and videos start' }).click()
  await page.getByRole('option', { name: 'Hidden' }).click()
  await switchTo(page.getByRole('switch', { name: 'Show texts without asking' }), true)
  await expect
    .poll(() => JSON.parse(readFileSync(join(workspace, 'settings.json'), 'utf8')))
    .toMatchObject({ theme: 'dark', mediaLook: 'hidden', showsContent: true })

  for (const runId of ['20251101-120000-001', '20251101-120000-002']) writeRun(workspace, { runId })
  writeFileSync(
    join(workspace, 'retention.json'),
    JSON.stringify({ olderThanMs: 86_400_000, largerThanBytes: null, keepBelowBytes: null }),
  )
  // A reload keeps all settings without the browser's memory.
  await page.evaluate('localStorage.clear()')
  await page.reload()
  await page.getByText('2 runs exceed them now').waitFor()
  await expect.poll(() => page.locator('html').getAttribute('data-mantine-color-scheme')).toBe('dark')
  await expect
    .poll(() => page.getByRole('switch', { name: 'Show texts without asking' }).isChecked())
    .toBe(true)

  // Another screen does not reset the theme, which would recompute the styles of the whole window.
  await page.evaluate(`window.addedStyles = 0
    new MutationObserver((changes) => {
      const added = changes.flatMap(({ addedNodes }) => [...addedNodes])
      window.addedStyles += added.filter(({ nodeName }) => nodeName === 'STYLE').length
    }).observe(document.head, { childList: true })`)
  await page.getByRole('link', { name: 'Connections' }).click()
  await seeScreen(page, 'Connections')
  await page.getByRole('link', { name: 'Settings' }).click()
  await seeScreen(page, 'Settings')
  expect(await page.evaluate('window.addedStyles')).toBe(0)

  // It can be switched once the limits have loaded.
  const cleanUp = { name: 'Clean up once a day without asking', disabled: false }
  await switchTo(page.getByRole('switch', cleanUp), true)
  await page.getByText('2 runs (').waitFor()
  await page.getByRole('radiogroup', { name: 'Theme' }).getByText('System').click()
  await inspect('settings-set')
})

/** Settings whose changes can be held, and two of its switches. */
async function openSettings() {
  const app = await openApp()
  const { page } = app
  const calls = await holdCalls(page, '/settings/change')
  await page.reload()
  await page.getByRole('link', { name: 'Settings' }).click()
  await seeScreen(page, 'Settings')
  const toSwitch = (name: string) => page.getByRole('switch', { name })
  const [muted, texts] = [toSwitch('Videos start muted'), toSwitch('Show texts without asking')]
  return { ...app, calls, muted, texts }
}

it('shows the stored settings after two quick changes were both refused', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace, calls, muted, texts } = await openSettings()
  // A folder in the place of the lock: nothing can be written.
  mkdirSync(join(workspace, 'settings.json.lease'))
  calls.hold()
  await switchTo(muted, false)
  await switchTo(texts, true)
  calls.release()
  await page.getByText('settings.json.lease').first().waitFor()
  await expect.poll(() => Promise.all([muted.isChecked(), texts.isChecked()])).toEqual([true, false])
})

it('says that a change was not stored although a later one was', { skip: !inject('walksAll') }, async () => {
  const { page, calls, muted, texts } = await openSettings()
  calls.hold()
  await switchTo(muted, false)
  await calls.arrived()
  await switchTo(texts, true)
  calls.lose()
  await page.getByText('the connection to Sluice was lost').waitFor()
  await expect.poll(() => Promise.all([muted.isChecked(), texts.isChecked()])).toEqual([true, true])
})

it('says nothing about the limits of stored runs before it has read them', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace } = await openApp()
  writeFileSync(
    join(workspace, 'retention.json'),
    JSON.stringify({ olderThanMs: 86_400_000, largerThanBytes: null, keepBelowBytes: null }),
  )
  const reading = await holdCalls(page, '/history/readRetention')
  await page.reload()
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByText('No run exceeds them now').waitFor()
  await page.getByRole('link', { name: 'Connections' }).click()
  await seeScreen(page, 'Connections')
  reading.hold()
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByText('Reading the workspace').waitFor()
  const cleanUp = { name: 'Clean up once a day without asking' }
  await expect.poll(() => page.getByRole('switch', cleanUp).isDisabled()).toBe(true)
  expect(await page.getByText('Set limits').count()).toBe(0)
  reading.release()
  await page.getByText('No run exceeds them now').waitFor()
  await page.getByRole('switch', { ...cleanUp, disabled: false }).waitFor()
})

it('shows limits that another window sets, and the size of what is left after it deletes runs', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace } = await openApp()
  for (const runId of ['20261101-120000-001', '20261101-120000-002']) {
    writeRun(workspace, { runId, createdAtMs: Date.now() - 27 * 86_400_000 })
  }
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByText('None: every run is kept').waitFor()
  const other = await page.context().newPage()
  await other.goto(page.url())
  await other.getByRole('button', { name: 'Set limits…' }).click()
  await other.getByLabel('Older than (days)').fill('20')
  await other.getByRole('button', { name: 'Keep these limits' }).click()
  await page.getByText('Runs older than 20 days. 2 runs exceed them now.').waitFor()
  await other.getByRole('button', { name: 'Delete 2 runs' }).click()
  await page.getByText('Runs older than 20 days. No run exceeds them now.').waitFor()
  for (const window of [page, other]) {
    const sizes = window.getByRole('region', { name: 'Runs on disk', includeHidden: true })
    await expect.poll(() => sizes.innerText()).toMatch(/Runs\s+0\s+B/)
  }
  await page.getByRole('button', { name: 'Clean up…' }).click()
  await page.getByLabel('Older than (days)').fill('30')
  await page.getByRole('button', { name: 'Keep these limits' }).click()
  await page.getByRole('button', { name: 'Limits are kept' }).waitFor()
  await other.getByRole('button', { name: 'Keep these limits', disabled: false }).waitFor()
})

it('tests the callback address, and lists callbacks without their content', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect, workspace } = await openApp()
  await page.getByRole('link', { name: 'Callbacks' }).click()
  await seeScreen(page, 'Callbacks')
  await page.getByText('No callbacks yet').waitFor()
  await inspect('callbacks-empty')
  await page.getByRole('button', { name: 'Start listening' }).click()
  await page.getByText('listening', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Test the address' }).click()
  await page.getByText(/A signed callback came back after/).waitFor()
  await page.getByLabel('Public address').fill('hooks.example.com')
  await page.keyboard.press('Tab')
  await page.getByText('it must begin with https://').waitFor()
  await page.getByLabel('Public address').fill('https://hooks.example.com')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await page.getByRole('button', { name: 'Saved', exact: true }).waitFor()

  const service = await withSandbox({ apiKeys: [RUN_KEY], callbacks: 'drop=30%' })
  const path = join(workspace, 'posts.csv')
  // The sandbox decides by id: with these ids it always drops the same ones.
  const texts = Array.from({ length: 20 }, (_, i) => `a text that somebody wrote ${i},user-${i},post-${i}`)
  writeFileSync(path, `text_data,user_id,post_id\n${texts.join('\n')}\n`)
  const engine = createTestEngine(workspace)
  onTestFinished(() => engine.close())
  const plan = planSchema.parse({
    name: 'Posts of the day',
    source: { path },
    operation: { kind: 'task', mode: 'async' },
    connection: { baseUrl: service.baseUrl },
    callback: { timeoutMs: 3_600_000 },
  })
  const run = await engine.runs.startRun(plan, { apiKey: RUN_KEY })
  await page.getByRole('cell', { name: 'settled its row' }).first().waitFor()
  await page.getByRole('columnheader', { name: 'Waiting rows' }).waitFor()
  const receiver = new URL((await engine.receiver.status())?.baseUrl ?? '')
  await fetch(new URL('/callback/somebody/1/guessed-address-123456', receiver), {
    method: 'POST',
    body: '{}',
  })
  await page.getByText('to unknown addresses').waitFor()
  expect(await page.getByText('a text that somebody wrote').count()).toBe(0)
  await inspect('callbacks-full')
  await page
    .getByRole('button', { name: /^Open the callback for row/ })
    .first()
    .click()
  await page.getByRole('dialog').getByText('task_id').waitFor()
  await inspect('callbacks-open')
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Posts of the day' }).first().click()
  await seeScreen(page, 'Posts of the day')
  run.stop()
  await run.ended
})
