import type { Frames } from './frames.ts'
import type { Taken, WindowPage } from './window-page.ts'

/** The window's steps, in order, with their costs. */
export type WindowFigures = Record<string, Taken>

const GRID = `document.querySelector('[role=grid][aria-label="Rows of the run"]')`

/** Rows that are laid out and loaded; `which` is a further condition on their numbers in the list, from 1. */
function toRowsDrawn(which = 'true'): string {
  return `((rows) => rows.length > 0 && rows.every((row) => row.querySelector('[aria-label=Loading]') === null) &&
    rows.map((row) => Number(row.getAttribute('aria-rowindex')) - 1).some((at) => ${which}))(
      [...(${GRID}?.querySelectorAll('[role=row][aria-rowindex]:not([aria-rowindex="1"])') ?? [])])`
}

const COUNT = `document.querySelector('main p[aria-live] strong')?.textContent`
const IS_COUNTED = `/^[\\d,]+ rows?$/.test(${COUNT} ?? '')`

/** The window's number of all rows, or of matching rows, has changed. */
const IS_COUNTED_ANEW = `${IS_COUNTED} && ${COUNT} !== window.countBefore`
const NOTE_COUNT = `window.countBefore = ${COUNT};`

const ARE_ANSWERS_COUNTED = `document.querySelector('[role=group][aria-label^="Score of "] button') !== null`

function show(runId: string, screen: string): string {
  return `location.hash = '#/run/${runId}/${screen}';`
}

function press(key: string): string {
  return `${GRID}.dispatchEvent(new KeyboardEvent('keydown', { key: '${key}', bubbles: true, cancelable: true }));`
}

function choose(selector: string, value: string): string {
  return `((input, value) => {
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(input), 'value').set.call(input, value)
    input.dispatchEvent(new Event(input instanceof HTMLSelectElement ? 'change' : 'input', { bubbles: true }))
  })(document.querySelector('${selector}'), ${value});`
}

const RESULTS = {
  'first page': toRowsDrawn(),
  facets: `document.querySelector('section[aria-label="State"] button') !== null`,
  'languages, models and scores': ARE_ANSWERS_COUNTED,
}

/** How long the pointer is over a tab before the press, milliseconds; people are rarely faster. */
const POINTING_MS = 200

/** A run's results from the first page on, opened from its overview: jumps, a search, filters and orders. */
export async function walkResults(window: WindowPage, runId: string, rows: number): Promise<WindowFigures> {
  const figures: WindowFigures = {}
  const middle = Math.floor(rows / 2)
  const tab = `a[href="#/run/${runId}/results"]`
  await window.time(`location.hash = '#/run/${runId}'`, {
    read: `document.querySelector('${tab}') !== null && document.querySelector('h1').textContent !== 'Reading the run'`,
  })
  await window.rest()
  await window.page.hover(tab)
  await window.page.waitForTimeout(POINTING_MS)
  figures['results'] = await window.time(`document.querySelector('${tab}').click()`, RESULTS)
  figures['jump to the last row'] = await window.time(press('End'), { drawn: toRowsDrawn(`at === ${rows}`) })
  figures['jump to the middle'] = await window.time(
    `${GRID}.scrollTop = (${GRID}.scrollHeight - ${GRID}.clientHeight) / 2;`,
    { drawn: toRowsDrawn(`Math.abs(at - ${middle}) < 200`) },
  )
  figures['jump to the first row'] = await window.time(press('Home'), { drawn: toRowsDrawn('at === 1') })
  const search = choose('input[aria-label="Search the cells"]', `'${middle}'`)
  figures['search'] = await window.time(NOTE_COUNT + search, {
    'all counted': IS_COUNTED_ANEW,
    drawn: `${IS_COUNTED_ANEW} && ${toRowsDrawn()}`,
  })
  const endSearch = choose('input[aria-label="Search the cells"]', "''")
  figures['end of the search'] = await window.time(NOTE_COUNT + endSearch, { drawn: IS_COUNTED_ANEW })
  const rule = `document.querySelector('section[aria-label="Triggered rule"] button').click();`
  const bands = `[...document.querySelectorAll('[role=group][aria-label="Score of hate"] button')]`
  figures['rows of a rule'] = await window.time(NOTE_COUNT + rule, {
    drawn: `${IS_COUNTED_ANEW} && ${toRowsDrawn()}`,
    'bands of scores': `${IS_COUNTED_ANEW} && ${bands}.length > 0`,
  })
  const band = `${bands}.at(-1).click();`
  figures['rows of a rule and a score'] = await window.time(NOTE_COUNT + band, {
    drawn: `${IS_COUNTED_ANEW} && ${toRowsDrawn()}`,
  })
  const all = `[...document.querySelectorAll('button')].find((button) => button.textContent === 'Show all rows').click();`
  figures['all rows again'] = await window.time(NOTE_COUNT + all, { drawn: IS_COUNTED_ANEW })
  const slowest = `[...document.querySelector('select[aria-label="Sort by"]').options].find(({ text }) => text === 'Slowest first').value`
  const firstRow = `${GRID}.querySelector('[aria-rowindex="2"]')?.textContent`
  figures['slowest first'] = await window.time(
    `window.rowBefore = ${firstRow}; ${choose('select[aria-label="Sort by"]', slowest)}`,
    { drawn: `${toRowsDrawn('at === 1')} && ${firstRow} !== window.rowBefore` },
  )
  return figures
}

