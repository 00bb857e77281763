import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { WORKER_URLS } from '../../src/main/program-files.ts'
import { startSandboxThread } from '../../src/main/sandbox/start-sandbox-thread.ts'
import { chooseFile, seeRunEnded, seeScreen } from '../../test/helpers/e2e/walk.ts'
import { createWorkbook } from '../../test/main/engine/source/workbook-files.ts'
import type { Camera } from './camera.ts'

const KEY = 'screenshot-key'

/** Runs of every operation, and the sources that they are made of. */
export async function walkRuns(page: Page, take: Camera): Promise<void> {
  await runAsync(page, take)
  await runTerms(page, take)
  await runIndex(page, take)
  await runAppeals(page, take)
  await lookAtFolder(page, take)
  await lookAtWorkbook(page, take)
  await page.getByRole('link', { name: 'Runs' }).click()
  await take('69-home-operations')
}

async function runAsync(page: Page, take: Camera): Promise<void> {
  const service = await startSandboxThread(WORKER_URLS.sandbox, {
    apiKeys: [KEY],
    callbacks: 'delay=1500ms±1400ms,shuffle,double=5%,early=5%,drop=2%',
  })
  try {
    await chooseOperation(page, 'Submit content')
    await page.getByRole('radio', { name: 'Later, by callback (async)' }).check()
    await page.getByRole('radio', { name: 'A service' }).check()
    await page.getByLabel('Base URL').fill(service.baseUrl)
    await page.getByLabel('API key', { exact: true }).fill(KEY)
    await page.getByLabel('Overdue after (minutes)').fill('1')
    const lines = Array.from(
      { length: 400 },
      (_, i) => `u${i},Message ${i}: ${i % 7 ? 'hello' : 'you idiot'}`,
    )
    await chooseFile(page, { name: 'comments.csv', text: `user_id,text_data\n${lines.join('\n')}\n` })
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.getByRole('button', { name: /^Review/ }).click()
    await page.getByText('"callback_url"').waitFor()
    await page.getByLabel('In flight').fill('20')
    await take('50-review-async')
    await page.getByRole('button', { name: /^Send 400 rows/ }).click()
    await page.locator('main header').getByText('awaiting', { exact: true }).waitFor()
    await page.getByRole('row', { name: /^callback_latency.* ms/ }).waitFor()
    await take('51-run-awaiting')
    await page.getByRole('button', { name: 'Stop waiting' }).click()
    await seeRunEnded(page, 'interrupted')
    await take('52-run-stopped-waiting')
    await page.getByRole('button', { name: 'Resume…' }).click()
    await page.getByRole('dialog').waitFor()
    await take('53-resume-awaiting')
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'View results' }).click()
    await page.getByRole('row', { name: /^5 / }).waitFor()
    await page.getByRole('grid').focus()
    for (const key of ['j', 'j', ' ', 'Enter']) await page.keyboard.press(key)
    await page
      .getByRole('heading', { name: /^Callback/ })
      .first()
      .waitFor()
    await take('54-results-callback')
  } finally {
    await service.close()
  }
}

async function runTerms(page: Page, take: Camera): Promise<void> {
  await chooseOperation(page, 'Add terms')
  await page.getByRole('radio', { name: 'The sandbox' }).check()
  await page.getByRole('button', { name: 'sandbox_terms' }).click()
  const terms = Array.from({ length: 120 }, (_, i) => `term ${i},note ${i}`)
  const text = `term,notes\nGift Card,new notes\n${terms.join('\n')}\n${'x'.repeat(1_100)},too long\nTERM 3,again\n`
  await chooseFile(page, { name: 'words.csv', text })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Review/ }).waitFor()
  await take('55-check-terms')
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByText('"terms"').waitFor()
  await take('56-review-terms')
  await page.getByRole('button', { name: /^Send 121 rows/ }).click()
  await seeRunEnded(page)
  await take('57-run-terms')
  await page.getByRole('button', { name: 'pre-existing' }).click()
  await page.getByText('1 row', { exact: true }).waitFor()
  await take('58-results-terms')
}

async function runIndex(page: Page, take: Camera): Promise<void> {
  await chooseOperation(page, 'Add to index')
  await page.getByRole('button', { name: 'sandbox-index' }).click()
  const lines = Array.from(
    { length: 40 },
    (_, i) => `{"url":"https://cdn.example.com/${i}.png","label":"logo ${i}"}`,
  )
  await chooseFile(page, { name: 'logos.jsonl', text: lines.join('\n') })
  await take('59-source-jsonl')
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('label becomes').selectOption('metadata.label')
  await take('60-mapping-index')
  await page.getByRole('button', { name: 'Check all rows' }).click()
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByRole('button', { name: /^Send 40 rows/ }).click()
  await seeRunEnded(page)
  await take('61-run-index')
  await page.getByRole('button', { name: 'View results' }).click()
  await page.getByRole('row', { name: /^5 / }).waitFor()
  await take('62-results-index')
}

async function runAppeals(page: Page, take: Camera): Promise<void> {
  await chooseOperation(page, 'Appeal status')
  const ids = Array.from({ length: 11 }, (_, i) => `appeal-${i + 1}`)
  await chooseFile(page, { name: 'appeals.csv', text: `appeal_id\n${ids.join('\n')}\n` })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByText('/appeals/status/').waitFor()
  await take('63-review-appeals')
  await page.getByRole('button', { name: /^Send 11 rows/ }).click()
  await seeRunEnded(page)
  await take('64-run-appeals')
  await page.getByRole('button', { name: 'View results' }).click()
  await page.getByRole('grid').focus()
  await page.keyboard.press('Enter')
  await page.getByRole('complementary').getByRole('heading', { name: 'Tries' }).waitFor()
  await take('65-results-appeals')
}

async function lookAtFolder(page: Page, take: Camera): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pictures-'))
  try {
    mkdirSync(join(folder, 'march'))
    writeFileSync(join(folder, 'hello.txt'), 'hello there')
    writeFileSync(join(folder, 'march', 'whole.json'), '{"text_data":"whole","user_id":"w1"}')
    for (const name of ['cat.png', 'dog.jpg', 'walk.mp4']) writeFileSync(join(folder, 'march', name), name)
    await chooseOperation(page, 'Submit content')
    await page.getByRole('radio', { name: 'At once (sync)' }).check()
    await page.getByTestId('folder').setInputFiles(folder)
    await page.getByText('rows parsed').waitFor()
    await take('66-source-folder')
    await page.getByRole('button', { name: 'Continue' }).click()
    await seeScreen(page, 'Mapping')
    await take('67-mapping-folder')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function lookAtWorkbook(page: Page, take: Camera): Promise<void> {
  const text = (value: string) => `<c t="inlineStr"><is><t xml:space="preserve">${value}</t></is></c>`
  const row = (...cells: string[]) => `<row>${cells.map(text).join('')}</row>`
  const book = await createWorkbook({
    sheets: [
      {
        name: 'March',
        rows: row('https://cdn.example.com/a.png', 'u1') + row('https://cdn.example.com/b.png', 'u2'),
      },
      { name: 'April', rows: '' },
    ],
  })
  await chooseFile(page, { name: 'pictures.xlsx', text: book })
  await page.getByText('The first line looks like a row').waitFor()
  await take('68-source-workbook')
}

async function chooseOperation(page: Page, title: string): Promise<void> {
  await page.getByRole('link', { name: 'Operation' }).click()
  await seeScreen(page, 'Operation')
  await page.getByRole('radio', { name: title, exact: true }).check()
}
