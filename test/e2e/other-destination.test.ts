import { expect, inject, it } from 'vitest'
import { holdCalls } from '../helpers/e2e/held-messages.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import { checkSample } from '../helpers/e2e/walk.ts'

it('shows no figure and no request until the rows are read for another destination', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  const calls = await holdCalls(page, '/runs/start')
  await page.reload()
  await checkSample(page)
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByText('364 rows ready to send to').waitFor()
  const request = page.getByRole('region', { name: 'Exact request' })
  await request.getByText('user_id').waitFor()
  await page.getByRole('radio', { name: 'A service' }).check()
  await page.getByLabel('API key', { exact: true }).fill('a-key')
  calls.hold()
  await page.getByLabel('Base URL').fill('http://127.0.0.1:1')
  await page.getByText('The rows are being read, to be sent to').waitFor()
  await calls.arrived()
  await request.getByText('The rows are being read.').waitFor()
  expect(await request.getByText('user_id').count()).toBe(0)
  expect(await page.getByRole('button', { name: 'Send the rows' }).isDisabled()).toBe(true)
  await page.getByText('Requests in all').waitFor()
  expect(await page.getByRole('main').innerText()).not.toMatch(/\b0 rows|Requests in all\s+0/)
  await inspect('review-other-destination')
  calls.release()
  await page.getByText('364 rows ready to send to').waitFor()
  await request.getByText('http://127.0.0.1:1/api/v1/task/sync').waitFor()
})
