import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, inject, it, onTestFinished } from 'vitest'
import { openApp } from '../helpers/e2e/open-app.ts'
import { chooseFile, openStep, seeRunEnded, seeScreen, switchTo } from '../helpers/e2e/walk.ts'

/**
 * Starts a service that refuses each post with a message that quotes its text, some without a code, async
 * posts in their callback; returns its address.
 */
async function startQuotingService(): Promise<string> {
  const server = createServer(async (request, response) => {
    const post = JSON.parse(await text(request)) as Record<'post_id' | 'text_data' | 'callback_url', string>
    const message = `text_data is too rude: ${post.text_data.slice(0, 20)}`
    response.setHeader('content-type', 'application/json')
    if (post.callback_url !== undefined) {
      response.end(JSON.stringify({ message: 'accepted', task_id: randomUUID() }))
      const body = JSON.stringify({ post_id: post.post_id, error_code: 'INVALID_PARAM', message })
      await fetch(post.callback_url, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body,
      })
      return
    }
    response.statusCode = 400
    const code = post.text_data.includes('knife') ? { error_code: 'INVALID_PARAM' } : {}
    response.end(JSON.stringify({ ...code, message }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

it("hides what the service's messages quote of the content until it is revealed", {
  skip: !inject('walksAll'),
}, async () => {
  const baseUrl = await startQuotingService()
  const { page, inspect } = await openApp()
  const rows = 'p1,ana,I will attack you with a knife\np2,ben,You absolute idiot of a man\n'
  await chooseFile(page, { name: 'posts.csv', text: `post_id,user_id,text_data\n${rows}` })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('radio', { name: 'A service' }).check()
  await page.getByLabel('Base URL').fill(baseUrl)
  await page.getByLabel('API key', { exact: true }).fill('a-key')
  await page.getByRole('button', { name: /^Send 2 rows/ }).click()
  await seeRunEnded(page)
  const errors = page.getByRole('region', { name: 'Errors' })
  await expect.poll(() => errors.getByText('text_data is too rude: …').count()).toBe(2)
  expect(await page.content()).not.toMatch(/attack|absolute/)
  await inspect('run-quoting')
  const shown = errors.getByRole('switch', { name: 'Show content' })
  await shown.check()
  await errors.getByText('text_data is too rude: I will attack you wi').waitFor()
  await shown.uncheck()

  await page.getByRole('link', { name: 'Results' }).click()
  await seeScreen(page, 'Results')
  await page.getByRole('button', { name: /^400 text_data is too rude: …/ }).waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press('Enter')
  const drawer = page.getByRole('complementary', { name: 'Row 2' })
  await drawer.getByText('"message": "text_data is too rude: …"').waitFor()
  expect(await page.content()).not.toMatch(/attack|absolute/)
  await inspect('results-quoting')
  await drawer.getByRole('button', { name: 'Reveal' }).click()
  await drawer.getByText('text_data is too rude: I will attack you wi', { exact: true }).waitFor()
})

it('hides what load test errors and callbacks quote of the content until it is revealed', {
  skip: !inject('walksAll'),
}, async () => {
  const baseUrl = await startQuotingService()
  const { page } = await openApp()
  const seeNoQuote = async () =>
    expect(/.{0,99}(attack|idiot)/.exec(await page.content())?.[0] ?? null).toBeNull()
  await page.getByRole('button', { name: 'Choose what to do first' }).click()
  await page.getByRole('radio', { name: 'Load test' }).check()
  await page.getByLabel('Duration').fill('1s')
  await page.getByLabel('Warm-up').fill('0s')
  await page.getByRole('radio', { name: 'A service' }).check()
  await page.getByLabel('Base URL').fill(baseUrl)
  await page.getByLabel('API key', { exact: true }).fill('a-key')
  await page.getByRole('button', { name: 'Continue' }).click()
  const rows = 'p1,ana,I will attack you with a knife\np2,ben,You absolute idiot of a man\n'
  await chooseFile(page, { name: 'posts.csv', text: `post_id,user_id,text_data\n${rows}` })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('button', { name: 'Start the load test' }).click()
  const errors = page.getByRole('region', { name: 'Errors' })
  await expect.poll(() => errors.getByText('text_data is too rude: …').count()).toBe(2)
  await page.getByRole('button', { name: 'Export the report' }).waitFor()
  await seeNoQuote()
  await switchTo(errors.getByRole('switch', { name: 'Show content' }), true)
  await errors.getByText('text_data is too rude: I will attack you wi').waitFor()

  await openStep(page, 'Operation')
  await page.getByRole('radio', { name: 'Submit content' }).check()
  await page.getByRole('radio', { name: 'Later, by callback (async)' }).check()
  await chooseFile(page, { name: 'later.csv', text: `post_id,user_id,text_data\n${rows}` })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('button', { name: /^Send 2 rows/ }).click()
  await seeRunEnded(page)
  await page.getByRole('link', { name: 'Callbacks' }).click()
  await page.getByRole('button', { name: 'Open the callback for row 2' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('"message": "text_data is too rude: …"').waitFor()
  await seeNoQuote()
  await dialog.getByRole('button', { name: 'Show the content' }).click()
  await dialog.getByText('text_data is too rude: I will attack you wi').waitFor()
})
