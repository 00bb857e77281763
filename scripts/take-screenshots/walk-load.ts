import type { Page } from 'playwright-core'
import { chooseFile, seeRunEnded, seeScreen } from '../../test/helpers/e2e/walk.ts'
import type { Camera } from './camera.ts'

const ROWS = Array.from({ length: 40 }, (_, i) => `user-${i},${i % 4 === 0 ? 'you idiot' : 'a good day'}`)

/** A load test from its pace to its report: what is typed, what is wrong, how it goes, what it came to. */
export async function walkLoad(page: Page, take: Camera): Promise<void> {
  await page.getByRole('button', { name: 'Choose what to do first' }).click()
  await page.getByRole('radio', { name: 'Load test' }).check()
  await take('90-operation-load')
  const pace = page.getByRole('radiogroup', { name: 'Pace' })
  await pace.getByText('Stages').click()
  await page.getByRole('textbox', { name: 'Stages' }).fill('10@soon')
  await page.getByLabel('Thresholds').fill('p(99)<\nhttp_req_failed<0.01')
  await page.getByText(/^Line 1, character/).waitFor()
  await take('91-operation-load-mistakes')
  await page.getByRole('textbox', { name: 'Stages' }).fill('20@3s,20..80@6s,80@9s')
  await page.getByLabel('Warm-up').fill('1s')
  await page.getByLabel('Thresholds').fill('p(99)<500\nhttp_req_failed<0.01\np(50)<0.5')
  await page.getByRole('button', { name: 'Continue' }).click()
  await chooseFile(page, { name: 'posts.csv', text: `user_id,text_data\n${ROWS.join('\n')}\n` })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: /^Review/ }).click()
  await page.getByText('"text_data"').waitFor()
  await take('92-review-load')
  await page.getByRole('button', { name: 'Start the load test' }).click()
  await page.getByRole('row', { name: /^p\(99\)<500/ }).waitFor()
  await page.getByRole('img', { name: /^response_time/ }).waitFor()
  await take('93-load-measuring')
  await seeRunEnded(page, 'threshold failed')
  await page.getByRole('region', { name: 'Summary' }).waitFor()
  await take('94-load-report')
  await page.getByRole('region', { name: 'The machine that sent' }).scrollIntoViewIfNeeded()
  await take('95-load-report-end')
  await page.getByRole('button', { name: 'Export the report' }).click()
  await seeScreen(page, 'Export')
  await take('96-load-export')
  await page.getByRole('link', { name: 'Runs' }).click()
  await page.getByText(/load test · ✗ 1 of 3/).waitFor()
  await take('97-runs-load')
}
