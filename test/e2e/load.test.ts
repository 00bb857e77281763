import { readFileSync } from 'node:fs'
import { expect, inject, it } from 'vitest'
import { openApp } from '../helpers/e2e/open-app.ts'
import { chooseFile, seeRunEnded, seeScreen } from '../helpers/e2e/walk.ts'
import { startFaultServer, toTaskAnswer } from '../helpers/fault-server.ts'

it('loads a service, shows which thresholds hold and which are crossed, and exports the report', {
  skip: !inject('walksAll'),
}, async () => {
  // The service holds the last answers until the test has seen the run under way.
  const waiting: (() => void)[] = []
  const service = await startFaultServer({
    onRequest: (request, wire) => {
      const answer = () => wire.send(200, toTaskAnswer(request))
      // The first request comes before the load test, which sends eighty.
      if (request.number <= 61) answer()
      else waiting.push(answer)
    },
  })
  const { page, inspect } = await openApp()
  await page.getByRole('button', { name: 'Choose what to do first' }).click()
  await page.getByRole('radio', { name: 'Load test' }).check()
  await page.getByRole('radiogroup', { name: 'Pace' }).getByText('Arrival rate').click()

  // Stages: as a drawing, by keyboard and in numbers.
  await page.getByRole('radiogroup', { name: 'Shape' }).getByText('Stages').click()
  const text = page.getByLabel('Stages as text')
  expect(await text.inputValue()).toBe('0..50@1m, 50@2m, 50..0@30s')
  await page.getByRole('slider', { name: 'Stage 2, level' }).press('Shift+ArrowUp')
  expect(await text.inputValue()).toBe('0..60@1m, 60@2m, 60..0@30s')
  await page.getByRole('slider', { name: 'Stage 1, end' }).press('ArrowRight')
  expect(await text.inputValue()).toBe('0..60@1m1s, 60@2m, 60..0@30s')
  const end =
    (await page.getByRole('slider', { name: 'Stage 2, end' }).boundingBox()) ?? expect.fail('a point')
  const [x, y] = [end.x + end.width / 2, end.y + end.height / 2]
  await page.mouse.move(x, y)
  await page.mouse.down()
  await page.mouse.move(x, y + 40, { steps: 4 })
  await page.mouse.up()
  expect(await text.inputValue()).toMatch(/^0\.\.60@1m1s, 60\.\.(4\d|5\d)(\.\d+)?@2m, \S+\.\.0@30s$/)
  await page.getByRole('slider', { name: 'Stage 3, level' }).press('Delete')
  await page.getByRole('button', { name: 'Add after stage 2' }).click()
  await page.getByLabel('Stage 3, duration').fill('45s')
  await page.getByLabel('Stage 3, end').and(page.getByRole('textbox')).fill('5')
  expect(await text.inputValue()).toMatch(/, \S+\.\.5@45s$/)
  await inspect('load-stages')

  await page.getByRole('radiogroup', { name: 'Shape' }).getByText('Constant').click()
  await page.getByLabel('Requests a second').fill('40')
  // An empty field shows the number that remains in effect.
  await page.getByLabel('Requests a second').fill('')
  await page.getByLabel('Requests a second').press('Tab')
  expect(await page.getByLabel('Requests a second').inputValue()).toBe('40')
  await page.getByLabel('Duration').fill('2s')
  await page.getByLabel('Warm-up').fill('0s')
  await page.getByLabel('Graceful stop').fill('10m')
  const thresholds = page.getByLabel('Thresholds as text')
  await thresholds.fill('http_req_failed<0.5\np(99)<')
  await page.getByText(/^Line 2, character \d+: expected/).waitFor()
  await expect.poll(() => page.getByRole('button', { name: 'Continue' }).isDisabled()).toBe(true)
  await inspect('load-operation')
  await thresholds.fill('http_req_failed<0.5')
  await page.getByRole('button', { name: 'Latency', exact: true }).click()
  const latency = page.getByRole('group', { name: /^Threshold http_req_duration/ })
  await latency.getByLabel('Percentile').fill('50')
  await latency.getByLabel('Limit').fill('0.001')
  expect(await thresholds.inputValue()).toBe('http_req_failed<0.5\nhttp_req_duration:p(50)<0.001')
  await page.getByRole('button', { name: 'Continue' }).click()
  await chooseFile(page, { name: 'posts.csv', text: 'user_id,text_data\nu1,hello\nu2,good day\n' })
  await page.getByText('Load test v1 sync, open, 40 requests a second').waitFor()
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Review 2 rows' }).click()
  await page.getByText('open, 40 requests a second for 2 s').waitFor()
  expect(await page.getByRole('button', { name: /^Send/ }).count()).toBe(0)
  await page.getByRole('radio', { name: 'A service' }).check()
  await page.getByLabel('Base URL').fill(service.baseUrl)
  await page.getByLabel('API key', { exact: true }).fill('load-key')
  await page.getByLabel('Timeout (s)').fill('')
  await page.getByLabel('Timeout (s)').press('Tab')
  expect(await page.getByLabel('Timeout (s)').inputValue()).toBe('60')
  await inspect('load-review')
  await page.getByRole('button', { name: 'Start the load test' }).click()

  const progress = page.getByRole('region', { name: 'Progress' })
  await progress.getByText('Scheduled').waitFor()
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  expect(await page.getByRole('button', { name: /Pause|Resume|Retry|View results/ }).count()).toBe(0)
  await service.arrivals(81)
  for (const answer of waiting) answer()
  await seeRunEnded(page, 'threshold failed')
  const summary = page.getByRole('region', { name: 'Summary' })
  await summary.getByText('80 in total').first().waitFor()
  const judged = page.getByRole('region', { name: 'Thresholds' })
  await judged.getByText('1 of 2 crossed').waitFor()
  await judged.getByRole('row', { name: /http_req_failed<0\.5 holds 0 %/ }).waitFor()
  await judged.getByRole('row', { name: /p\(50\)<0\.001 crossed .+ ms/ }).waitFor()
  await page.getByRole('row', { name: /^response_time/ }).waitFor()
  await page.getByRole('img', { name: /^http_req_duration percentiles over \d+ s/ }).waitFor()
  // Every chart works by keyboard.
  await page.getByRole('slider', { name: 'Bars of response_time' }).press('End')
  await page
    .getByText(/; 100 % took at most/)
    .first()
    .waitFor()
  // Go to the first second with answers.
  const seconds = page.getByRole('slider', { name: 'Seconds of http_req_duration' })
  await seconds.press('Home')
  const isMeasured = async () => {
    if ((await page.getByText(/^at \d+ s: p50 /).count()) > 0) return true
    await seconds.press('ArrowRight')
    return false
  }
  await expect.poll(isMeasured).toBe(true)
  const course = page.getByRole('img', { name: /^http_req_duration percentiles over \d+ s/ })
  await course.scrollIntoViewIfNeeded()
  const { x: left, y: top, width } = (await course.boundingBox()) ?? expect.fail('a chart')
  await page.mouse.move(left + width * 0.4, top + 60)
  await page.mouse.down()
  await page.mouse.move(left + width * 0.7, top + 60, { steps: 4 })
  await page.mouse.up()
  await page.getByRole('button', { name: 'Show all' }).click()
  await page.getByRole('group', { name: 'Latencies with charts' }).getByText('http_req_waiting').click()
  await page
    .getByRole('img', { name: /^Distribution of http_req_waiting: half of the answers within/ })
    .waitFor()
  await inspect('load-report')
  expect(await page.getByRole('link', { name: 'Results' }).count()).toBe(0)

  await page.getByRole('button', { name: 'Export the report' }).click()
  await seeScreen(page, 'Export')
  for (const [label, name, start] of [
    ['Report', /^posts-.+\.html$/, '<!doctype html>'],
    ['JUnit', /^posts-.+\.junit\.xml$/, '<?xml'],
    ['Histogram log', /^posts-.+\.hlog$/, '#'],
    ['CSV by second', /^posts-.+\.csv$/, ''],
    ['JSON lines of requests', /^posts-.+\.jsonl$/, '{'],
    ['k6 project', /^posts-.+\.k6\.zip$/, 'PK'],
  ] as const) {
    await page.getByRole('radio', { name: label }).check()
    const coming = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Write the file' }).click()
    const download = await coming
    expect(download.suggestedFilename()).toMatch(name)
    expect(
      readFileSync(await download.path(), 'utf8')
        .replace('\uFEFF', '')
        .toLowerCase(),
    ).toMatch(new RegExp(`^${start.toLowerCase().replace(/[?<>]/g, '\\$&')}`))
  }
  await inspect('load-export')
  await page.getByRole('link', { name: 'Runs' }).click()
  const facts = page.getByText('load test · ✗ 1 of 2 thresholds failed · v1 sync · 80 requests')
  await facts.waitFor()
  const [inside, around] = [await facts.boundingBox(), await page.getByRole('rowheader').boundingBox()]
  if (inside === null || around === null) expect.fail('the facts of a run')
  expect(inside.x + inside.width).toBeLessThanOrEqual(around.x + around.width)
  await inspect('runs-load')
})

