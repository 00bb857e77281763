import { readFileSync } from 'node:fs'
import type { Page } from 'playwright-core'
import { expect, inject, it } from 'vitest'
import { CORRECTED, countMatrix, createDayRows, type DayRows } from '../helpers/e2e/day-rows.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import { chooseFile, readShownCounts, seeScreen } from '../helpers/e2e/walk.ts'
import { type SandboxProcess, startSandboxProcess } from '../helpers/sandbox-process.ts'
import { parseRfc4180 } from '../main/engine/source/rfc4180.ts'

const KEY = 'key-of-the-day-7f3a91'
const ROWS = inject('isLong') ? 5_572 : 300

const counted = (count: number) => count.toLocaleString('en-US')

/** Makes the sandbox stricter: one spam word is enough. */
async function makeStricter(sandbox: SandboxProcess): Promise<void> {
  const rule = (await sandbox.admin('GET', '/rules/rule-spam')) as Record<string, unknown>
  const conditions = [{ subject: 'class_score', class: 'spam', min_score: 1 }]
  await sandbox.admin('PUT', '/rules/rule-spam', { ...rule, conditions })
}

/** Expects exactly the rows of the file with their corrections: none missing, doubled or altered. */
async function expectArrived(sandbox: SandboxProcess, day: DayRows): Promise<void> {
  const arrived = await sandbox.readTasks()
  const toLine = (post: unknown, user: unknown, content: unknown) => [post, user, content].join(' ')
  expect(
    arrived.map(({ post_id, user_id, text_data, url }) => toLine(post_id, user_id, text_data ?? url)).sort(),
  ).toEqual(day.sent.map(({ postId, userId, content }) => toLine(postId, userId, content)).sort())
}

/**
 * Expects each row of an exported file to have its own cells unchanged, what was sent, and the service's
 * decision.
 */
function expectExported(file: string, day: DayRows, threshold: number): void {
  const [header = [], ...lines] = parseRfc4180(readFileSync(file, 'utf8').replace(/^\ufeff/, ''))
  const toRow = (cells: string[]) => Object.fromEntries(header.map((name, at) => [name, cells[at] ?? '']))
  const rows = lines.map(toRow)
  const original = parseRfc4180(day.text).slice(1)
  expect(rows).toHaveLength(day.sent.length + 1)
  const left = rows.filter((row) => row['sluice_state'] !== 'succeeded')
  expect(left).toMatchObject([{ sluice_state: 'left_out', url: 'picture.png', post_id: 'p81' }])
  const byPost = new Map(day.sent.map((row) => [row.postId, row]))
  for (const row of rows.filter(({ sluice_state: state }) => state === 'succeeded')) {
    const postId = row['sent.post_id'] || row['sluice_post_id'] || ''
    const truth = byPost.get(postId)
    if (truth === undefined) throw new Error(`${postId} was not to be sent`)
    byPost.delete(truth.postId)
    const [label, text, user, post, url] = original[truth.record - 1] ?? []
    expect(row).toMatchObject({ label, text, user_id: user, post_id: post, url })
    const rules = row['sluice_triggered_rules']?.split('; ') ?? []
    expect([truth.postId, rules.includes('Likely spam')]).toEqual([truth.postId, truth.score >= threshold])
    expect(row['sent.user_id'] || row['user_id']).toBe(truth.userId)
  }
  expect(byPost.size).toBe(0)
}

/** The four cells of the matrix on the screen. */
async function expectMatrix(page: Page, { found, missed, wrongly, rightly }: ReturnType<typeof countMatrix>) {
  const matrix = page.getByRole('table', { name: 'Rows by what the rule did and should have done' })
  await matrix.getByRole('button', { name: new RegExp(`^${counted(found)} found`) }).waitFor()
  await matrix.getByRole('button', { name: new RegExp(`^${counted(missed)} missed`) }).waitFor()
  await matrix.getByRole('button', { name: new RegExp(`^${counted(wrongly)} wrongly`) }).waitFor()
  await matrix.getByRole('button', { name: new RegExp(`^${counted(rightly)} rightly not`) }).waitFor()
}

