import type { Page } from 'playwright-core'

/** Waits for the title of a screen. */
export async function seeScreen(page: Page, title: string | RegExp): Promise<void> {
  await page.getByRole('heading', { name: title, level: 1 }).waitFor()
}

/** Hands a file to the page as if it had been chosen in the browser's dialog, and waits for its preview. */
export async function chooseFile(page: Page, file: { name: string; text: string | Buffer }): Promise<void> {
  await page
    .getByTestId('file')
    .setInputFiles({ name: file.name, mimeType: 'text/csv', buffer: Buffer.from(file.text) })
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
  await page.dispatchEvent('body', 'dragover', { dataTransfer: transfer })
  await page.dispatchEvent('body', 'drop', { dataTransfer: transfer })
  await seeScreen(page, 'Source')
  await page.getByRole('grid', { name: 'First rows of the source' }).waitFor()
}

/** From the sandbox's sample to its checked rows. */
export async function checkSample(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Try it with the sandbox' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await seeScreen(page, 'Check')
}

/** From the checked rows to a run that is being sent, as fast as the sandbox takes it. */
export async function sendEverything(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Review [\d,]+ row/ }).click()
  await page.getByLabel('In flight').fill('200')
  await page.getByRole('button', { name: /^Send (the other )?[\d,]+ row/ }).click()
  await page.getByRole('heading', { name: 'Triggered rules' }).waitFor()
}

/** Waits until the run on the screen has ended. */
export async function seeRunEnded(page: Page, state = 'completed'): Promise<void> {
  await page.locator('main header').getByText(state, { exact: true }).waitFor()
}

/** The counts by state as the run's screen shows them. */
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
