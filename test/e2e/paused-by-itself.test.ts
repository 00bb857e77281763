import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { expect, inject, it, onTestFinished } from 'vitest'
import { openApp } from '../helpers/e2e/open-app.ts'
import { checkSample, chooseFile, seeRunEnded } from '../helpers/e2e/walk.ts'
import { startRefusingService } from '../helpers/refusing-service.ts'

/** Starts a service that answers each post as the function says for its number; returns its address. */
async function startService(status: number, toAnswer: (post: number) => object): Promise<string> {
  let posts = 0
  const server = createServer((request, response) => {
    request.resume().on('end', () => {
      posts += 1
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(toAnswer(posts)))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function sendSample(page: Page, baseUrl: string): Promise<void> {
  await checkSample(page)
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('radio', { name: 'A service' }).check()
  await page.getByLabel('Base URL').fill(baseUrl)
  await page.getByLabel('API key', { exact: true }).fill('a-key')
  await page.getByRole('button', { name: /^Send 364 rows/ }).click()
}

it('asks whether a service rewrites ids, continues on a click, and stops comparing them', {
  skip: !inject('walksAll'),
}, async () => {
  const baseUrl = await startService(200, (post) => ({
    task_id: `t${post}`,
    post_id: `srv-${post}`,
    triggered_rules: [],
  }))
  const { page, inspect } = await openApp()
  await sendSample(page, baseUrl)
  const goOn = page.getByRole('button', { name: 'It rewrites ids: go on' })
  await goOn.waitFor()
  await inspect('run-ids-rewritten')
  await goOn.click()
  await seeRunEnded(page)
  await inspect('run-ids-accepted')
  expect(await goOn.count()).toBe(0)
})

it('pauses on errors, names the rows each time, and continues despite them on a click', {
  skip: !inject('walksAll'),
}, async () => {
  const baseUrl = await startService(400, () => ({ error: true, error_code: 'INVALID_PARAM' }))
  const { page, inspect } = await openApp()
  await sendSample(page, baseUrl)
  await page.getByText(/^100 % of the first \d+ rows did not succeed \(over 20 %\)$/).waitFor()
  await page.getByRole('button', { name: 'Resume', exact: true }).click()
  await page.getByText(/^100 % of the \d+ rows since it went on did not succeed \(over 20 %\)$/).waitFor()
  await inspect('run-paused-over-errors')
  await page.getByRole('button', { name: 'Go on despite errors' }).click()
  await seeRunEnded(page)
})

it('shows whose answers they are once the run has ended, and not while it is being sent', {
  skip: !inject('walksAll'),
}, async () => {
  const server = await startRefusingService()
  const { page } = await openApp()
  const rows = Array.from(
    { length: 60 },
    (_, row) => `u${row},${row % 2 === 0 ? 'refuse' : 'take'} this ${row}`,
  )
  await chooseFile(page, { name: 'posts.csv', text: `user_id,text_data\n${rows.join('\n')}\n` })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('radio', { name: 'A service' }).check()
  await page.getByLabel('Base URL').fill(server.baseUrl)
  await page.getByLabel('API key', { exact: true }).fill('a-key')
  await page.getByRole('button', { name: /^Send 60 rows/ }).click()
  const goOn = page.getByRole('button', { name: 'Go on despite errors' })
  await goOn.waitFor()
  const answers = page.getByRole('region', { name: 'Whose answers they are' })
  expect(await answers.count()).toBe(0)
  await goOn.click()
  await seeRunEnded(page)
  await answers.getByText('Verified30').waitFor()
})