it('takes a file of labelled posts from a typed key to an exported comparison with correct numbers throughout', {
  skip: !inject('walksAll'),
}, async () => {
  const sandbox = await startSandboxProcess(KEY)
  const day = createDayRows(ROWS)
  const { bad } = day
  const errors = Object.values(bad).reduce((sum, rows) => sum + rows, 0)
  const { page } = await openApp({ width: 1440, height: 900 })

  // Add a connection; its key is typed once.
  await page.getByRole('link', { name: 'Connections' }).click()
  await page.getByRole('button', { name: 'Add a connection' }).click()
  const adding = page.getByRole('dialog', { name: 'Add a connection' })
  await adding.getByLabel('Name').fill('staging')
  await adding.getByLabel('Base URL').fill(sandbox.baseUrl)
  await adding.getByLabel('API key (optional)').fill(KEY)
  await adding.getByRole('button', { name: 'Save' }).click()
  await adding.waitFor({ state: 'detached' })
  await page.getByRole('button', { name: 'Test', exact: true }).click()
  await page.getByText('The service accepts the key').waitFor()
  await page.reload()
  await seeScreen(page, 'Connections')
  expect(await page.content()).not.toContain(KEY)

  // Choose the operation and the file.
  await page.getByRole('link', { name: 'New run' }).click()
  await page.getByRole('radio', { name: 'staging', checked: true }).waitFor()
  await page.getByRole('switch', { name: 'Legacy answer' }).check()
  await page.getByRole('button', { name: 'Continue' }).click()
  await chooseFile(page, { name: 'posts.csv', text: day.text })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByLabel('text becomes').selectOption('text_data')
  await page.getByLabel('url becomes').selectOption('url')
  await page.reload()
  await page.getByRole('button', { name: 'Check all rows' }).click()

  // Fix bad rows: one cell, and whole groups at once.
  const review = (rows: number) =>
    page.getByRole('button', { name: `Review ${counted(rows)} rows`, exact: true })
  const cause = (code: string) => page.locator(`article[data-code=${code}]`)
  await review(ROWS - errors).waitFor()
  await cause('forbidden_character').getByText(`${bad.forbidden} rows`, { exact: true }).waitFor()
  await page.getByRole('button', { name: 'Replace _ and ; reversibly' }).click()
  await review(ROWS - errors + bad.forbidden).waitFor()
  await page.getByRole('button', { name: 'Edit row 52' }).click()
  const editing = page.getByRole('dialog', { name: 'Correct row 52' })
  await editing.getByLabel('text_data').pressSequentially(CORRECTED.content)
  await editing.getByRole('button', { name: 'Correct' }).click()
  await cause('required').getByRole('button', { name: 'Set a value…' }).click()
  await page.getByRole('dialog').getByLabel('user_id').fill(CORRECTED.user)
  await page.getByRole('dialog').getByRole('button', { name: 'Set the value' }).click()
  await page.getByRole('button', { name: 'Split into two rows' }).click()
  await page.getByRole('button', { name: 'Edit row 72' }).click()
  await page.getByRole('dialog').getByText('is also in row 8').waitFor()
  await page.getByRole('dialog').getByLabel('post_id').fill(CORRECTED.postId)
  await page.getByRole('dialog').getByRole('button', { name: 'Correct' }).click()
  await cause('not_a_url').getByRole('button', { name: 'Leave these rows out' }).click()
  // As many rows are sent before and after it, so their number does not say that it was applied.
  await cause('not_a_url').waitFor({ state: 'detached' })
  await review(day.sent.length).waitFor()
  await page.reload()
  await review(day.sent.length).waitFor()
  await review(day.sent.length).click()

  // Send ten rows, then the others.
  await page.getByRole('button', { name: 'Send the first 10' }).click()
  await page.getByRole('button', { name: `Send the other ${counted(day.sent.length - 10)} rows` }).waitFor()
  await expect.poll(() => sandbox.readTasks()).toHaveLength(10)
  await page.getByLabel('In flight').fill('16')
  await page.getByRole('button', { name: /^Send the other/ }).click()
  await page.locator('main header').getByText('completed', { exact: true }).waitFor()
  expect(await readShownCounts(page)).toEqual({ succeeded: day.sent.length, left_out: 1 })
  await expectArrived(sandbox, day)
  const runUrl = page.url()

  // Evaluate by the labels, with another threshold.
  await page.getByRole('link', { name: 'Evaluate' }).click()
  await page
    .getByText(`${counted(day.sent.length)} of ${counted(day.sent.length + 1)} rows evaluated`)
    .waitFor()
  await expectMatrix(page, countMatrix(day.sent, 2))
  const slider = page.getByRole('slider', { name: 'Threshold of spam' })
  await slider.focus()
  await slider.press('Home')
  await slider.press('ArrowRight')
  const { found, wrongly, missed } = countMatrix(day.sent, 1)
  const share = (part: number, whole: number) => `${((100 * part) / whole).toFixed(1)} %`
  await expect
    .poll(() => slider.getAttribute('aria-valuetext'))
    .toBe(
      `score at least 1: precision ${share(found, found + wrongly)}, recall ${share(found, found + missed)}`,
    )

  // Give ten verdicts by keyboard, on rows that triggered but should not have.
  await page.getByRole('button', { name: /wrongly/ }).click()
  await seeScreen(page, /^Results/)
  await page.getByText(`${countMatrix(day.sent, 2).wrongly} rows match`).waitFor()
  await page.getByRole('row', { name: /^4 / }).waitFor()
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  for (const key of 'dauaaadaua') {
    await page.keyboard.press(key)
    await page.keyboard.press('j')
  }
  const verdicts = page.getByRole('region', { name: 'Your verdict' })
  await verdicts.getByRole('button', { name: 'agree 6' }).waitFor()
  await verdicts.getByRole('button', { name: 'should not trigger 2' }).waitFor()
  await page.reload()
  await verdicts.getByRole('button', { name: 'unsure 2' }).waitFor()

  // Send the same rows again after the service has changed.
  await makeStricter(sandbox)
  await sandbox.admin('DELETE', '/tasks')
  await page.getByRole('link', { name: 'Runs' }).click()
  await page.getByRole('button', { name: 'Actions for posts.csv' }).click()
  await page.getByRole('menuitem', { name: 'Run again…' }).click()
  const again = page.getByRole('dialog', { name: 'Run again' })
  await again.getByLabel('Name of the new run').fill('stricter')
  await again.getByLabel('Send the post_ids of the source again').check()
  await again.getByRole('button', { name: 'Read and check the source' }).click()
  await again.getByRole('button', { name: `Send ${counted(day.sent.length)} rows` }).click()
  await seeScreen(page, /stricter/)
  await page.locator('main header').getByText('completed', { exact: true }).waitFor()
  await expectArrived(sandbox, day)

  // Compare the runs.
  const changed = day.sent.filter(({ score }) => score === 1).length
  await page.getByRole('button', { name: 'Compare', exact: true }).click()
  await page.getByRole('menuitem', { name: 'With another run…' }).click()
  await page.getByRole('combobox', { name: 'Other run' }).click()
  await page.getByRole('option', { name: /^posts\.csv/ }).click()
  await page
    .getByRole('heading', { name: `${counted(changed)} of ${counted(day.sent.length)} rows changed` })
    .waitFor()
  await page
    .getByRole('button', { name: `Likely spam: rows that newly trigger it: ${counted(changed)}` })
    .waitFor()

  await page.getByRole('tab', { name: 'Latency' }).click()
  await page
    .getByRole('img', { name: 'Percentiles of http_req_duration of 2 runs; the table has the figures' })
    .waitFor()
  await page.getByRole('button', { name: 'Trend of this source' }).click()
  await seeScreen(page, 'Trend')
  await page
    .getByRole('link', { name: /^Open stricter, / })
    .first()
    .press('Enter')
  await seeScreen(page, /stricter/)
  await page.getByRole('link', { name: 'Plan' }).click()
  await page.getByRole('heading', { name: 'Pace and retries' }).waitFor()

  // Compare both files row by row.
  const download = async () => {
    const coming = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Write the file' }).click()
    return (await coming).path()
  }
  await page.getByRole('link', { name: 'Export' }).click()
  expectExported(await download(), day, 1)
  await page.goto(`${runUrl}/export`)
  await page.getByText(`All rows: ${counted(day.sent.length + 1)}`).waitFor()
  expectExported(await download(), day, 2)
})
