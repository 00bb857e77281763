import { describe, expect, it } from 'vitest'
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

  it('puts both ends of the scroll bar at both ends of the rows', () => {
    expect(toContentTop(0, million)).toBe(0)
    expect(toContentTop(maxScrollTop(million), million)).toBe(maxContentTop(million))
    expect(toScrollTop(maxContentTop(million), million)).toBe(maxScrollTop(million))
  })

  it('moves the rows as far as the wheel turned, so that none is skipped', () => {
    const next = nextContentTop({ scrollTop: 1_100, previousScrollTop: 1_000, contentTop: 500_000 }, million)
    expect(next).toBe(500_100)
  })

  it('goes to the proportional place when the bar is dragged', () => {
    const middle = maxScrollTop(million) / 2
    const next = nextContentTop({ scrollTop: middle, previousScrollTop: 0, contentTop: 0 }, million)
    expect(next).toBeCloseTo(maxContentTop(million) / 2, 3)
  })

  it('never leaves the rows', () => {
    expect(nextContentTop({ scrollTop: 0, previousScrollTop: 100, contentTop: 20 }, million)).toBe(0)
    const end = maxContentTop(million)
    expect(nextContentTop({ scrollTop: 600, previousScrollTop: 500, contentTop: end }, million)).toBe(end)
  })

  it('reads back the place that it wrote, to the pixel', () => {
    for (const contentTop of [0, 1, 777_777, 16_000_000, maxContentTop(million)]) {
      expect(toContentTop(toScrollTop(contentTop, million), million)).toBeCloseTo(contentTop, 3)
    }
  })
})

describe('bringing a row into view', () => {
  it('does not move where the row is in view', () => {
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
