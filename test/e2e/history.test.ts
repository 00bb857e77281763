import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { setBaseline } from '../../src/main/engine/lookback/baseline-store.ts'
import { changeAnnotations } from '../../src/main/engine/workspace/run-annotations.ts'
import { toJournalFile } from '../../src/main/engine/workspace/workspace-files.ts'
import { DEFAULT_SANDBOX_KEY } from '../../src/main/sandbox/sandbox-options.ts'
import { type PlanInput, planSchema } from '../../src/shared/plan/plan.ts'
import { holdCalls } from '../helpers/e2e/held-messages.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import { readShownCounts, seeRunEnded, seeScreen, switchTo } from '../helpers/e2e/walk.ts'
import { createInProcessRuns, RUN_KEY } from '../helpers/in-process-runs.ts'
import { withSandbox } from '../helpers/sandbox.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'
import { writeRun } from '../helpers/write-run.ts'

/** Runs that were sent before the window opens. */
async function sendEarlier(workspace: string) {
  const folder = createTemporaryFolder()
  const service = await withSandbox({ apiKeys: [DEFAULT_SANDBOX_KEY, RUN_KEY] })
  const runs = createInProcessRuns(workspace)
  const send = async (operation: PlanInput['operation'], name: string, text: string, tags: string[] = []) => {
    const path = join(folder, name)
    writeFileSync(path, text)
    const connection = { baseUrl: service.baseUrl, keyFrom: 'window' }
    const plan = planSchema.parse({ name, connection, source: { path }, operation, retry: { limit: 0 } })
    const { run_id: runId } = await runs.start(plan).ended
    changeAnnotations(workspace, runId, { addTags: tags })
    return { runId, path }
  }
  return { service, send }
}

it('leaves the focus where it is when an edited run leaves the page or comes back', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace } = await openApp()
  const [runId, other] = ['20251101-120000-001', '20251101-120000-002']
  writeRun(workspace, { runId, name: 'posts' })
  writeRun(workspace, { runId: other, name: 'terms' })
  const calls = await holdCalls(page, '/runs/list')
  await page.reload()
  const row = page.locator(`tr[data-run="${runId}"]`)
  const away = page.getByText('posts is not on this page')
  const name = page.getByRole('textbox', { name: 'Name' })
  const search = page.getByLabel('Search')
  await row.getByRole('button', { name: /^Edit name/ }).click()
  await expect.poll(() => page.evaluate('document.activeElement.value')).toBe('posts')
  await search.focus()
  await page.keyboard.type('ter')
  await away.waitFor()
  await page.keyboard.type('ms')
  expect([await search.inputValue(), await name.inputValue()]).toEqual(['terms', 'posts'])
  await search.fill('posts')
  await row.getByRole('textbox', { name: 'Note' }).focus()
  await page.keyboard.type('sen it')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  // The list leaves it out when it is read again, as when newer runs fill the page.
  changeAnnotations(workspace, runId, { name: 'others' })
  calls.lose()
  await away.waitFor()
  await page.keyboard.type('t')
  expect(await page.getByRole('textbox', { name: 'Note' }).inputValue()).toBe('sent it')
})

