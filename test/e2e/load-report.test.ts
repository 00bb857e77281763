import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, inject, it } from 'vitest'
import { formatLoadPage } from '../../src/main/engine/load/report/load-page.ts'
import { findViolations, takePictures } from '../helpers/e2e/inspect-screen.ts'
import { openBrowser } from '../helpers/e2e/open-app.ts'
import { openTestFolder } from '../helpers/test-folder.ts'
import { buildEmptyLoadReport, buildLoadReport } from '../main/engine/load/report/build-load-report.ts'

const folder = openTestFolder()

const HOSTILE =
  '</title><script>document.title = "taken"</script><img src="https://elsewhere.test/x.png" onerror="alert(1)">'

it.each([
  ['usual', buildLoadReport({ stalled: [20], limited: [40], failingFrom: 30 })],
  ['empty', buildEmptyLoadReport()],
  [
    'hostile',
    buildLoadReport(
      { seconds: 3 },
      { name: HOSTILE, plan: [HOSTILE], stopReason: HOSTILE, state: 'stopped' },
    ),
  ],
])(
  'opens a load report offline, without a request or a complaint, light and dark: %s',
  async (name, report) => {
    const file = join(folder, `${name}.html`)
    await writeFile(file, formatLoadPage(report))
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
      expect(await page.title()).toBe(`${report.name} · load test`)
      // The style sheet passed the page's own policy.
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
