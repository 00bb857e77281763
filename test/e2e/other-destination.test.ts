import { expect, inject, it } from 'vitest'
import { holdCalls } from '../helpers/e2e/held-messages.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import { checkSample } from '../helpers/e2e/walk.ts'

it('shows no figure and no request until the rows are read for the new destination', {
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

it("remembers a service's address and key while another destination is chosen", {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  await checkSample(page)
  await page.getByRole('button', { name: /^Review/ }).click()
  const sandbox = page.getByRole('radio', { name: 'The sandbox' })
  const service = page.getByRole('radio', { name: 'A service' })
  const address = page.getByLabel('Base URL')
  const key = page.getByLabel('API key', { exact: true })
  await service.check()
  await address.fill('https://api.example.com')
  await key.fill('a-key')
  await sandbox.check()
  await service.check()
  expect([await address.inputValue(), await key.inputValue()]).toEqual(['https://api.example.com', 'a-key'])
  await sandbox.check()
  await page.getByText('364 rows ready to send to').waitFor()
  await page.getByRole('link', { name: 'Operation' }).click()
  await service.check()
  expect([await address.inputValue(), await key.inputValue()]).toEqual(['https://api.example.com', 'a-key'])
})
