import { expect, inject, it } from 'vitest'
import { holdCalls } from '../helpers/e2e/held-messages.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import { chooseFile, openStep, seeRunEnded, seeScreen } from '../helpers/e2e/walk.ts'

/** Half a surrogate pair in one row and a key that occurs twice in another. */
const TEXT = [
  '{"post_id":"p1","user_id":"u","text_data":"one"}',
  '{"post_id":"p2","user_id":"u","text_data":"\\ud800"}',
  '{"post_id":"p3","user_id":"u","text_data":"three","user_id":"v"}',
].join('\n')

it('sends rows whose content may be cut once a person confirms it, and lists the rows with warnings at the end', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  await openStep(page, 'Source')
  await chooseFile(page, { name: 'posts.jsonl', text: TEXT })
  await page.getByRole('button', { name: 'Continue' }).click()
  await seeScreen(page, 'Check')
  await page.getByText('once you have confirmed').waitFor()
  await page.getByRole('button', { name: 'Review 3 rows' }).click()
  await page.getByText('3 rows to confirm and send to').waitFor()
  await page.getByRole('heading', { name: 'Before sending' }).waitFor()
  await inspect('review-before-sending')
  const send = page.getByRole('button', { name: 'Send 3 rows' })
  await expect.poll(() => send.isDisabled()).toBe(true)
  await expect.poll(() => page.getByRole('button', { name: 'Send the first 10' }).isDisabled()).toBe(true)
  await page.getByLabel('Send the 3 rows as they are read').check()
  await inspect('review-accepted')
  await page.getByText('3 rows ready to send to').waitFor()
  await send.click()
  await seeRunEnded(page)
  await page.getByText('Warnings about rows').waitFor()
  await page.getByText(/^Read as JSON/).waitFor()
  await inspect('overview-row-warnings')
  await page.getByRole('button', { name: 'List the rows…' }).click()
  await page.getByRole('dialog').getByText('A key that occurs twice in a line').waitFor()
  await inspect('overview-warned-rows')
})

it('sends the rows once their warnings are known, although “Send” was pressed while they were read for another setting', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  const calls = await holdCalls(page, '/check/openWarnings')
  await page.reload()
  await openStep(page, 'Source')
  await chooseFile(page, { name: 'posts.csv', text: 'text_data,user_id\nhello,u1\n' })
  await page.getByRole('button', { name: 'Continue' }).click()
  await seeScreen(page, 'Check')
  await page.getByRole('button', { name: 'Review 1 row' }).waitFor()
  calls.hold()
  await page.getByRole('button', { name: 'Review 1 row' }).click()
  await calls.arrived()
  await page.getByLabel('Timeout (s)').fill('30')
  await page.getByRole('button', { name: 'Send 1 row' }).click()
  const asked = () => calls.sent.filter((call) => call.includes('/check/openWarnings')).length
  await expect.poll(asked).toBeGreaterThan(2)
  calls.release()
  await seeRunEnded(page)
})