/** A run's results opened by address from the list of runs, without anything prefetched. */
export async function walkToResults(window: WindowPage, runId: string): Promise<WindowFigures> {
  await window.rest()
  return { 'results by address': await window.time(show(runId, 'results'), RESULTS) }
}

/** Views a run's results until the content of all answers is counted, and so stored. */
export async function lookAtAnswers(window: WindowPage, runId: string): Promise<void> {
  await window.time(show(runId, 'results'), { counted: ARE_ANSWERS_COUNTED })
}

/** The evaluation of a run by the label column that the window guesses. */
export async function walkEvaluation(window: WindowPage, runId: string): Promise<WindowFigures> {
  return {
    evaluate: await window.time(show(runId, 'evaluate'), {
      figures: `[...document.querySelectorAll('[role=status]')].some(({ textContent }) => textContent === 'Evaluated')
        && [...document.querySelectorAll('caption')].some((caption) => caption.textContent.startsWith('Rows by what'))`,
    }),
  }
}

/** Two runs side by side. */
export async function walkComparison(
  window: WindowPage,
  runIds: readonly [string, string],
): Promise<WindowFigures> {
  const compared = await window.time(`location.hash = '#/compare/${runIds.join('/')}';`, {
    figures: `[...document.querySelectorAll('h2')].some(({ textContent }) => textContent === 'Rules')`,
  })
  return { compare: compared }
}

/** The frames of scrolling over a run's results with the wheel for `seconds`. */
export async function scrollResults(window: WindowPage, runId: string, seconds: number): Promise<Frames> {
  await window.time(`location.hash = '#/runs'; ${show(runId, 'results')}`, { drawn: toRowsDrawn() })
  return window.measureFrames(() => window.turnWheel(seconds))
}

/** Distance of ten minutes of scrolling with the wheel without a pause, CSS pixels. */
const TEN_MINUTES_PX = 10 * 60 * 60 * 120

/** Scrolls through as many rows as in ten minutes, a screen at a time; at most `screens`. */
export async function scrollThrough(window: WindowPage, screens: number): Promise<void> {
  await window.page.evaluate(`(async () => {
    const grid = ${GRID}
    const stepPx = grid.clientHeight * 1.9
    const steps = Math.min(${screens}, ${TEN_MINUTES_PX} / stepPx)
    for (let step = 0; step < steps; step += 1) {
      grid.scrollTop += stepPx
      await new Promise((drawn) => requestAnimationFrame(drawn))
    }
  })()`)
}

/** The list of many runs, and a search in it. */
export async function walkRuns(window: WindowPage): Promise<WindowFigures> {
  const rows = `document.querySelectorAll('main table tbody tr').length`
  return {
    'page of runs': await window.time(`location.hash = '#/connections'; location.hash = '#/runs';`, {
      drawn: `document.querySelector('h1')?.textContent === 'Runs' && ${rows} > 10`,
    }),
    'search of runs': await window.time(
      `window.runsBefore = document.querySelector('main table').textContent;
       ${choose('search input[placeholder^="Name, id"]', "'posts 777'")}`,
      { drawn: `${rows} > 0 && document.querySelector('main table')?.textContent !== window.runsBefore` },
    ),
  }
}
