import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { openApp } from '../helpers/e2e/open-app.ts'
import { chooseFile, seeRunEnded, seeScreen } from '../helpers/e2e/walk.ts'

it('loads the sandbox, shows which thresholds hold and which are crossed, and exports the report', async () => {
  const { page, inspect } = await openApp()
  await page.getByRole('button', { name: 'Choose what to do first' }).click()
  await page.getByRole('radio', { name: 'Load test' }).check()
  await page.getByRole('radiogroup', { name: 'Pace' }).getByText('Open').click()
  await page.getByLabel('Requests a second').fill('40')
  await page.getByLabel('Duration').fill('2s')
  await page.getByLabel('Warm-up').fill('0s')
  await page.getByLabel('Thresholds').fill('http_req_failed<0.5\np(99)<')
  await page.getByText(/^Line 2, character \d+: expected/).waitFor()
  expect(await page.getByRole('button', { name: 'Continue' }).isDisabled()).toBe(true)
  await inspect('load-operation')
  await page.getByLabel('Thresholds').fill('http_req_failed<0.5\np(50)<0.001')
  await page.getByRole('button', { name: 'Continue' }).click()
  await chooseFile(page, { name: 'posts.csv', text: 'user_id,text_data\nu1,hello\nu2,good day\n' })
  await page.getByText('Load test v1 sync, open, 40 requests a second').waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Review 2 rows' }).click()
  await page.getByText('open, 40 requests a second for 2s').waitFor()
  expect(await page.getByRole('button', { name: /^Send/ }).count()).toBe(0)
  await inspect('load-review')
  await page.getByRole('button', { name: 'Start the load test' }).click()

  const progress = page.getByRole('region', { name: 'Progress' })
  await progress.getByText('Scheduled').waitFor()
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  expect(await page.getByRole('button', { name: /Pause|Resume|Retry|View results/ }).count()).toBe(0)
  await seeRunEnded(page, 'threshold failed')
  const summary = page.getByRole('region', { name: 'Summary' })
  await summary.getByText('80 in total').first().waitFor()
  const thresholds = page.getByRole('region', { name: 'Thresholds' })
  await thresholds.getByText('1 of 2 crossed').waitFor()
  await thresholds.getByRole('row', { name: /http_req_failed<0\.5 holds 0 %/ }).waitFor()
  await thresholds.getByRole('row', { name: /p\(50\)<0\.001 crossed .+ ms/ }).waitFor()
  await page.getByRole('row', { name: /^response_time/ }).waitFor()
  await page.getByRole('img', { name: /^http_req_duration percentiles over [23] s/ }).waitFor()
  await inspect('load-report')
  expect(await page.getByRole('link', { name: 'Results' }).count()).toBe(0)

  await page.getByRole('button', { name: 'Export the report' }).click()
  await seeScreen(page, 'Export')
  for (const [label, name, start] of [
    ['Report', /^posts-.+\.html$/, '<!doctype html>'],
    ['JUnit', /^posts-.+\.junit\.xml$/, '<?xml'],
    ['Histogram log', /^posts-.+\.hlog$/, '#'],
    ['CSV of seconds', /^posts-.+\.csv$/, ''],
    ['JSON lines of requests', /^posts-.+\.jsonl$/, '{'],
  ] as const) {
    await page.getByRole('radio', { name: label }).check()
    const coming = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Write the file' }).click()
    const download = await coming
    expect(download.suggestedFilename()).toMatch(name)
    expect(
      readFileSync(await download.path(), 'utf8')
        .replace('\uFEFF', '')
        .toLowerCase(),
    ).toMatch(new RegExp(`^${start.replace(/[?<>]/g, '\\$&')}`))
  }
  await inspect('load-export')
  await page.getByRole('link', { name: 'Runs' }).click()
  await page.getByText('load test · ✗ 1 of 2 thresholds crossed · v1 sync · 80 requests').waitFor()
  await inspect('runs-load')
})
