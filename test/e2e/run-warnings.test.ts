import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, inject, it, onTestFinished } from 'vitest'
import { openApp } from '../helpers/e2e/open-app.ts'
import { chooseFile, seeRunEnded } from '../helpers/e2e/walk.ts'

/** Starts a service that gives every added item the same id and repeats the key; returns its address. */
async function startCarelessService(): Promise<string> {
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json')
      const message = `added with ${request.headers.authorization}`
      response.end(JSON.stringify({ custom_index_item_id: 'item-1', task_id: 't', message }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it('tells on the screen of a run what its warnings say of the answers', {
  skip: !inject('walksAll'),
}, async () => {
  const baseUrl = await startCarelessService()
  const { page, inspect } = await openApp()
  await page.getByRole('button', { name: 'Choose what to do first' }).click()
  await page.getByRole('radio', { name: 'Add to index', exact: true }).check()
  await page.getByLabel('Custom index id').fill('pictures')
  await page.getByRole('radio', { name: 'A service' }).check()
  await page.getByLabel('Base URL').fill(baseUrl)
  await page.getByLabel('API key', { exact: true }).fill('a-key-of-some-length')
  await page.getByRole('button', { name: 'Continue' }).click()
  await chooseFile(page, {
    name: 'items.csv',
    text: 'url\nhttps://a.example/1.png\nhttps://a.example/2.png\n',
  })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('button', { name: /^Send 2 rows/ }).click()
  await seeRunEnded(page)
  await page.getByText('2 rows share their custom_index_item_id with another row').waitFor()
  await page.getByText('was in 2 answers and is stored as [redacted]').waitFor()
  expect(await page.content()).not.toContain('a-key-of-some-length')
  await inspect('run-warnings')
})
