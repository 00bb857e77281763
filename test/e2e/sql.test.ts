import { readFileSync } from 'node:fs'
import { expect, inject, it } from 'vitest'
import { openApp } from '../helpers/e2e/open-app.ts'
import { sendRuns } from '../helpers/e2e/send-rows.ts'
import { seeScreen } from '../helpers/e2e/walk.ts'

const TEXTS = ['win a free prize now', 'see you at lunch', 'good morning to all of you']

const ROWS = Array.from({ length: 60 }, (_, index) => `${TEXTS[index % 3]} ${index},u${index},p${index}`)

it('answers a statement about a run, hides content, reports errors, stops, and saves the answer', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace, inspect } = await openApp()
  const text = `text_data,user_id,post_id\n${ROWS.join('\n')}\n`
  const [runId = ''] = await sendRuns(workspace, [{ name: 'posts.csv', text }])
  await page.evaluate(`window.location.hash = '#/run/${runId}'`)
  await page.getByRole('link', { name: 'SQL', exact: true }).click()
  await seeScreen(page, 'SQL')
  const statement = page.getByRole('textbox', { name: 'Statement' })
  await page.getByText('Views and their columns').click()
  await inspect('sql-empty')
  await page.getByText('Views and their columns').click()

  await page.getByRole('button', { name: 'Ask' }).click()
  const answer = page.getByRole('region', { name: 'Answer', exact: true })
  await answer.getByText('1 row', { exact: true }).waitFor()
  await answer.getByRole('row', { name: 'succeeded 60' }).waitFor()

  await statement.fill('SELECT record, text_data, state, NULL AS absent FROM rows ORDER BY record LIMIT 40')
  await statement.press('Control+Enter')
  await answer.getByText('40 rows', { exact: true }).waitFor()
  await answer.getByText('hidden (22 characters)').first().waitFor()
  expect(await answer.textContent()).not.toContain('free prize')
  await inspect('sql-hidden')
  await page.getByRole('switch', { name: 'Show content' }).click()
  await answer.getByText('win a free prize now 0').waitFor()
  await inspect('sql-shown')

  const coming = page.waitForEvent('download')
  await answer.getByRole('button', { name: 'Save as CSV' }).click()
  const lines = readFileSync(await (await coming).path(), 'utf8')
    .trimEnd()
    .split('\r\n')
  expect(lines).toHaveLength(41)
  expect(lines[1]).toBe('1,win a free prize now 0,succeeded,')
  await page.getByText('40 rows written').waitFor()

  await statement.fill("SELECT '=1+1' AS sum")
  await page.getByRole('button', { name: 'Ask' }).click()
  await answer.getByText('1 row', { exact: true }).waitFor()
  await answer.getByRole('button', { name: 'Save as CSV' }).click()
  await page.getByText(/^1 cell has an apostrophe in front.*; JSON lines hold them unchanged\.$/).waitFor()

  await statement.fill('DELETE FROM rows')
  await page.getByRole('button', { name: 'Ask' }).click()
  await page.getByText(/cannot modify rows because it is a view/).waitFor()
  await inspect('sql-refused')

  await statement.fill(
    'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n',
  )
  await page.getByRole('button', { name: 'Ask' }).click()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('button', { name: 'Stop' }).waitFor({ state: 'detached' })
  await statement.fill('SELECT rule_name, count(*) AS n FROM rules GROUP BY 1')
  await page.getByRole('button', { name: 'Ask' }).click()
  await answer.getByRole('row', { name: 'Likely spam 20' }).waitFor()
})
