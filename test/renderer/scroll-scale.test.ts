import { describe, expect, it } from 'vitest'
import { fitsColumn, toTextEm, toWordEm } from '../../src/renderer/ui/grid/cell-width.ts'
import { assignRows } from '../../src/renderer/ui/grid/data-grid.tsx'
import {
  createScrollScale,
  maxContentTop,
  maxScrollTop,
  nextContentTop,
  SCROLL_MAX_PX,
  toContentTop,
  toRevealTop,
  toScrollTop,
} from '../../src/renderer/ui/grid/use-row-window.ts'

const ROW_PX = 32
const million = createScrollScale(1_000_000 * ROW_PX, 700)
const thousand = createScrollScale(1_000 * ROW_PX, 700)

describe('scrolling more rows than an element can be tall', () => {
  it('scrolls few rows one to one', () => {
    expect(thousand.scrolledPx).toBe(32_000)
    expect(toContentTop(1_234, thousand)).toBe(1_234)
    expect(nextContentTop({ scrollTop: 9_000, previousScrollTop: 0, contentTop: 0 }, thousand)).toBe(9_000)
  })

  it('keeps the element of a million rows within the limit', () => {
    expect(million.scrolledPx).toBe(SCROLL_MAX_PX)
  })

  it('maps both ends of the scroll bar to both ends of the rows', () => {
    expect(toContentTop(0, million)).toBe(0)
    expect(toContentTop(maxScrollTop(million), million)).toBe(maxContentTop(million))
    expect(toScrollTop(maxContentTop(million), million)).toBe(maxScrollTop(million))
  })

  it('moves the rows as far as the wheel turned, so that none is skipped', () => {
    const next = nextContentTop({ scrollTop: 1_100, previousScrollTop: 1_000, contentTop: 500_000 }, million)
    expect(next).toBe(500_100)
  })

  it('goes to the proportional position when the bar is dragged', () => {
    const middle = maxScrollTop(million) / 2
    const next = nextContentTop({ scrollTop: middle, previousScrollTop: 0, contentTop: 0 }, million)
    expect(next).toBeCloseTo(maxContentTop(million) / 2, 3)
  })

  it('never scrolls past the rows', () => {
    expect(nextContentTop({ scrollTop: 0, previousScrollTop: 100, contentTop: 20 }, million)).toBe(0)
    const end = maxContentTop(million)
    expect(nextContentTop({ scrollTop: 600, previousScrollTop: 500, contentTop: end }, million)).toBe(end)
  })

  it('reads back the position that it wrote, to the pixel', () => {
    for (const contentTop of [0, 1, 777_777, 16_000_000, maxContentTop(million)]) {
      expect(toContentTop(toScrollTop(contentTop, million), million)).toBeCloseTo(contentTop, 3)
    }
  })
})

describe('bringing a row into view', () => {
  it('does not move if the row is in view', () => {
    expect(toRevealTop({ index: 3, heightPx: ROW_PX }, 0, million)).toBe(0)
  })

  it('moves as little as it can, up or down', () => {
    expect(toRevealTop({ index: 10, heightPx: ROW_PX }, 400, million)).toBe(320)
    expect(toRevealTop({ index: 30, heightPx: ROW_PX }, 0, million)).toBe(31 * ROW_PX - 700)
  })

  it('reaches the last row of a million', () => {
    expect(toRevealTop({ index: 999_999, heightPx: ROW_PX }, 0, million)).toBe(maxContentTop(million))
  })
})

describe('elements of rows', () => {
  const toIndexes = (places: readonly { index: number }[]) => places.map(({ index }) => index)
  const toKeys = (places: readonly { key: number }[]) => places.map(({ key }) => key)
  const five = assignRows([], 0, 4)

  it('are created in the order of the rows', () => {
    expect(toIndexes(five)).toEqual([0, 1, 2, 3, 4])
    expect(new Set(toKeys(five)).size).toBe(5)
  })

  it('move from rows that left the view to those that entered it, and otherwise stay', () => {
    const scrolled = assignRows(five, 2, 6)
    expect(toIndexes(scrolled)).toEqual([5, 6, 2, 3, 4])
    expect(toKeys(scrolled)).toEqual(toKeys(five))
    const back = assignRows(scrolled, 0, 4)
    expect(back).toEqual(five)
  })

  it('are reused after a jump, in the order of the rows', () => {
    const jumped = assignRows(five, 999_995, 999_999)
    expect(toIndexes(jumped)).toEqual([999_995, 999_996, 999_997, 999_998, 999_999])
    expect(toKeys(jumped)).toEqual(toKeys(five))
  })

  it('are added and removed with the height of the view, none twice', () => {
    const taller = assignRows(assignRows(five, 3, 7), 3, 9)
    expect(toIndexes(taller).toSorted()).toEqual([3, 4, 5, 6, 7, 8, 9])
    expect(new Set(toKeys(taller)).size).toBe(7)
    expect(toIndexes(assignRows(taller, 3, 5)).toSorted()).toEqual([3, 4, 5])
    expect(assignRows(taller, 0, -1)).toEqual([])
  })

  it('are unchanged while the same rows stay in view', () => {
    expect(assignRows(five, 0, 4)).toBe(five)
  })
})

describe('cells that need not be clipped', () => {
  it('are those whose text fits the column in any usual font', () => {
    expect(fitsColumn(toWordEm('595 ms'), 5.75, false)).toBe(true)
    expect(fitsColumn(toTextEm('user5'), 10.5, false)).toBe(true)
    expect(fitsColumn(toTextEm('a cell with many words in it'), 10.5, false)).toBe(false)
  })

  it('hold only ASCII, since other characters may be wider than they are high', () => {
    expect(fitsColumn(toTextEm('\u{FDFD}'), 28, false)).toBe(false)
    expect(fitsColumn(toTextEm('a\tb'), 28, false)).toBe(false)
  })

  it('have less room in the first column, which is indented from the edge', () => {
    expect(fitsColumn(5, 5.25, false)).toBe(true)
    expect(fitsColumn(5, 5.25, true)).toBe(false)
  })
})
