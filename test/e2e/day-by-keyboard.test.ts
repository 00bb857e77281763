import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, inject, it } from 'vitest'
import { CORRECTED, countMatrix, createDayRows } from '../helpers/e2e/day-rows.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import { readShownCounts, seeScreen } from '../helpers/e2e/walk.ts'
import { startSandboxProcess } from '../helpers/sandbox-process.ts'
import { createTemporaryFolder } from '../helpers/temporary-folder.ts'

const KEY = 'key-of-the-day-7f3a91'
const ROWS = 5_572

/** The most presses of Tab that a person would accept. */
const TABS_MAX = 15

const counted = (count: number) => count.toLocaleString('en-US')

/** Role and name of the focused element, or what shows that the focus is lost. */
function readFocus(page: Page): Promise<string> {
  return page.evaluate(`(() => {
    const focused = document.activeElement
    if (focused === null || focused === document.body) return 'nothing'
    const name = focused.getAttribute('aria-label') ?? focused.labels?.[0]?.textContent ?? focused.textContent ?? ''
    return focused.tagName.toLowerCase() + ' ' + name.replace(/\\s+/g, ' ').trim()
  })()`)
}

/** Presses Tab or Shift+Tab until the named control has the focus; fails if that takes too many presses. */
async function tabTo(page: Page, name: RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await expect.poll(() => readFocus(page), { message: 'the focus is lost' }).not.toBe('nothing')
  const passed = [await readFocus(page)]
  while (passed.length <= TABS_MAX) {
    await page.keyboard.press(key)
    const focused = await readFocus(page)
    if (name.test(focused.replace(/^\S+ /, ''))) return
    passed.push(focused)
  }
  throw new Error(`${key} does not reach ${name}, but passes ${passed.join(' | ')}`)
}

/** Goes to a part of the window by its key: to a heading, or to the current one of its places. */
async function goToPart(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < TABS_MAX; presses += 1) {
    await page.keyboard.press('F6')
    const focused = await readFocus(page)
    if (name.test(focused.replace(/^\S+ /, ''))) return
  }
  throw new Error(`F6 does not reach ${name}`)
}