it('keeps what was typed about a run while another one is edited', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, workspace } = await openApp()
  const names = ['posts', 'terms', 'media']
  for (const [at, name] of names.entries()) writeRun(workspace, { runId: `20251101-120000-00${at}`, name })
  await page.reload()
  const [posts, terms, media] = names.map((name) => {
    return {
      edit: page.getByRole('button', { name: `Edit name, tags and note of ${name}` }),
      note: page.getByLabel(`Name, tags and note of ${name}`).getByRole('textbox', { name: 'Note' }),
    }
  })
  await posts?.edit.click()
  await posts?.note.fill('sent with the new rule')
  await terms?.edit.click()
  await terms?.note.waitFor()
  // Nothing was typed about the second run, so its fields go.
  await media?.edit.click()
  await media?.note.fill('sent twice')
  await terms?.note.waitFor({ state: 'detached' })
  expect(await posts?.note.inputValue()).toBe('sent with the new rule')
  // Another screen keeps it, too.
  await page.getByRole('link', { name: 'Compare', exact: true }).click()
  await page.getByText('Choose two runs').waitFor()
  await page.goBack()
  await expect.poll(() => posts?.note.count()).toBe(1)
  expect(await posts?.note.inputValue()).toBe('sent with the new rule')
  await media?.note.focus()
  await page.keyboard.press('Control+Enter')
  await media?.note.waitFor({ state: 'detached' })
  await page.getByText('sent twice').waitFor()
  await page.getByLabel('Search').fill('terms')
  await page.getByText('posts is not on this page').waitFor()
  await posts?.note.press('Control+Enter')
  await posts?.note.waitFor({ state: 'detached' })
  await page.getByLabel('Search').fill('')
  await page.getByText('sent with the new rule').waitFor()
})

