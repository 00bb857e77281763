import { expect, inject, it } from 'vitest'
import { openApp } from '../helpers/e2e/open-app.ts'
import { checkAndSend, chooseFile, seeScreen } from '../helpers/e2e/walk.ts'

it('evaluates a run by its labels, opens the rows of a cell, and moves a threshold by keys', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  await chooseFile(page, { name: 'posts.csv', text: toPosts() })
  await page.getByRole('link', { name: 'Operation' }).click()
  await page.getByRole('switch', { name: 'Legacy answer' }).check()
  await page.getByRole('button', { name: 'Continue' }).click()
  await checkAndSend(page)

  await page.getByRole('link', { name: 'Evaluate' }).click()
  await seeScreen(page, 'Evaluate')
  // The label column and the meaning of its values are guessed.
  await page.getByText('In the column truth').waitFor()
  await page.getByText('stands for Likely spam (80 rows)').waitFor()
  const matrix = page.getByRole('table', { name: 'Rows by what the rule did and should have done' })
  await matrix.getByRole('button', { name: /^60 found/ }).waitFor()
  await page.getByRole('img', { name: /^recall 75\.0 %, 95 % interval/ }).waitFor()
  await inspect('evaluate')

  const slider = page.getByRole('slider', { name: 'Threshold of spam' })
  // Bars above and below the line share a scale: except for tiny bars, rows per pixel are the same.
  const bars = await page.locator('figure svg g').evaluateAll((groups) =>
    groups.flatMap((group) => {
      const [, up, down] = [...group.querySelectorAll('rect')].map((one) =>
        Number(one.getAttribute('height')),
      )
      const [rows, others] = (group.querySelector('title')?.textContent ?? '')
        .replace(/^.*: /, '')
        .split(', ')
        .map((text: string) => Number.parseInt(text.replaceAll(/[^\d ]/g, ''), 10))
      return [
        { height: up ?? 0, rows: rows ?? 0 },
        { height: down ?? 0, rows: others ?? 0 },
      ]
    }),
  )
  const scales = bars.filter(({ height }) => height > 2).map(({ height, rows }) => height / rows)
  expect(scales.length).toBeGreaterThan(1)
  expect(Math.max(...scales) / Math.min(...scales)).toBeCloseTo(1, 5)
  await slider.focus()
  await page.keyboard.press('End')
  await expect.poll(() => slider.getAttribute('aria-valuetext')).toMatch(/^score at least 3: precision/)
  await page.keyboard.press('Home')
  await expect.poll(() => slider.getAttribute('aria-valuetext')).toMatch(/recall 100 %$/)
  await page.getByRole('button', { name: 'Best F1' }).click()

  await page.getByRole('combobox', { name: 'Separate figures for each value of' }).click()
  await page.getByRole('option', { name: 'channel' }).click()
  await page.getByRole('region', { name: 'By channel' }).getByRole('row', { name: /^web/ }).waitFor()
  await page.keyboard.press('Escape')
  await inspect('evaluate-slices')

  const missed = matrix.getByRole('button', { name: /^20 missed/ })
  await missed.focus()
  await page.keyboard.press('Enter')
  await seeScreen(page, 'Results')
  await page.getByText('Likely spam: did not trigger, and should have').waitFor()
  await page.getByText('20 rows').first().waitFor()
  const bullying = page.getByRole('group', { name: 'Score of bullying' })
  await bullying.getByText('0 in 20 rows').waitFor()
  expect(await bullying.getByRole('button').count()).toBe(0)
  await inspect('evaluate-cell-rows')
  await page.goBack()
  await seeScreen(page, 'Evaluate')
  await page.getByRole('region', { name: 'By channel' }).waitFor()

  await page.getByRole('button', { name: 'Export rows…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Export rows' })
  await dialog.getByLabel(/did not trigger, and should have/).check()
  const download = page.waitForEvent('download')
  await dialog.getByRole('button', { name: 'Write the file' }).click()
  expect((await download).suggestedFilename()).toMatch(/\.csv$/)
  await dialog.getByText('20 rows written').waitFor()
  await inspect('evaluate-export')
  await dialog.getByRole('button', { name: 'Close' }).first().click()

  await page.getByRole('button', { name: 'Change labels' }).click()
  await inspect('evaluate-labels')
  await page.getByLabel('Column', { exact: true }).selectOption({ label: 'Choose a column' })
  await page.getByText('No labels chosen').waitFor()
  await inspect('evaluate-no-labels')
  // The rows of a cell were found by the earlier labels, so the results no longer list only these.
  await page.getByRole('link', { name: 'Results' }).click()
  await page.getByText('400 rows', { exact: true }).waitFor()
  await page.getByRole('link', { name: 'Evaluate' }).click()
  await page.getByLabel('Column', { exact: true }).selectOption('channel')
  await page.getByText('No label is mapped to a rule yet').waitFor()
  await inspect('evaluate-no-rules')

  // Labels that are unrelated to the scores.
  await page.getByRole('combobox', { name: 'Rules of web' }).click()
  await page.getByRole('option', { name: 'Likely spam' }).click()
  await page.keyboard.press('Escape')
  await page.getByLabel('Another class').selectOption('spam')
  await page.getByRole('button', { name: 'Add', exact: true }).click()
  await page.getByText('No threshold has a better F1 than flagging every row.').scrollIntoViewIfNeeded()
  await inspect('evaluate-no-threshold')
})

