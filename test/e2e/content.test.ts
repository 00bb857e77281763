import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, inject, it } from 'vitest'
import { planSchema } from '../../src/shared/plan/plan.ts'
import { holdAnswers } from '../helpers/e2e/held-messages.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import { seeScreen, switchTo } from '../helpers/e2e/walk.ts'
import { createInProcessRuns, RUN_KEY } from '../helpers/in-process-runs.ts'
import { withSandbox } from '../helpers/sandbox.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

const TEXT = 'win a free prize now'

/** A WAV file of 8,000 samples a second, of 8 bits each. */
function createSilence(seconds: number): Buffer {
  const samples = Buffer.alloc(8_000 * seconds, 128)
  const head = Buffer.from('RIFF    WAVEfmt                     data    ', 'latin1')
  head.writeUInt32LE(36 + samples.length, 4)
  head.writeUInt32LE(16, 16)
  head.writeUInt16LE(1, 20)
  head.writeUInt16LE(1, 22)
  head.writeUInt32LE(8_000, 24)
  head.writeUInt32LE(8_000, 28)
  head.writeUInt16LE(1, 32)
  head.writeUInt16LE(8, 34)
  head.writeUInt32LE(samples.length, 40)
  return Buffer.concat([head, samples])
}

/** Sends one row with {@link TEXT}, a picture and a sound twice; it triggers another rule the second time. */
async function sendTwice(workspace: string): Promise<string[]> {
  const sandbox = await withSandbox({ apiKeys: [RUN_KEY] })
  const folder = createTemporaryFolder()
  const picture =
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  writeFileSync(join(folder, 'photo.png'), Buffer.from(picture, 'base64'))
  writeFileSync(join(folder, 'sound.wav'), createSilence(30))
  const row = `${TEXT},u1,p1,photo.png,sound.wav`
  writeFileSync(join(folder, 'posts.csv'), `text_data,user_id,post_id,photo,sound\n${row}\n`)
  const plan = planSchema.parse({
    name: 'posts',
    connection: { baseUrl: sandbox.baseUrl },
    source: { path: join(folder, 'posts.csv') },
    operation: { kind: 'task' },
  })
  const runs = createInProcessRuns(workspace)
  const first = await runs.start(plan).ended
  await sandbox.admin('DELETE', '/tasks')
  await sandbox.admin('DELETE', '/rules/rule-spam')
  const second = await runs.start(plan).ended
  return [first.run_id, second.run_id]
}

const goTo = (page: Page, hash: string) => page.evaluate(`location.hash = '${hash}'`)

async function openDrawer(page: Page, run: string | undefined) {
  await goTo(page, `#/run/${run}/results`)
  await page.getByRole('grid').focus()
  await page.keyboard.press('Enter')
  const drawer = page.getByRole('complementary', { name: 'Row 2' })
  await drawer.getByText('hidden (20 characters)').first().waitFor()
  return drawer
}

it('keeps a row hidden when “Show content” is turned off after it was hidden by itself', async () => {
  const { page, workspace } = await openApp()
  const runs = await sendTwice(workspace)
  const all = page.getByLabel('Show content')
  await goTo(page, `#/run/${runs[0]}/labelling`)
  await page.getByRole('button', { name: 'Draw and begin' }).click()
  const row = page.getByRole('region', { name: 'The row', exact: true })
  await row.getByText('hidden (20 characters)').waitFor()
  await switchTo(all, true)
  await row.getByText(TEXT).waitFor()
  await row.getByRole('button', { name: 'Hide' }).click()
  await row.getByText('hidden (20 characters)').waitFor()
  await switchTo(all, false)
  expect(await row.innerText()).toContain('hidden (20 characters)')

  await goTo(page, `#/compare/${runs.join('/')}`)
  await seeScreen(page, 'Compare')
  await page.getByRole('tab', { name: 'Changed rows' }).click()
  const grid = page.getByRole('grid', { name: 'Changed rows' })
  await grid.getByText('hidden (20 characters)').waitFor()
  await switchTo(all, true)
  await grid.getByText(TEXT).waitFor()
  await grid.focus()
  await page.keyboard.press('Space')
  await grid.getByText('hidden (20 characters)').waitFor()
  await switchTo(all, false)
  expect(await grid.innerText()).toContain('hidden (20 characters)')
})