/** Goes to a control and presses it. */
async function press(page: Page, name: RegExp, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<void> {
  await tabTo(page, name, key)
  await page.keyboard.press('Enter')
}

/** Types over what a field holds. */
async function retype(page: Page, text: string): Promise<void> {
  await page.keyboard.press('Control+a')
  await page.keyboard.type(text)
}

/** Waits until the screen's title has the focus, as it must after each change of screens. */
async function seeTitleFocused(page: Page, title: string | RegExp): Promise<void> {
  await seeScreen(page, title)
  await expect.poll(() => readFocus(page)).toMatch(/^h1 /)
}

// Its short forms are keyboard.test.ts and day.test.ts, which uses the mouse.
it.runIf(inject('isLong'))(
  'walks an analyst’s whole day without a mouse, and the focus is never lost',
  async () => {
    const sandbox = await startSandboxProcess(KEY)
    const day = createDayRows(ROWS)
    const file = join(createTemporaryFolder(), 'posts.csv')
    writeFileSync(file, day.text)
    const { page } = await openApp({ width: 1440, height: 900 })

    // Add a connection.
    await press(page, /^Connections$/, 'Shift+Tab')
    await seeTitleFocused(page, 'Connections')
    await page.getByText('No connections yet').waitFor()
    await page.keyboard.press('Control+Enter')
    await expect.poll(() => readFocus(page)).toBe('input Name')
    await page.keyboard.type('staging')
    await tabTo(page, /^Base URL/)
    await page.keyboard.type(sandbox.baseUrl)
    await tabTo(page, /^API key/)
    await page.keyboard.type(KEY)
    await page.keyboard.press('Enter')
    await page.getByRole('region', { name: 'staging' }).waitFor()
    await expect.poll(() => readFocus(page)).not.toBe('nothing')
    await press(page, /^Test$/)
    await page.getByText('The service accepts the key').waitFor()
    await expect.poll(() => readFocus(page)).toBe('button Test')

    // Choose the operation, the file and its columns.
    await press(page, /^New run/, 'Shift+Tab')
    await seeTitleFocused(page, 'Operation')
    await tabTo(page, /^Legacy answer/)
    await page.keyboard.press('Space')
    await page.keyboard.press('Control+Enter')
    await seeTitleFocused(page, 'Source')
    const choosing = page.waitForEvent('filechooser')
    await press(page, /^Choose a (file|spreadsheet)$/)
    await (await choosing).setFiles(file)
    await page.getByRole('grid', { name: 'First rows of the source' }).waitFor()
    await page.keyboard.press('Control+Enter')
    await seeTitleFocused(page, 'Mapping')
    await tabTo(page, /^text becomes$/)
    await page.keyboard.type('text_data')
    await tabTo(page, /^url becomes$/)
    await page.keyboard.type('url')
    await page.keyboard.press('Control+Enter')

    // Fix the bad rows.
    const { bad } = day
    let sendable = ROWS - Object.values(bad).reduce((sum, rows) => sum + rows, 0)
    const seeSendable = async (more: number) => {
      sendable += more
      await page.getByRole('button', { name: `Review ${counted(sendable)} rows`, exact: true }).waitFor()
      await expect.poll(() => readFocus(page)).not.toBe('nothing')
    }
    await seeTitleFocused(page, 'Check')
    await seeSendable(0)
    const goToCause = async (title: string) => {
      for (let presses = 0; presses < 8; presses += 1) await page.keyboard.press('k')
      for (let presses = 0; presses < 8; presses += 1) {
        if ((await readFocus(page)).startsWith(`h3 ${title}`)) return
        await page.keyboard.press('j')
      }
      throw new Error(`J does not reach ${title}`)
    }
    await goToCause('A forbidden character')
    await press(page, /^Replace _ and ; reversibly$/)
    await seeSendable(bad.forbidden)
    await goToCause('Content missing or given twice')
    await press(page, /^Edit row 52$/)
    await expect.poll(() => readFocus(page)).toBe('textarea text_data')
    await page.keyboard.type(CORRECTED.content)
    await page.keyboard.press('Control+Enter')
    await seeSendable(bad.noContent)
    await goToCause('Content')
    await press(page, /^Split into two rows$/)
    await seeSendable(2 * bad.both)
    await page.keyboard.press('Control+Enter')
    await seeTitleFocused(page, 'Review')
    // Rows without a user and the doubled row are left out.
    const sent = day.sent.filter(
      ({ userId, postId }) => !/^guest/.test(userId) && postId !== CORRECTED.postId,
    )
    expect(sent).toHaveLength(sendable)

    // Send ten rows, then the others. Tab passes the button while the corrected rows are read.
    await expect.poll(() => page.getByRole('button', { name: 'Send the first 10' }).isEnabled()).toBe(true)
    await press(page, /^Send the first 10$/)
    await page.getByRole('button', { name: `Send the other ${counted(sendable - 10)} rows` }).waitFor()
    await tabTo(page, /^In flight/)
    await retype(page, '16')
    await page.keyboard.press('Control+Enter')
    await page.locator('main header').getByText('completed', { exact: true }).waitFor()
    await expect.poll(() => readFocus(page)).toBe('h1 posts.csv')
    expect(await readShownCounts(page)).toMatchObject({ succeeded: sendable })
    expect(await sandbox.readTasks()).toHaveLength(sendable)

    // Evaluate by the labels with another threshold, and open the rows behind a figure.
    await press(page, /^Evaluate$/)
    await seeTitleFocused(page, /^Evaluate/)
    await page.getByText(`${counted(sendable)} of`).waitFor()
    await goToPart(page, /^Scores and thresholds$/)
    await tabTo(page, /^Threshold of spam$/)
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowRight')
    const slider = page.getByRole('slider', { name: 'Threshold of spam' })
    await expect.poll(() => slider.getAttribute('aria-valuetext')).toMatch(/^score at least 1: /)
    await goToPart(page, /^Matrix and figures$/)
    await press(page, /wrongly/)
    await seeTitleFocused(page, /^Results/)
    await page.getByText(`${countMatrix(sent, 2).wrongly} rows match`).waitFor()
    await page.getByRole('row', { name: /^4 / }).waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('k')
    for (const key of 'dauaaadaua') {
      await page.keyboard.press(key)
      await page.keyboard.press('j')
    }
    await page
      .getByRole('region', { name: 'Your verdict' })
      .getByRole('button', { name: 'agree 6' })
      .waitFor()

    // Send the rows again after the service has changed.
    const rule = (await sandbox.admin('GET', '/rules/rule-spam')) as object
    const conditions = [{ subject: 'class_score', class: 'spam', min_score: 1 }]
    await sandbox.admin('PUT', '/rules/rule-spam', { ...rule, conditions })
    await sandbox.admin('DELETE', '/tasks')
    await goToPart(page, /^Runs$/)
    await page.keyboard.press('Enter')
    await seeTitleFocused(page, 'Runs')
    await page.getByRole('button', { name: 'Actions for posts.csv' }).waitFor()
    await goToPart(page, /^(All runs|\d+ runs?)/)
    await press(page, /^Actions for posts\.csv$/)
    await page.getByRole('menuitem', { name: 'Run again…' }).waitFor()
    // Keys pressed before the menu has the focus are lost.
    const moveDown = async () => {
      const focus = await readFocus(page)
      if (focus !== 'button Run again…') await page.keyboard.press('ArrowDown')
      return focus
    }
    await expect.poll(moveDown).toBe('button Run again…')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Run again' }).getByLabel('Name of the new run').waitFor()
    await tabTo(page, /^Send the post_ids/)
    await page.keyboard.press('Space')
    await tabTo(page, /^Name of the new run$/)
    await retype(page, 'stricter')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: `Send ${counted(sendable)} rows` }).waitFor()
    await expect.poll(() => readFocus(page)).toBe(`button Send ${counted(sendable)} rows`)
    await page.keyboard.press('Enter')
    await seeScreen(page, /stricter/)
    await page.locator('main header').getByText('completed', { exact: true }).waitFor()

    // Compare the runs and export the changes.
    await press(page, /^Compare$/)
    await page.getByRole('menuitem', { name: 'With another run…' }).waitFor()
    const moveToOther = async () => {
      const focus = await readFocus(page)
      if (focus !== 'button With another run…') await page.keyboard.press('ArrowDown')
      return focus
    }
    await expect.poll(moveToOther).toBe('button With another run…')
    await page.keyboard.press('Enter')
    await seeTitleFocused(page, 'Compare')
    await page.getByRole('combobox', { name: 'Other run' }).waitFor()
    await tabTo(page, /^Other run/)
    await page.keyboard.type('posts')
    await page.getByRole('option', { name: /^posts\.csv/ }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    const changed = sent.filter(({ score }) => score === 1).length
    await page.getByRole('heading', { name: new RegExp(`^${counted(changed)} of .* rows changed`) }).waitFor()
    await press(page, /^Likely spam: rows that newly trigger it/)
    await page.getByRole('grid', { name: 'Changed rows' }).waitFor()
    const coming = page.waitForEvent('download')
    await press(page, /^Export these rows$/)
    expect((await coming).suggestedFilename()).toMatch(/\.csv$/)
    await page.getByText(`${counted(changed)} rows written`).waitFor()
  },
)