it('asks what labels mean before it counts rows with a label and a verdict', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  const rows = ['sandbox:spam:3,abuse', 'see you at lunch,fine', 'good morning,fine', 'bullying,unclear']
  const lines = rows.flatMap((row, index) => [`user-${index},${row}`, `author-${index},${row}`])
  await chooseFile(page, { name: 'posts.csv', text: `user_id,text_data,label\n${lines.join('\n')}\n` })
  await checkAndSend(page)

  await page.getByRole('link', { name: 'Results' }).click()
  await seeScreen(page, 'Results')
  await page.getByRole('grid').getByRole('row').nth(1).click()
  await page.keyboard.press('a')
  await page.getByRole('link', { name: 'Evaluate' }).click()
  await seeScreen(page, 'Evaluate')
  await page.getByText('No label is mapped to a rule yet').waitFor()
  await page.getByText('Nothing is evaluated yet.').waitFor()
  await inspect('evaluate-unmapped-with-verdict')

  await page.getByRole('button', { name: 'Evaluate only 1 verdict' }).click()
  await page.getByText('1 of 8 rows evaluated by verdicts').waitFor()
  await inspect('evaluate-verdicts-only')

  await page.getByText('One column', { exact: true }).click()
  await page.getByRole('combobox', { name: 'Rules of abuse' }).click()
  await page.getByRole('option', { name: 'any rule' }).click()
  await page.keyboard.press('Escape')
  await page.getByText('8 of 8 rows evaluated, 1 of them by verdicts').waitFor()
  await inspect('evaluate-any-rule')
})

it('takes a column for each rule, takes shares as labels, and says which cells it could not read', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp({ width: 1440, height: 900 })
  const rows = [
    'sandbox:spam:3 buy,1.0,0,0.9',
    'sandbox:bullying:3 you,0.0,yes,0.7',
    'see you at lunch,0,no,0.2',
    'good morning,1,0,0.1',
    'sandbox:spam:3 odd,-1,0,n/a',
  ]
  const text = `user_id,text_data,spam,bullying,toxicity\n${rows.map((row, at) => `u${at},${row}`).join('\n')}\n`
  await chooseFile(page, { name: 'posts.csv', text })
  await checkAndSend(page)
  await page.getByRole('link', { name: 'Evaluate' }).click()
  await seeScreen(page, 'Evaluate')
  await page.getByRole('button', { name: 'Change labels' }).click()
  await page.getByText('A column for each rule', { exact: true }).click()
  // Only a column whose cells all say yes or no is guessed.
  await page.getByRole('combobox', { name: 'Rule of bullying' }).waitFor()
  await page.getByLabel('Add a column').selectOption('spam')
  await page.getByText(/^1 column left out: name the rule/).waitFor()
  await page.getByRole('combobox', { name: 'Rule of spam' }).fill('Likely spam')
  await page.keyboard.press('Escape')
  await page.getByText('Are these the labels?').waitFor()
  await inspect('evaluate-rule-columns-guessed')
  await page.getByRole('button', { name: 'Use these columns' }).click()
  await page.getByText('4 of 5 rows evaluated').waitFor()
  await page.getByText('1 row with -1 in spam counts as a row without a label').waitFor()
  await inspect('evaluate-rule-columns')
  await page.getByLabel('Add a column').selectOption('toxicity')
  await page.getByRole('combobox', { name: 'Rule of toxicity' }).fill('any rule')
  await page.keyboard.press('Escape')
  await page.getByLabel('What is a yes in toxicity').fill('>=0.5')
  await page.getByText('1 row with n/a in toxicity counts as a row without a label').waitFor()
  await inspect('evaluate-rule-shares')

  await page.getByText('One column', { exact: true }).click()
  await page.getByLabel('Column', { exact: true }).selectOption('toxicity')
  await page.getByLabel('Labels that are shares').fill('>=0.5')
  await page.getByRole('button', { name: 'Add the share' }).click()
  await page.getByRole('combobox', { name: 'Rules of >=0.5' }).waitFor()
  await page.getByText('5 of 5 rows evaluated').waitFor()
  await page.getByText('n/a', { exact: true }).first().waitFor()
  await inspect('evaluate-share')
})

/** 400 posts; the sandbox finds three of every four that are labelled as spam. */
function toPosts(): string {
  const lines = Array.from({ length: 400 }, (_, index) => {
    const isSpam = index % 5 === 0
    const text = !isSpam
      ? `see you at lunch ${index}`
      : index % 20 === 0
        ? `nothing to see here ${index}`
        : `win a free prize now claim your cash prize ${index}`
    return `${text},user${index},post-${index},${isSpam ? 'spam' : 'ham'},${index % 2 === 0 ? 'web' : 'app'}`
  })
  return `text_data,user_id,post_id,truth,channel\n${lines.join('\n')}\n`
}
