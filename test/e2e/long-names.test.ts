import { expect, inject, it } from 'vitest'
import { openApp } from '../helpers/e2e/open-app.ts'
import { chooseFile, seeRunEnded, seeScreen, sendEverything } from '../helpers/e2e/walk.ts'

const NAME = `comments-${'of-the-northern-region-'.repeat(5)}2026.csv`
const COLUMN = `what_the_${'former_moderators_'.repeat(5)}said`
const LABEL = `a category of comments ${'with a very long name '.repeat(3)}`

// Every inspection of a screen fails if a text is cut and cannot be read in full anywhere.
it('shows long names of a file, its columns and its labels in full, or on hover', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp({ width: 900, height: 700 })
  const rows = Array.from({ length: 8 }, (_, index) => `user-${index},sandbox:spam:3,${LABEL}${index % 2},x`)
  const text = `user_id,text_data,label,${COLUMN}\n${rows.join('\n')}\n`
  await chooseFile(page, { name: NAME, text })
  await inspect('long-names-source')
  await page.getByRole('button', { name: 'Continue' }).click()
  await inspect('long-names-mapping')
  await page.getByRole('button', { name: 'Check all rows' }).click()
  await page.getByRole('button', { name: /^Review [\d,]+ row/ }).waitFor()
  await sendEverything(page)
  await seeRunEnded(page)

  await page.getByRole('link', { name: 'Results', exact: true }).click()
  await page.getByRole('grid').getByText('succeeded').first().waitFor()
  await inspect('long-names-results')
  await page.getByRole('link', { name: 'Evaluate' }).click()
  await page.getByText('No label is mapped to a rule yet').waitFor()
  await inspect('long-names-evaluate')
  await page.getByRole('link', { name: 'Runs', exact: true }).click()
  await seeScreen(page, 'Runs')
  const run = page.getByRole('row').getByRole('button', { name: /^comments-/ })
  expect(await run.getAttribute('title')).toBe(NAME)
  await inspect('long-names-runs')
})