it('explains a capacity search, runs it, and shows the curve and its probes', {
  skip: !inject('walksAll'),
}, async () => {
  const { page, inspect } = await openApp()
  await page.getByRole('button', { name: 'Choose what to do first' }).click()
  await page.getByRole('radio', { name: 'Load test' }).check()
  await page.getByRole('radiogroup', { name: 'Goal' }).getByText('Find the capacity').click()
  await page.getByText('Add a threshold to search by').first().waitFor()
  await page.getByRole('button', { name: 'Latency', exact: true }).click()
  // The probes hold on any machine, however slow.
  const latency = page.getByRole('group', { name: /^Threshold http_req_duration/ })
  await latency.getByLabel('Limit').fill('60000')
  await page.getByLabel('First level').fill('1')
  await page.getByLabel('Probes at most').fill('2')
  await page.getByLabel('Each probe measures').fill('1s')
  await page.getByLabel('After a warm-up of').fill('0s')
  await page.getByLabel('Pause between probes').fill('0s')
  await inspect('capacity-options')
  await page.getByRole('button', { name: 'Continue' }).click()
  await chooseFile(page, { name: 'posts.csv', text: 'user_id,text_data\nu1,hello\nu2,good day\n' })
  await page.getByRole('button', { name: 'Continue' }).click()
  await page.getByRole('button', { name: 'Review 2 rows' }).click()
  await page
    .getByRole('region', { name: 'Each probe' })
    .getByText('Thresholds http_req_duration:p(99)<60000; http_req_failed:rate<0.01')
    .waitFor()
  await page.getByRole('button', { name: 'Start the capacity search…' }).click()
  const dialog = page.getByRole('dialog', { name: 'Start the capacity search?' })
  await dialog.getByText(/Everyone who uses this deployment may get slow answers and errors/).waitFor()
  await dialog.getByText('1 s each, 0 s apart, from 1 request in flight').waitFor()
  await inspect('capacity-question')
  await dialog.getByRole('button', { name: 'Start the search' }).click()
  // On a busy machine the first probe, or all of them, may end before the test looks.
  await page
    .getByRole('region', { name: /^Probe \d at \d in flight/ })
    .or(page.getByText('search is over'))
    .waitFor()
  await inspect('capacity-searching')
  await page.getByText('search is over').waitFor()
  await page.getByText('at least 2 requests in flight').waitFor()
  await page.getByText('All probes up to 2 in flight held.').waitFor()
  await page
    .getByRole('img', { name: /^http_req_duration by concurrency: at 1 in flight: held 1 of 1/ })
    .waitFor()
  await page.getByRole('slider', { name: 'Levels that were probed' }).press('End')
  await page.getByText(/^at 2 in flight: held 1 of 1, p50 /).waitFor()
  await inspect('capacity-found')
  await page.getByRole('button', { name: '2 at 2 in flight' }).click()
  await seeScreen(page, /probe 2 at 2 in flight/)
  await page.getByRole('link', { name: 'Capacity search' }).click()
  await page.getByText('search is over').waitFor()
  await page.getByRole('link', { name: 'Runs' }).click()
  await page.getByRole('button', { name: 'Open the search' }).click()
  await page.getByText('search is over').waitFor()
})
