import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, inject, it } from 'vitest'
import { runKilled } from '../helpers/crash/kill.ts'
import { openApp } from '../helpers/e2e/open-app.ts'
import { readShownCounts, seeRunEnded } from '../helpers/e2e/walk.ts'
import { startHeldAnswers } from '../helpers/held-answers.ts'

const ROWS = 200
const ANSWERED = 40
const IN_FLIGHT = 8

const range = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, at) => first + at)

it('asks what to do with rows of unknown outcome before it resumes a run whose process was killed', {
  skip: !inject('walksAll'),
}, async () => {
  const service = await startHeldAnswers()
  service.release(range(1, ANSWERED))
  const { page, workspace, inspect } = await openApp()
  const path = join(workspace, 'posts.csv')
  const lines = range(1, ROWS).map((row) => `user-${row},hello number ${row}`)
  writeFileSync(path, `user_id,text_data\n${lines.join('\n')}\n`)
  const plan = {
    connection: { baseUrl: service.baseUrl },
    source: { path },
    operation: { kind: 'task' as const },
    pace: { kind: 'closed' as const, concurrency: IN_FLIGHT },
  }
  const isKilled = await runKilled(
    { workspace, work: { kind: 'start', plan } },
    { kind: 'event', happened: service.arrivals(ANSWERED + IN_FLIGHT) },
  )
  expect(isKilled).toBe(true)

  await page.reload()
  await page.getByText('was interrupted').waitFor()
  await inspect('runs-killed')
  await page.getByRole('button', { name: 'Review and resume' }).click()
  await page.getByRole('button', { name: 'Resume…' }).waitFor()
  await page.getByText('The process that sent this run was cut off').waitFor()
  expect(await page.getByText('not reused').count()).toBe(0)
  await inspect('run-killed')
  await page.getByRole('button', { name: 'Resume…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Resume the run' })
  await dialog.getByText(/^\d+ rows with an unknown outcome/).waitFor()
  await dialog.getByLabel('API key', { exact: true }).fill('key')
  await inspect('run-resume-unknown')
  await dialog.getByLabel('Send them again').check()
  service.release(range(1, ROWS))
  await dialog.getByRole('button', { name: /^Resume \d+ rows/ }).click()
  await seeRunEnded(page)
  expect(await readShownCounts(page)).toEqual({ succeeded: ROWS })
})
