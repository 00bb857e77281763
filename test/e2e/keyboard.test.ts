import type { Page } from 'playwright-core'
import { expect, inject, it } from 'vitest'
import { openApp } from '../helpers/e2e/open-app.ts'
import { chooseFile, seeRunEnded, seeScreen, sendEverything } from '../helpers/e2e/walk.ts'

const TABS_MAX = 40

/** Presses Tab until the named element has the focus; fails if it cannot be reached. */
async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let presses = 0; presses < TABS_MAX; presses += 1) {
    await page.keyboard.press('Tab')
    const focused = await page.evaluate(
      '(document.activeElement?.getAttribute("aria-label") || document.activeElement?.textContent || "").trim()',
    )
    if (typeof focused === 'string' && name.test(focused)) return
  }
  throw new Error(`Tab does not reach ${name}`)
}

it('goes from the home screen to a revealed row and an export by keyboard alone', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  await page.getByRole('button', { name: 'Try it with the sandbox' }).waitFor()
  await tabTo(page, /^Try it with the sandbox$/)
  const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')
  expect(outline).not.toBe('none')
  await page.keyboard.press('Enter')
  await page.getByRole('grid').waitFor()
  await page.keyboard.press('Control+Enter')
  await page.getByRole('button', { name: /^Review 364/ }).waitFor()
  await page.keyboard.press('Control+Enter')
  await page.getByRole('button', { name: 'Send 364 rows' }).waitFor()
  await tabTo(page, /^Send the first 10$/)
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Send the other 354 rows' }).waitFor()
  await page.keyboard.press('Control+Enter')
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await page.keyboard.press('p')
  await page.getByRole('button', { name: 'Resume' }).waitFor()
  await page.keyboard.press('p')
  await page.getByRole('button', { name: 'Pause' }).waitFor()
  await tabTo(page, /^Stop$/)
  await page.keyboard.press('Enter')
  await seeRunEnded(page, 'interrupted')
  await page.keyboard.press('Control+Enter')
  await seeScreen(page, 'Results')
  await page.getByRole('row', { name: /^5 / }).waitFor()
  const cursor = page.locator('[role=row][aria-selected=true]')
  await page.keyboard.press('j')
  await expect.poll(() => cursor.getAttribute('aria-rowindex')).toBe('3')
  await page.keyboard.press('Enter')
  await page.getByRole('complementary').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('complementary').waitFor({ state: 'detached' })
  await page.keyboard.press('Home')

  await page.keyboard.press('/')
  await page.keyboard.type('tickets')
  await page.getByText(/rows? match/).waitFor()
  for (let presses = 0; presses < 7; presses += 1) await page.keyboard.press('Backspace')
  await page.getByRole('row', { name: /^5 / }).waitFor()
  await page.getByRole('button', { name: /^succeeded/ }).focus()
  await page.keyboard.press('j')
  await page.keyboard.press('j')
  await page.keyboard.press('k')
  await expect
    .poll(() => page.locator('[role=row][aria-selected=true]').getAttribute('aria-rowindex'))
    .toBe('3')
  const hidden = page.locator('[role=row][aria-selected=true]').getByText('hidden (')
  await expect.poll(() => hidden.count()).toBeGreaterThan(0)
  await page.keyboard.press(' ')
  await expect.poll(() => hidden.count()).toBe(0)
  await page.keyboard.press('Enter')
  await page.getByRole('complementary').getByRole('heading', { name: 'Tries' }).waitFor()
  await page.keyboard.press('j')
  await page.getByRole('complementary').getByRole('heading', { name: 'Row 4' }).waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('complementary').waitFor({ state: 'detached' })
  await page.keyboard.press('?')
  await page.getByRole('dialog').waitFor()
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor({ state: 'detached' })
  const search = page.getByRole('combobox', { name: 'Search places, runs and actions' })
  const openPalette = async () => {
    await page.keyboard.press('Control+K')
    await search.and(page.locator(':focus')).waitFor()
  }
  await openPalette()
  await page.keyboard.type('sam')
  await page.getByRole('option', { name: /^sample\.csv interrupted/ }).waitFor()
  await inspect('palette')
  for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('Backspace')
  await page.keyboard.type('eval')
  await page.keyboard.press('Enter')
  await seeScreen(page, 'Evaluate')
  await openPalette()
  await page.keyboard.type('results')
  await page.keyboard.press('Enter')
  await seeScreen(page, 'Results')
  await page.keyboard.press('Control+Enter')
  await seeScreen(page, 'Export')
  await page.keyboard.press('Control+Enter')
  await page.getByText('372 rows written').waitFor()
})

it('closes only the dialog over open row details, and leaves keys with Ctrl to what they are for', {
  skip: !inject('walksAll'),
}, async () => {
  const { page } = await openApp()
  await chooseFile(page, {
    name: 'posts.csv',
    text: 'user_id,text_data\nu1,you idiot\nu2,hello\nu3,win a free prize\n',
  })
  await page.getByRole('button', { name: 'Continue' }).click()
  await sendEverything(page)
  await seeRunEnded(page)
  await page.getByRole('button', { name: 'View results' }).click()
  await page.getByRole('row', { name: /^2 / }).waitFor()
  await page.getByRole('grid').focus()
  await page.keyboard.press('Enter')
  const title = page.getByRole('complementary').getByRole('heading', { name: 'Row 2' })
  const dialog = page.getByRole('dialog')
  await title.and(page.locator(':focus')).waitFor()
  await page.keyboard.press('?')
  await dialog.getByRole('button', { name: 'Close' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await title.and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Control+J')
  await page.keyboard.press('Control+K')
  const search = page.getByRole('combobox', { name: 'Search places, runs and actions' })
  await search.and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await title.and(page.locator(':focus')).waitFor()

  await page.keyboard.press('s')
  await dialog.getByRole('button', { name: 'Likely spam' }).and(page.locator(':focus')).waitFor()
  await page.keyboard.press('Control+1')
  await page.keyboard.press('Escape')
  await dialog.waitFor({ state: 'detached' })
  await title.and(page.locator(':focus')).waitFor()
  expect(await page.getByLabel('Verdicts on this row').count()).toBe(0)
})
