import { expect, inject, it, onTestFinished } from 'vitest'
import { holdCalls } from '../helpers/e2e/held-messages.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import { chooseFile, openStep, seeRunEnded, seeScreen } from '../helpers/e2e/walk.ts'
import { startRecordingService } from '../helpers/recording-service.ts'

const HEADER = 'post_id,user_id,text_data'

function toText(rows: number): string {
  const lines = Array.from({ length: rows }, (_, at) => `p${at + 1},u${at + 1},message ${at + 1}`)
  return [HEADER, ...lines].join('\n')
}

it('says on Review what was sent before, and sends only what is new if a person chooses that', {
  skip: !inject('walksAll'),
}, async () => {
  let isMended = false
  const service = await startRecordingService((postId) => (!isMended && postId === 'p2' ? 503 : null))
  onTestFinished(() => service.close())
  const { page, inspect } = await openApp()
  const review = async (rows: number) => {
    await openStep(page, 'Source')
    await chooseFile(page, { name: 'posts.csv', text: toText(rows) })
    await page.getByRole('button', { name: 'Continue' }).click()
    await seeScreen(page, 'Check')
    await page.getByRole('button', { name: /^Review/ }).click()
  }
  await review(3)
  await page.getByRole('radio', { name: 'A service' }).check()
  await page.getByLabel('Base URL').fill(service.baseUrl)
  await page.getByLabel('API key', { exact: true }).fill('a-key')
  await page.getByLabel('Retries').fill('0')
  await page.getByRole('button', { name: 'Send 3 rows' }).click()
  await seeRunEnded(page)

  isMended = true
  await review(5)
  await page.getByText('3 of 5 rows were sent before (same post_id)').waitFor()
  await inspect('review-sent-before')
  await page.getByRole('radio', { name: /^Send only what is new/ }).check()
  // The second row may have been accepted, so sending it needs a yes.
  await page.getByText('3 rows to confirm and send to').waitFor()
  await page.getByText('This row is not sent').waitFor()
  await page.getByText(/^sent before, in run/).waitFor()
  await inspect('review-only-new')
  const key = page.getByRole('combobox', { name: 'Recognize rows by' })
  await key.click()
  await page.getByRole('option', { name: 'user_id' }).click()
  await page.getByRole('option', { name: 'text_data' }).click()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Look again' }).click()
  await page.getByText('3 of 5 rows were sent before (same user_id and text_data)').waitFor()
  await page.getByText('3 rows to confirm and send to').waitFor()
  await inspect('review-new-by')
  await page.getByRole('radio', { name: /^Send only what is certainly new/ }).check()
  await page.getByText('2 rows ready to send to').waitFor()
  await inspect('review-certainly-new')
  await page.getByRole('button', { name: 'Send 2 rows' }).click()
  await seeRunEnded(page)
  expect([...service.arrived]).toEqual([
    ['p1', 1],
    ['p2', 1],
    ['p3', 1],
    ['p4', 1],
    ['p5', 1],
  ])
  await page.getByRole('button', { name: 'View results' }).click()
  await page
    .getByRole('row', { name: /skipped/i })
    .first()
    .waitFor()
  await inspect('results-skipped')
})

it('sends none of the held rows while they are read again without those that were sent before', {
  skip: !inject('walksAll'),
}, async () => {
  const service = await startRecordingService(() => null)
  onTestFinished(() => service.close())
  const { page } = await openApp()
  const starts = await holdCalls(page, '/runs/start')
  await page.reload()
  const review = async (rows: number) => {
    await openStep(page, 'Source')
    await chooseFile(page, { name: 'posts.csv', text: toText(rows) })
    await page.getByRole('button', { name: 'Continue' }).click()
    await seeScreen(page, 'Check')
    await page.getByRole('button', { name: /^Review/ }).click()
  }
  await review(1)
  await page.getByRole('radio', { name: 'A service' }).check()
  await page.getByLabel('Base URL').fill(service.baseUrl)
  await page.getByLabel('API key', { exact: true }).fill('a-key')
  await page.getByRole('button', { name: 'Send 1 row' }).click()
  await seeRunEnded(page)

  await review(3)
  await page.getByText('1 of 3 rows was sent before (same post_id)').waitFor()
  const send = page.getByRole('button', { name: /^Send \d rows$/ })
  await expect.poll(() => send.isEnabled()).toBe(true)
  starts.hold()
  await page.getByRole('radio', { name: /^Send only what is new/ }).check()
  await starts.arrived()
  await expect.poll(() => send.isDisabled()).toBe(true)
  await page.keyboard.press('Control+Enter')
  starts.release()
  await page.getByText('2 rows ready to send to').waitFor()
  await page.getByRole('button', { name: 'Send 2 rows' }).click()
  await seeRunEnded(page)
  expect([...service.arrived]).toEqual([
    ['p1', 1],
    ['p2', 1],
    ['p3', 1],
  ])
})