it('finds runs, adds a note to one and undoes it, cleans up, and runs one again', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect, workspace } = await openApp()
  const { send } = await sendEarlier(workspace)
  for (let run = 0; run < 60; run += 1) {
    const runId = `20251101-1200${String(run).padStart(2, '0')}-000`
    const state = run === 3 ? 'stopped' : 'completed'
    writeRun(workspace, { runId, name: `nightly n${run}`, rows: run, state })
  }
  const posts = 'text_data,user_id,post_id\nhello,u1,p1\nyou idiot,u2,p2\nbye,u3,p3\n'
  const { runId, path } = await send({ kind: 'task' }, 'posts.csv', posts, ['release'])
  truncateSync(toJournalFile(workspace, '20251101-120007-000'), 100)
  setBaseline(workspace, createInProcessRuns(workspace).summarize('20251101-120059-000'), 'default')
  const calls = await holdCalls(page, '/history/runAgain')
  await page.reload()
  await page.getByText('1 run cannot be read').waitFor()
  await page.getByText('1 to 50 of 60 runs').waitFor()
  await inspect('runs-full')

  await page.getByRole('button', { name: 'Next' }).click()
  await page.getByText('51 to 60 of 60 runs').waitFor()
  await page.getByRole('button', { name: 'Rows', exact: true }).click()
  await page.locator('tbody tr').first().getByText('nightly n59').waitFor()
  await page.getByLabel('Search').fill('nightly n5')
  await page.getByRole('heading', { name: '11 runs of 60' }).waitFor()
  await page.getByLabel('Search').fill('nothing like it')
  await page.getByText('No run matches').waitFor()
  await inspect('runs-none')
  await page.getByRole('button', { name: 'Show all runs' }).click()
  const state = page.getByRole('columnheader', { name: 'State' })
  const widthOf = async () => (await state.boundingBox())?.width ?? 0
  const usual = await widthOf()
  await page.getByRole('button', { name: 'Columns' }).press('Enter')
  // The window is too narrow for some columns; the menu says so.
  expect(await page.getByRole('columnheader', { name: 'On disk' }).count()).toBe(0)
  await page.getByRole('checkbox', { name: 'On disk (shown in wider windows)' }).waitFor()
  await page.getByRole('checkbox', { name: 'failed' }).press('Space')
  for (let press = 0; press < 3; press++) {
    await page.getByRole('button', { name: 'Make State wider' }).press('Enter')
  }
  await inspect('runs-columns')
  await page.keyboard.press('Escape')
  await expect.poll(() => readFileSync(join(workspace, 'result-views.json'), 'utf8')).toContain('"State"')
  await page.reload()
  await state.waitFor()
  await expect.poll(widthOf).toBeGreaterThan(usual + 20)
  await expect.poll(() => page.getByRole('columnheader', { name: 'failed' }).count()).toBe(0)
  await page.getByRole('button', { name: 'Columns' }).press('Enter')
  await page.getByRole('button', { name: 'Usual columns' }).press('Enter')
  await page.keyboard.press('Escape')
  await switchTo(page.getByLabel('Only with failures'), true)
  await page.getByRole('heading', { name: '1 run of 60' }).waitFor()
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByRole('combobox', { name: 'Order' }).click()
  await page.getByRole('option', { name: 'Newest first' }).click()
  await page.getByRole('button', { name: 'release' }).click()
  await page.getByRole('heading', { name: '1 run of 60' }).waitFor()

  const row = page.locator(`tr[data-run="${runId}"]`)
  await row.getByRole('button', { name: /^Edit name/ }).focus()
  await page.keyboard.press('Enter')
  await page.keyboard.type('posts of the day')
  // Meanwhile the command line tags this run and, which shows that the list was read again, one more.
  changeAnnotations(workspace, runId, { addTags: ['checked'] })
  changeAnnotations(workspace, '20251101-120058-000', { addTags: ['release'] })
  await page.getByLabel('Search').fill('release')
  await page.getByRole('heading', { name: '2 runs of 60' }).waitFor()
  const note = page.getByRole('textbox', { name: 'Note' })
  await note.fill('sent with the new rule')
  // A run that leaves the page keeps what was typed about it.
  await page.getByLabel('Search').fill('nightly')
  await row.waitFor({ state: 'detached' })
  await page.getByText('posts.csv is not on this page').waitFor()
  expect(await note.inputValue()).toBe('sent with the new rule')
  await page.getByLabel('Search').fill('release')
  await row.getByRole('textbox', { name: 'Note' }).focus()
  await inspect('runs-edit')
  await page.keyboard.press('Control+Enter')
  // The list may reload before the editor learns that the note is saved; until then the key undoes typing.
  await row.getByRole('textbox', { name: 'Note' }).waitFor({ state: 'detached' })
  await row.getByText('posts of the day').waitFor()
  await row.getByText('sent with the new rule').waitFor()
  await row.getByText('checked', { exact: true }).waitFor()
  await page.keyboard.press('Control+z')
  await row.getByRole('button', { name: 'posts.csv', exact: true }).waitFor()
  expect(await row.getByText('sent with the new rule').count()).toBe(0)

  await page.getByRole('button', { name: 'Clean up…' }).click()
  await page.getByLabel('Older than (days)').pressSequentially('0.5')
  expect(await page.getByLabel('Older than (days)').inputValue()).toBe('0.5')
  await page.getByLabel('Older than (days)').fill('1')
  await page.getByText(/^58 runs with all results/).waitFor()
  await page.getByText('1 baseline').waitFor()
  await inspect('runs-clean-up')
  await page.getByRole('button', { name: 'Delete 58 runs' }).click()
  await page.getByText('58 runs deleted').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await page.getByRole('button', { name: 'Actions for nightly n59' }).click()
  await page.getByRole('menuitem', { name: 'Delete…' }).click()
  await page.getByText('Later runs are compared with this one').waitFor()
  await inspect('runs-delete-baseline')
  await page.keyboard.press('Escape')

  writeFileSync(path, `${readFileSync(path, 'utf8')}more,u4,p4\n`)
  await page.getByRole('button', { name: 'Actions for posts.csv' }).click()
  await page.getByRole('menuitem', { name: 'Run again…' }).click()
  await page.getByText(`posts.csv has changed since run ${runId}`).waitFor()
  await page.getByRole('dialog').getByRole('combobox', { name: 'Connection' }).click()
  await page.getByRole('option', { name: 'The sandbox' }).click()
  await page.getByRole('dialog').getByText('No stored key is sent.').waitFor()
  await page.getByLabel('Name of the new run').fill('After the rule')
  await inspect('runs-again')
  calls.hold()
  await page.getByRole('button', { name: 'Read and check the source' }).click()
  await calls.arrived()
  // Rows that are being read go to the connection that reading began with, and the dialog says which.
  await expect
    .poll(() => page.getByRole('dialog').getByRole('combobox', { name: 'Connection' }).isDisabled())
    .toBe(true)
  calls.release()
  await page.getByText('4 rows read and checked, 3 rows before').waitFor()
  await inspect('runs-again-read')
  await page.getByRole('button', { name: 'Send 4 rows' }).click()
  await seeScreen(page, 'After the rule')
  await seeRunEnded(page)
  expect(await readShownCounts(page)).toEqual({ succeeded: 4 })

  // Sent to the same service with the same ids, which the dialog says first.
  await page.goBack()
  await page.getByRole('button', { name: 'Actions for posts.csv' }).click()
  await page.getByRole('menuitem', { name: 'Run again…' }).click()
  await page.getByLabel('API key', { exact: true }).fill(RUN_KEY)
  await page.getByLabel('Send the post_ids of the source again').check()
  await page.getByRole('button', { name: 'Read and check the source' }).click()
  await page.getByText(/^3 of 4 rows were sent before \(same post_id\)/).waitFor()
  await page.getByText('3 rows are sent a second time.').waitFor()
  await inspect('runs-again-sent-before')
  await page.getByRole('button', { name: 'Open the run first' }).click()
  await page.getByText(/^3 of 4 rows were sent before \(same post_id\)/).waitFor()
  await page.getByRole('button', { name: 'Send the rows' }).waitFor()
})

