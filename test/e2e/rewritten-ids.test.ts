import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, inject, it, onTestFinished } from 'vitest'
import { openApp } from '../helpers/e2e/open-app.ts'
import { checkSample, seeRunEnded } from '../helpers/e2e/walk.ts'

/** Starts a service that answers each post under an id of its own; returns its address. */
async function startRewritingService(): Promise<string> {
  let posts = 0
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      posts += 1
      const answer = { task_id: `t${posts}`, post_id: `srv-${posts}`, triggered_rules: [] }
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify(answer))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it('asks whether a service rewrites ids, goes on by a press, and compares them no more', {
  skip: !inject('walksAll'),
}, async () => {
  const baseUrl = await startRewritingService()
  const { page, inspect } = await openApp()
  await checkSample(page)
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('radio', { name: 'A service' }).check()
  await page.getByLabel('Base URL').fill(baseUrl)
  await page.getByLabel('API key', { exact: true }).fill('a-key')
  await page.getByRole('button', { name: /^Send 364 rows/ }).click()
  const goOn = page.getByRole('button', { name: 'It rewrites ids: go on' })
  await goOn.waitFor()
  await inspect('run-ids-rewritten')
  await goOn.click()
  await seeRunEnded(page)
  await inspect('run-ids-accepted')
  expect(await goOn.count()).toBe(0)
})
