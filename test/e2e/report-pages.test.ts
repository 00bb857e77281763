import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, inject, it } from 'vitest'
import { formatLoadPage } from '../../src/main/engine/load/report/load-page.ts'
import { reportRun } from '../../src/main/engine/lookback/report/run-report.ts'
import type { LoadReport } from '../../src/shared/load/load-report.ts'
import { findViolations, takePictures } from '../helpers/e2e/inspect-screen.ts'
import { openBrowser } from '../helpers/e2e/open-app.ts'
import { startFaultServer, toErrorAnswer, toTaskAnswer } from '../helpers/fault-server.ts'
import { createInProcessRuns } from '../helpers/in-process-runs.ts'
import { createRunPlan, openTestFolder } from '../helpers/test-folder.ts'
import { buildEmptyLoadReport, buildLoadReport } from '../main/engine/load/report/build-load-report.ts'

const folder = openTestFolder()

const HOSTILE =
  '</title><script>document.title = "taken"</script><img src="https://elsewhere.test/x.png" onerror="alert(1)">'

/** The report page of a load test and its title. */
const toLoadPage = (report: LoadReport) => async () => ({
  title: `${report.name} · load test`,
  text: formatLoadPage(report),
})

/** The report page of a bulk run with rules, failures and hostile content, its authors taken as labels. */
async function toRunPage() {
  const server = await startFaultServer({
    onRequest: (request, wire) => {
      if (request.number % 3 === 0) wire.send(400, toErrorAnswer(400, 'ODD', HOSTILE))
      else wire.send(200, toTaskAnswer(request, [{ rule_id: 'r1', rule_name: 'Spam' }]))
    },
  })
  const runs = createInProcessRuns(folder)
  const plan = {
    ...createRunPlan(folder, [HOSTILE.replaceAll('"', "'"), 'a', 'b', 'c', 'd', ''], server.baseUrl),
    name: HOSTILE,
  }
  const { runId, ended } = runs.start(plan)
  await ended
  const file = join(folder, `${runId}.html`)
  const evaluation = {
    label: 'user_id',
    useVerdicts: false,
    separator: null,
    slices: ['user_id'],
    scores: [],
    positives: [{ value: 'user0', rule: 'Spam' }],
    wantedPrecisions: [],
    whatIf: [],
    assertions: [],
    list: [{ cell: 'fp' as const, rule: null }],
  }
  await runs.read(runId, (family) => reportRun(family, { file, withContent: true, evaluation }))
  return { title: `${HOSTILE} · report`, text: await readFile(file, 'utf8') }
}

const PAGES: [name: string, toPage: () => Promise<{ title: string; text: string }>][] = [
  ['usual', toLoadPage(buildLoadReport({ stalled: [20], limited: [40], failingFrom: 30 }))],
  ['empty', toLoadPage(buildEmptyLoadReport())],
  [
    'hostile',
    toLoadPage(
      buildLoadReport(
        { seconds: 3 },
        { name: HOSTILE, plan: [HOSTILE], stopReason: HOSTILE, state: 'stopped' },
      ),
    ),
  ],
  ['bulk run', toRunPage],
]

it.each(PAGES.slice(inject('walksAll') ? 0 : 2))(
  'opens a report offline, without requests or errors, in light and dark: %s',
  async (name, toPage) => {
    const file = join(folder, `${name}.html`)
    const { title, text } = await toPage()
    await writeFile(file, text)
    const page = await (await openBrowser()).newPage()
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('dialog', (dialog) => complaints.push(dialog.message()))
    page.on('request', (request) => {
      if (!request.url().startsWith('file:')) complaints.push(request.url())
    })
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      await page.goto(pathToFileURL(file).href)
      expect(await page.title()).toBe(title)
      // The page's own policy allowed its style sheet.
      const background = await page.evaluate('getComputedStyle(document.body).backgroundColor')
      expect(background).toBe(colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(20, 24, 29)')
      expect(await findViolations(page)).toEqual([])
      const [width, visible] = (await page.evaluate(
        '[document.documentElement.scrollWidth, innerWidth]',
      )) as number[]
      expect(width).toBeLessThanOrEqual(visible ?? 0)
    }
    expect(complaints).toEqual([])
    const pictures = inject('pictureFolder')
    if (pictures !== null) await takePictures(page, `html-report-${name}`, pictures)
    await page.close()
  },
)
