import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { holdCalls } from '../helpers/e2e/held-messages.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import { chooseFile, openStep, seeRunEnded, seeScreen, sendEverything } from '../helpers/e2e/walk.ts'

const TEXT = `text_data,user_id,post_id,url
hello there,u_1,p1,
how are you,,p2,
a picture and its text,u3,p3,https://example.com/3.png
fine thanks,u4,p1,
all is well,u;5,p5,
see you,,p6,
`

it('corrects rows on Check, one by one and by cause, undoes some, sends them, and corrects the rest as a retry', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  await openStep(page, 'Source')
  await chooseFile(page, { name: 'posts.csv', text: TEXT })
  await page.getByRole('button', { name: 'Continue' }).click()
  await seeScreen(page, 'Check')
  await page.getByRole('button', { name: 'Review 0 rows' }).waitFor()
  await inspect('check-errors')
  await page
    .locator('[data-code="forbidden_character"]')
    .getByRole('button', { name: 'Set a value…' })
    .click()
  const valueDialog = page.getByRole('dialog')
  await expect.poll(() => valueDialog.getByRole('button', { name: 'Set the value' }).isDisabled()).toBe(true)
  await valueDialog.getByLabel('Leave the field empty').check()
  await inspect('check-leave-empty')
  await expect.poll(() => valueDialog.getByRole('button', { name: 'Empty the field' }).isEnabled()).toBe(true)
  await valueDialog.getByRole('button', { name: 'Cancel' }).click()

  await page.getByRole('button', { name: 'Replace _ and ; reversibly' }).click()
  await page.getByRole('button', { name: 'Review 2 rows' }).waitFor()
  await page.getByRole('button', { name: 'Edit row 3' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('user_id').fill('ann')
  await inspect('check-edit')
  await dialog.getByRole('button', { name: 'Correct' }).click()
  await page.getByRole('button', { name: 'Review 3 rows' }).waitFor()
  await page.getByRole('button', { name: 'Edit row 7' }).click()
  await dialog.getByLabel('user_id').fill('bob')
  await dialog.getByRole('button', { name: 'Correct' }).click()
  await page.getByRole('button', { name: 'Review 4 rows' }).waitFor()
  await page.getByRole('button', { name: 'Split into two rows' }).click()
  await page.getByRole('button', { name: 'Review 6 rows' }).waitFor()
  await inspect('check-corrected')
  await page.getByRole('button', { name: 'Undo: Row 3, user_id' }).click()
  await page.getByRole('button', { name: 'Review 5 rows' }).waitFor()

  await page.getByRole('button', { name: 'Review 5 rows' }).click()
  await page.getByText('"u~5F1"').waitFor()
  await page.getByRole('button', { name: 'Send 5 rows' }).click()
  await seeRunEnded(page)
  await page.getByRole('button', { name: 'View results' }).click()
  await page.getByRole('row', { name: /^4a / }).waitFor()
  await page.getByRole('row', { name: /^4b / }).dblclick()
  await page.getByText('record 7, url of a split record').waitFor()
  await inspect('results-split')
  await page.keyboard.press('Escape')
  await page.getByRole('row', { name: /^2 / }).dblclick()
  await page.getByRole('heading', { name: 'Corrected' }).waitFor()
  await inspect('results-corrected')
  await page.keyboard.press('Escape')

  await page.getByRole('link', { name: 'Overview' }).click()
  const before = await page.locator('tr[data-state="succeeded"] [data-count]').getAttribute('data-count')
  await page.getByRole('link', { name: 'Results' }).click()
  await page.getByRole('button', { name: 'Correct and retry…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Check 2 rows' }).click()
  await seeScreen(page, 'Correct and retry')
  // The retry does not include this row, but its run does.
  await page.getByRole('button', { name: 'Undo: Row 7, user_id' }).waitFor()
  await page.getByRole('button', { name: 'Set a value…' }).click()
  await page.getByRole('dialog').getByLabel('user_id').fill('anonymous-{{row}}')
  await inspect('correct-value')
  await page.getByRole('dialog').getByRole('button', { name: 'Set the value' }).click()
  await page.getByRole('button', { name: 'Retry 1 row' }).waitFor()
  // Whoever leaves midway finds the way back from the run, which says that nothing is being sent.
  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  await page.getByRole('button', { name: 'posts.csv', exact: true }).click()
  await page.getByText(/^Retry of .*: ready, 0 of 2 rows succeeded$/).waitFor()
  await page.getByRole('button', { name: /^Retry of / }).click()
  await page.getByRole('button', { name: 'Correct the rows…' }).click()
  await seeScreen(page, 'Correct and retry')
  await page.getByRole('button', { name: 'Retry 1 row' }).waitFor()
  // A reload forgets what was chosen for the retry, so it is asked again.
  await page.reload()
  await page.getByRole('button', { name: 'Retry 1 row' }).waitFor()
  await page.getByRole('button', { name: 'Leave these rows out' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Check 2 rows' }).click()
  await page.getByText('Left out', { exact: true }).waitFor()
  await page.getByText('1 row can be sent; 1 left out.').waitFor()
  await page.getByRole('region', { name: 'Rows of this retry' }).waitFor()
  await inspect('correct')
  await page.getByRole('button', { name: 'Retry 1 row' }).click()
  await seeRunEnded(page)
  // The correction is part of the run and links to its screens.
  await page.getByText(/^Correction of .*: 1 row, 1 of 1 request succeeded$/).waitFor()
  await inspect('run-corrected')
  const succeeded = page.locator('tr[data-state="succeeded"] [data-count]')
  await expect.poll(() => succeeded.getAttribute('data-count')).toBe(String(Number(before) + 1))
})

it('counts the warnings of corrected rows on Overview once they are sent', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  await openStep(page, 'Source')
  const text = 'text_data,user_id,post_id\nhello,u1,p\u200b1\nhello again,u_2,p\u200b2\n'
  await chooseFile(page, { name: 'posts.csv', text })
  await page.getByRole('button', { name: 'Continue' }).click()
  await sendEverything(page)
  await seeRunEnded(page)
  await page.getByText(/^1 row: .*invisible/i).waitFor()
  await page.getByRole('button', { name: 'Correct and retry…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Check 1 row' }).click()
  await page.getByRole('button', { name: 'Replace _ and ; reversibly' }).click()
  await page.getByRole('button', { name: 'Retry 1 row' }).click()
  await page.getByText(/^Correction of .*: 1 row, 1 of 1 request succeeded$/).waitFor()
  await page.getByText(/^2 rows: .*invisible/i).waitFor()
})

it('shows the results as they were to whoever goes back from a correction, and keeps what was corrected', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  await openStep(page, 'Source')
  await chooseFile(page, { name: 'posts.csv', text: 'text_data,user_id\nhello,u1\nhello again,u_2\n' })
  await page.getByRole('button', { name: 'Continue' }).click()
  await sendEverything(page)
  await seeRunEnded(page)
  const correct = async () => {
    await page.getByRole('button', { name: 'Correct and retry…' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Check 1 row' }).click()
  }
  await correct()
  await page.getByRole('button', { name: 'Replace _ and ; reversibly' }).click()
  await page.getByRole('button', { name: 'Retry 1 row' }).waitFor()
  await page.getByRole('button', { name: 'Back to the results' }).click()
  await page.getByRole('row', { name: /^3 invalid/ }).waitFor()
  await correct()
  await page.getByRole('button', { name: 'Retry 1 row' }).click()
  await page.getByText(/^Correction of .*: 1 row, 1 of 1 request succeeded$/).waitFor()
})

it('stays on the results if a person goes back while the corrected rows are checked again', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  const calls = await holdCalls(page, '/runs/correctRun')
  await page.reload()
  await openStep(page, 'Source')
  await chooseFile(page, { name: 'posts.csv', text: 'text_data,user_id\nhello,u1\nhello again,u_2\n' })
  await page.getByRole('button', { name: 'Continue' }).click()
  await sendEverything(page)
  await seeRunEnded(page)
  await page.getByRole('button', { name: 'Correct and retry…' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Check 1 row' }).click()
  const replace = page.getByRole('button', { name: 'Replace _ and ; reversibly' })
  await replace.waitFor()
  calls.hold()
  await replace.click()
  await calls.arrived()
  await page.getByRole('button', { name: 'Back to the results' }).click()
  // It waits for the retry that it drops.
  await page.locator('button[data-loading]', { hasText: 'Back to the results' }).waitFor()
  calls.release()
  await page.getByRole('row', { name: /^3 invalid/ }).waitFor()
})

it('warns on Mapping that ids and texts look swapped, but lets the person continue', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  const rows = Array.from({ length: 8 }, (_, row) => `u-${row},this is the text of row ${row}`)
  await openStep(page, 'Source')
  await chooseFile(page, { name: 'swapped.csv', text: `text_data,user_id\n${rows.join('\n')}\n` })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByText('These columns may be swapped').waitFor()
  await inspect('mapping-swapped')
  await page.getByLabel('text_data becomes').selectOption('')
  await page.getByLabel('user_id becomes').selectOption('text_data')
  await page.getByLabel('text_data becomes').selectOption('user_id')
  await page.getByText('These columns may be swapped').waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Match by name' }).click()
  await page.getByRole('button', { name: 'Check all rows' }).click()
  await seeScreen(page, 'Check')
})

it('says on Check and Review that a correction belongs to another row after the file was edited, and sends only after a yes', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace, inspect } = await openApp()
  await openStep(page, 'Source')
  await chooseFile(page, { name: 'posts.csv', text: 'text_data,user_id\nhello there,u_1\nhow are you,\n' })
  await page.getByRole('button', { name: 'Continue' }).click()
  await seeScreen(page, 'Check')
  await page.getByRole('button', { name: 'Edit row 3' }).click()
  await page.getByRole('dialog').getByLabel('user_id').fill('ann')
  await page.getByRole('dialog').getByRole('button', { name: 'Correct' }).click()
  await page.getByRole('button', { name: 'Review 1 row' }).waitFor()
  const uploads = join(workspace, 'uploads')
  const [name = ''] = readdirSync(uploads, { recursive: true }).filter((one) => String(one).endsWith('.csv'))
  writeFileSync(
    join(uploads, String(name)),
    'text_data,user_id\nhello there,u_1\ninserted,u3\nhow are you,\n',
  )
  await page.getByRole('button', { name: 'Replace _ and ; reversibly' }).click()
  const card = page.locator('[data-code="unfit_fix"]')
  await card.getByText('is not corrected, because the row has other cells').waitFor()
  await card.getByText('row 4 has those cells now').waitFor()
  await page.getByText('(not applied, since the row has other cells)').waitFor()
  await inspect('check-unfit')
  await page.getByRole('button', { name: 'Review 2 rows' }).click()
  await page.getByText('Corrections of single rows may be of other rows').waitFor()
  await inspect('review-unfit')
  await page.getByRole('checkbox', { name: 'Send the 2 rows as they are read' }).check()
  await page.getByRole('button', { name: 'Send 2 rows' }).click()
  await seeRunEnded(page)
})

it('sends nothing until the rows are checked as corrected, and does not reread them for a destination that is set again unchanged', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  const starts = await holdCalls(page, '/runs/start')
  await page.reload()
  const lookElsewhere = async () => {
    await page.getByRole('radio', { name: 'A service' }).check()
    await page.getByRole('radio', { name: 'The sandbox' }).check()
  }
  await openStep(page, 'Operation')
  await lookElsewhere()
  await openStep(page, 'Source')
  await chooseFile(page, { name: 'posts.csv', text: 'text_data,user_id\nhello there,u_1\nhow are you,u2\n' })
  starts.hold()
  await page.getByRole('button', { name: 'Continue' }).click()
  await starts.arrived()
  const steps = page.getByRole('navigation', { name: 'Steps of the new run' })
  await steps.getByRole('link', { name: 'Operation' }).click()
  await lookElsewhere()
  starts.release()
  await seeScreen(page, 'Check')
  await page.getByRole('button', { name: 'Review 1 row' }).waitFor()
  expect(starts.sent.filter((call) => call.includes('/runs/start'))).toHaveLength(1)

  starts.hold()
  await page.getByRole('button', { name: 'Replace _ and ; reversibly' }).click()
  await starts.arrived()
  await steps.getByRole('link', { name: 'Review' }).click()
  const send = page.getByRole('button', { name: 'Send the rows' })
  await send.waitFor()
  await expect.poll(() => send.isDisabled()).toBe(true)
  starts.release()
  await page.getByText('2 rows ready to send to').waitFor()

  // The list shows the fixes that the held rows were checked with.
  await steps.getByRole('link', { name: 'Check' }).click()
  starts.hold()
  const undo = page.getByRole('button', { name: /^Undo all/ })
  await undo.click()
  await undo.waitFor({ state: 'detached' })
  await starts.arrived()
  starts.lose()
  await undo.waitFor()
  await page.getByRole('button', { name: 'Review 2 rows' }).waitFor()
})
