import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { planSchema } from '../../src/shared/plan/plan.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import { seeScreen } from '../helpers/e2e/walk.ts'
import { createInProcessRuns, RUN_KEY } from '../helpers/in-process-runs.ts'
import { withSandbox } from '../helpers/sandbox.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

const TEXTS = ['win a free prize now', 'claim your cash prize now', 'see you at lunch', 'good morning']
const ROWS = Array.from({ length: 40 }, (_, index) => {
  const text = TEXTS[index % TEXTS.length] ?? ''
  return `${text} ${index},u${index},p${index},${/prize/.test(text) ? 'spam' : 'ham'}`
})

/** Two runs of one source, with a rule removed between them, and two load tests. */
async function sendRuns(workspace: string): Promise<void> {
  const sandbox = await withSandbox({ apiKeys: [RUN_KEY] })
  const runs = createInProcessRuns(workspace)
  const file = join(createTemporaryFolder(), 'posts.csv')
  writeFileSync(file, `text_data,user_id,post_id,truth\n${ROWS.join('\n')}\n`)
  const send = async (more: object) => {
    await sandbox.admin('DELETE', '/tasks')
    const plan = planSchema.parse({
      connection: { baseUrl: sandbox.baseUrl },
      source: { path: file },
      operation: { kind: 'task', legacy: true },
      ...more,
    })
    await runs.start(plan).ended
  }
  const load = { pace: { kind: 'closed', concurrency: 2 }, requests: 60 }
  await send({ name: 'before' })
  await send({ name: 'load one', load })
  await sandbox.admin('DELETE', '/rules/rule-spam')
  await send({ name: 'after' })
  await send({ name: 'load two', load })
}