it('says that a copied command has content that the screen hides', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace } = await openApp()
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  const [run] = await sendTwice(workspace)
  const drawer = await openDrawer(page, run)
  await drawer.getByRole('button', { name: 'Copy as curl, with hidden content' }).click()
  await drawer.getByText('Copied').waitFor()
  expect(await page.evaluate('navigator.clipboard.readText()')).toContain(TEXT)
  await drawer.getByRole('button', { name: 'Reveal' }).click()
  await drawer.getByRole('button', { name: 'Copy as curl', exact: true }).waitFor()
  await drawer.getByRole('button', { name: 'Hide' }).click()

  await drawer.getByRole('button', { name: 'Open in Scratchpad' }).click()
  await page.getByRole('combobox', { name: 'Destination' }).click()
  await page.getByRole('option', { name: 'the sandbox' }).click()
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByRole('button', { name: 'Copy as curl, with hidden content' }).waitFor()
  await switchTo(page.getByLabel('Show content'), true)
  await page.getByRole('button', { name: 'Copy as curl', exact: true }).waitFor()
})

it('blurs pictures that start sharp, and stops what plays, after a person was away', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace } = await openApp()
  const [run] = await sendTwice(workspace)
  writeFileSync(
    join(workspace, 'settings.json'),
    JSON.stringify({ version: 1, mediaLook: 'colour', hideAfterMinutes: 1 }),
  )
  await page.clock.install()
  await page.reload()
  const drawer = await openDrawer(page, run)
  await drawer.getByText('As it is').waitFor()
  await drawer.getByLabel('Sound of the row').waitFor()
  await page.evaluate("document.querySelector('audio').play()")
  expect(await page.evaluate("document.querySelector('audio').paused")).toBe(false)
  await page.clock.fastForward('02:00')
  await drawer.getByText('Greyscale, strongly blurred').waitFor()
  expect(await page.evaluate("document.querySelector('audio').paused")).toBe(true)
  await page.getByRole('link', { name: 'Settings' }).click()
  await page.getByText('Content is hidden again').waitFor()
  // Another setting reveals nothing.
  await switchTo(page.getByRole('switch', { name: 'Videos start muted' }), false)
  await expect
    .poll(() => JSON.parse(readFileSync(join(workspace, 'settings.json'), 'utf8')))
    .toMatchObject({ startsMuted: false })
  expect(await page.getByText('Content is hidden again').count()).toBe(1)
  await page.getByRole('button', { name: 'Show it as set here' }).click()
  await page.getByText('Content is hidden again').waitFor({ state: 'detached' })
})

it('sends nothing twice from a Scratchpad that is left while it waits for the answer', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  const answers = await holdAnswers(page, /scratchpad\/send/)
  await page.reload()
  await page.getByRole('link', { name: 'Scratchpad' }).click()
  await seeScreen(page, 'Scratchpad')
  answers.hold()
  await page.getByRole('button', { name: 'Send', exact: true }).click()
  await page.getByText('Waiting for the answer').waitFor()
  await page.getByRole('link', { name: 'Connections' }).click()
  await seeScreen(page, 'Connections')
  await page.getByRole('link', { name: 'Scratchpad' }).click()
  await page.getByText('Waiting for the answer').waitFor()
  expect(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled()).toBe(true)
  answers.release()
  await page.getByRole('heading', { name: 'Answer 200' }).waitFor()
})

it('shows in the Scratchpad that a request failed after it was left, and that a text is too long to send', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  const answers = await holdAnswers(page, /scratchpad\/send/)
  await page.reload()
  await page.getByRole('link', { name: 'Scratchpad' }).click()
  await seeScreen(page, 'Scratchpad')
  answers.hold()
  const send = page.getByRole('button', { name: 'Send', exact: true })
  await send.click()
  await answers.arrived()
  await page.getByRole('link', { name: 'Connections' }).click()
  await seeScreen(page, 'Connections')
  answers.lose()
  await page.getByRole('link', { name: 'Scratchpad' }).click()
  await page.getByText('the connection to Sluice was lost').waitFor()
  await page.getByRole('button', { name: 'Dismiss' }).click()

  await page.getByLabel('JSON body').fill(`{"text_data": "${'a'.repeat(2 ** 20)}"}`)
  await page.getByText('Nothing can be sent: the text has 1,048,593 characters, 17 more than').waitFor()
  expect(await send.isDisabled()).toBe(true)
})