it('lists items, terms and appeals, exports what is listed, and begins their removal', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect, workspace } = await openApp()
  await page.getByRole('link', { name: 'Lists' }).click()
  await page.getByText('No items yet').waitFor()
  await inspect('lists-empty')
  const { send, service } = await sendEarlier(workspace)
  const images = Array.from({ length: 120 }, (_, image) => `https://media.example.com/${image}.png,en`)
  await send(
    { kind: 'index-add', indexId: 'sandbox-index' },
    'images.csv',
    `url,content_variant\n${images.join('\n')}\n`,
  )
  await send(
    { kind: 'watchlist-add', watchlist: 'sandbox_terms' },
    'terms.csv',
    'term,notes\nfree coins,spam\nhello,\n,nothing\n',
  )
  const decided = { status: 'Reviewed', judgment: { action_name: 'Restore post', overturned: true } }
  const toAppeal = (id: string, more: object = {}) => ({
    appeal_id: id,
    ...more,
    original_decision: { action_id: 'remove', display_name: 'Remove post' },
  })
  await service.admin('POST', '/appeals', { appeals: [toAppeal('first'), toAppeal('second', decided)] })
  await send({ kind: 'appeal-status' }, 'appeals.csv', 'appeal_id\nfirst\nsecond\nmissing\n')

  await page.getByText('Watchlists', { exact: true }).click()
  await page.getByRole('heading', { name: '2 terms in sandbox_terms' }).waitFor()
  await inspect('lists-terms')
  await page.getByText('Appeals', { exact: true }).click()
  await page.getByRole('heading', { name: '3 appeals' }).waitFor()
  await page.getByRole('button', { name: /^1 in review/ }).waitFor()
  await inspect('lists-appeals')
  await page.getByText('Indexes', { exact: true }).click()
  await page.getByText('1 to 100 of 120 items').waitFor()
  await inspect('lists-items')
  await page.getByLabel('Search').fill('/11')
  await page.getByRole('heading', { name: '11 items in sandbox-index' }).waitFor()
  await page.getByRole('button', { name: 'Export' }).click()
  const coming = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: /CSV/ }).click()
  expect((await coming).suggestedFilename()).toBe('sandbox-index-index.csv')
  await page.getByText('11 items written').waitFor()
  await page.getByRole('button', { name: 'Remove 11 items…' }).click()
  await seeScreen(page, 'Operation')
  await page.getByText('Type the API key of the service').waitFor()

  // Rows in states without a column are listed, so that those of a run add up.
  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  await page.locator('tr', { hasText: 'terms.csv' }).getByText('1 invalid').waitFor()
  await inspect('runs-invalid')
})
