import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

/** Waits for a screen; the names of a run's screens include the run, as in `Results of posts.csv`. */
export async function seeScreen(page: Page, title: string | RegExp): Promise<void> {
  await page.getByRole('main', { name: title }).waitFor()
}

/** Opens one of the steps of the new run. */
export async function openStep(page: Page, step: string): Promise<void> {
  await page.getByRole('link', { name: 'New run' }).click()
  await page
    .getByRole('navigation', { name: 'Steps of the new run' })
    .getByRole('link', { name: step })
    .click()
}

/** Passes a file, or the one at a path, to the page as if chosen in its dialog, and awaits its preview. */
export async function chooseFile(
  page: Page,
  file: string | { name: string; text: string | Buffer },
): Promise<void> {
  const chosen =
    typeof file === 'string'
      ? file
      : { name: file.name, mimeType: 'text/csv', buffer: Buffer.from(file.text) }
  await page.getByTestId('file').setInputFiles(chosen)
  await seeScreen(page, 'Source')
  await page.getByRole('grid', { name: 'First rows of the source' }).waitFor()
}

/** Drops a file anywhere onto the window. */
export async function dropFile(page: Page, file: { name: string; text: string }): Promise<void> {
  const transfer = await page.evaluateHandle(`(() => {
    const held = new DataTransfer()
    held.items.add(new File([${JSON.stringify(file.text)}], ${JSON.stringify(file.name)}, { type: 'text/csv' }))
    return held
  })()`)
  await holdOverWindow(page, () => page.dispatchEvent('body', 'dragover', { dataTransfer: transfer }))
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer })
  await seeScreen(page, 'Source')
  await page.getByRole('grid', { name: 'First rows of the source' }).waitFor()
}

/** Drops a file from the disk onto the window, as a file manager does. */
export async function dropFromDisk(page: Page, path: string): Promise<void> {
  const session = await page.context().newCDPSession(page)
  const data = { items: [], files: [path], dragOperationsMask: 1 }
  const drag = (type: 'dragEnter' | 'dragOver' | 'drop') =>
    session.send('Input.dispatchDragEvent', { type, x: 400, y: 400, data })
  const source = page.getByRole('main', { name: 'Source' })
  // On a busy machine, the browser may ignore a drop that follows too soon.
  await expect
    .poll(
      async () => {
        if (await source.isVisible()) return true
        await drag('dragEnter')
        await holdOverWindow(page, () => drag('dragOver'))
        await drag('drop')
        return source.isVisible()
      },
      { interval: 5_000, timeout: 60_000 },
    )
    .toBe(true)
  await page.getByRole('grid', { name: 'First rows of the source' }).waitFor()
}

/** Repeats the drag, as a person does, until the window says that it accepts the drop. */
async function holdOverWindow(page: Page, move: () => Promise<unknown>): Promise<void> {
  await expect
    .poll(async () => {
      await move()
      return page.getByText('Drop it to see how it is read.').isVisible()
    })
    .toBe(true)
}

/** From the sandbox's sample to checked rows. */
export async function checkSample(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Try it with the sandbox' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await seeScreen(page, 'Check')
}

/** From checked rows to a run that is sent as fast as the sandbox allows. */
export async function sendEverything(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Review [\d,]+ row/ }).click()
  await page.getByLabel('In flight').fill('200')
  await page.getByRole('button', { name: /^Send (the other )?[\d,]+ row/ }).click()
  await page.getByRole('heading', { name: 'Triggered rules' }).waitFor()
}

/** From a step before a complete mapping to an ended run of all rows. */
export async function checkAndSend(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Check all rows' }).click()
  await sendEverything(page)
  await seeRunEnded(page)
}

/** From checked rows to a run that takes many seconds, since it sends one row at a time. */
export async function sendSlowly(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Review [\d,]+ row/ }).click()
  await page.getByLabel('In flight').fill('1')
  await page.getByRole('button', { name: /^Send [\d,]+ row/ }).click()
  await page.getByRole('heading', { name: 'Triggered rules' }).waitFor()
}

/** From the first screen to the interrupted run, which continues as it was sent before. */
export async function resumeInterrupted(page: Page): Promise<void> {
  await page.getByText('was interrupted').waitFor()
  await page.getByRole('button', { name: 'Review and resume' }).click()
  await page.getByRole('button', { name: 'Resume…' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: /^Resume \d+ rows/ }).click()
  await page.getByRole('button', { name: 'Pause' }).waitFor()
}

/** Makes the run on screen send many rows at a time. */
export async function sendFaster(page: Page): Promise<void> {
  await page.getByLabel('In flight at most').fill('64')
  await page.getByLabel('In flight at most').press('Enter')
}

/** Waits until the run on screen has ended. */
export async function seeRunEnded(page: Page, state = 'completed'): Promise<void> {
  await page.locator('main header').getByText(state, { exact: true }).waitFor()
}

/** The counts by state on the run's screen. */
export async function readShownCounts(page: Page): Promise<Record<string, number>> {
  const rows = page.locator('tr[data-state]')
  return Object.fromEntries(
    await rows.evaluateAll((elements) =>
      elements.map((element) => [
        element.getAttribute('data-state') ?? '',
        Number(element.querySelector('[data-count]')?.getAttribute('data-count')),
      ]),
    ),
  )
}

/**
 * Toggles a switch or checkbox by keyboard. Its own element is hidden, so a click would have to be forced,
 * and a forced click hits whatever has moved there meanwhile.
 */
export async function switchTo(control: Locator, isOn: boolean): Promise<void> {
  if ((await control.isChecked()) !== isOn) await control.press('Space')
  await expect.poll(() => control.isChecked()).toBe(isOn)
}