it('compares runs by decisions, labels and latency, with a baseline, and shows the trend of a source', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace, inspect } = await openApp()
  await sendRuns(workspace)
  await page.getByRole('link', { name: 'Compare', exact: true }).click()
  await page.getByText('Choose two runs').waitFor()
  await inspect('compare-empty')

  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  await page.getByRole('checkbox', { name: 'Choose after to compare' }).check()
  await page.getByText('1 run chosen; choose another one to compare').waitFor()
  await page.getByRole('checkbox', { name: 'Choose before to compare' }).check()
  await page.getByLabel('Search').fill('after')
  await page.getByText('2 runs chosen, 1 not shown below: before').waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByText('2 runs chosen', { exact: true }).waitFor()
  await page.getByRole('region', { name: 'Chosen runs' }).getByRole('button', { name: 'Compare' }).click()
  await seeScreen(page, 'Compare')
  await page.getByRole('heading', { name: '20 of 40 rows changed (50.0 %).' }).waitFor()
  await page.getByText('40 in both runs, joined by post_id; 40 answered in both').waitFor()
  await page.getByText('hardly chance').waitFor()
  await inspect('compare-decisions')

  await page.getByRole('button', { name: 'Likely spam: rows that no longer trigger it: 20' }).click()
  const grid = page.getByRole('grid', { name: 'Changed rows' })
  await grid.getByRole('row', { name: /^2 − Likely spam p0 hidden \(22 characters\)/ }).waitFor()
  await grid.focus()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  const both = page.getByRole('region', { name: 'Both answers', exact: true })
  await both.getByRole('region', { name: 'Answer in A' }).getByText('Likely spam only in A').waitFor()
  await both.getByRole('region', { name: 'Answer in B' }).getByText('none').first().waitFor()
  expect(await both.textContent()).not.toContain('claim your cash prize')
  await inspect('compare-both-answers')
  await both.getByRole('button', { name: 'Reveal' }).click()
  await both.getByText('claim your cash prize now 1').first().waitFor()
  await both.getByRole('button', { name: 'Close' }).click()

  const coming = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Export these rows' }).click()
  const lines = readFileSync(await (await coming).path(), 'utf8')
    .trim()
    .split(/\r?\n/)
  expect(lines).toHaveLength(21)
  expect(lines[1]).toContain('Likely spam')
  await page.getByText(/20 rows written/).waitFor()

  // Rows joined by number have no key to show.
  const key = grid.getByRole('columnheader', { name: 'Key' })
  await key.waitFor()
  const join = async (how: string) => {
    await page.getByRole('combobox', { name: 'How rows are joined' }).click()
    await page.getByRole('option', { name: how }).click()
  }
  await join('Join rows by number')
  await key.waitFor({ state: 'detached' })
  await grid.getByRole('row', { name: /^2 − Likely spam hidden/ }).waitFor()
  await join('Join rows automatically')
  await key.waitFor()

  await page.getByRole('tab', { name: 'By labels' }).click()
  const field = (name: string) => page.getByRole('combobox', { name, exact: true })
  await field('Label 1').waitFor()
  expect(await field('Label column').inputValue()).toBe('truth')
  expect(await field('Label 1').inputValue()).toBe('spam')
  expect(await field('Rule of label 1').inputValue()).toBe('Likely spam')
  await page.getByRole('button', { name: 'Remove label 1' }).click()
  await page.getByRole('button', { name: 'Compare by labels' }).click()
  const refusal = page.getByRole('alert').filter({ hasText: /labels: (ham, spam|spam, ham)/ })
  await refusal.waitFor()
  expect(await refusal.textContent()).not.toContain('`')
  await page.getByRole('button', { name: 'Map a label to a rule' }).click()
  await field('Label 1').click()
  await page.getByRole('option', { name: 'spam', exact: true }).click()
  await page.getByText('Name a rule, or remove the label').waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'Compare by labels' }).isDisabled()).toBe(true)
  await field('Rule of label 1').fill('Likely spam')
  await page.getByRole('button', { name: 'Compare by labels' }).click()
  await page.getByRole('img', { name: 'Change of Recall of Likely spam: −100.0 points' }).waitFor()
  await inspect('compare-labels')
  const changed = page.getByText('The figures below are still by the labels as they were before this change.')
  expect(await changed.count()).toBe(0)
  await field('Label 1').fill('ham')
  await changed.waitFor()
  await page.getByRole('button', { name: 'Compare by labels' }).click()
  await page.getByText('count as rows that should trigger none: spam (20 rows).').waitFor()
  await field('Label 1').fill('spam')
  await page.getByRole('button', { name: 'Compare by labels' }).click()
  await page.getByRole('img', { name: 'Change of Recall of Likely spam: −100.0 points' }).waitFor()

  await page.getByRole('tab', { name: 'Latency' }).click()
  await page
    .getByRole('img', { name: 'Percentiles of http_req_duration of 2 runs; the table has the figures' })
    .waitFor()
  await inspect('compare-latency')
  await page.getByRole('tab', { name: 'By labels' }).click()
  await field('Label 1').waitFor()
  expect(await field('Label 1').inputValue()).toBe('spam')
  await page.getByRole('img', { name: 'Change of Recall of Likely spam: −100.0 points' }).waitFor()

  await page.getByRole('button', { name: 'Not a baseline' }).first().click()
  await page.getByRole('menuitem', { name: 'Make it the baseline of its source' }).click()
  await page.getByRole('button', { name: 'default', exact: true }).waitFor()
  await page.getByRole('button', { name: 'after', exact: true }).click()
  await seeScreen(page, 'after')
  await page.getByRole('button', { name: 'Compare', exact: true }).click()
  await page.getByRole('menuitem', { name: 'With the baseline default' }).click()
  await page.getByRole('heading', { name: '20 of 40 rows changed (50.0 %).' }).waitFor()

  await page.getByRole('button', { name: 'Remove after from the comparison' }).click()
  await page.getByRole('button', { name: 'Remove before from the comparison' }).click()
  for (const [label, name] of [
    ['Earlier run (A)', /^Load test: load one/],
    ['Other run', /^Load test: load two/],
    ['Add a run', /^after/],
  ] as const) {
    await page.getByRole('combobox', { name: label }).click()
    await page.getByRole('option', { name }).click()
  }
  await page.getByRole('img', { name: /^Percentiles of http_req_duration of 3 runs/ }).waitFor()
  await page.getByRole('heading', { name: 'C compared with A' }).waitFor()
  await page.getByText('Distribution', { exact: true }).click()
  await page.getByRole('img', { name: /^Distribution of http_req_duration of 3 runs/ }).waitFor()
  await inspect('compare-loads')

  await page.getByRole('button', { name: 'Trend of this source' }).click()
  await seeScreen(page, 'Trend')
  await page.getByRole('link', { name: /^Open before, .+: Likely spam 50\.0 %$/ }).waitFor()
  await inspect('trend')
  await page.getByLabel('Runs of').selectOption('sources with similar names')
  const name = page.getByLabel('Name of the source')
  await name.fill('p*s.csv')
  await page.getByRole('button', { name: 'Show', exact: true }).click()
  await page.getByText('All runs of sources called p*s.csv').waitFor()
  await page.getByRole('link', { name: /^Open before, .+: Likely spam 50\.0 %$/ }).waitFor()
  await inspect('trend-by-name')
  await page.getByRole('link', { name: /^Open before, .+: Likely spam 50\.0 %$/ }).press('Enter')
  await seeScreen(page, 'before')
  await page.goBack()
  await page.getByText('All runs of sources called p*s.csv').waitFor()
  expect(await name.inputValue()).toBe('p*s.csv')
  await page.getByText('Load tests', { exact: true }).click()
  await page.getByRole('link', { name: /^Open load one, / }).press('Enter')
  await seeScreen(page, 'load one')
  await page.goBack()
  await page.getByRole('link', { name: /^Open load two, / }).waitFor()
})
