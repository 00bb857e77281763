import { useVirtualizer } from '@tanstack/react-virtual'
import { type RefObject, useCallback, useEffect, useRef } from 'react'

const IDLE_MS = 140
const OVERSCAN_ROWS = 6

/** The rows in view and where they stand in the scrolled element. */
interface RowWindow {
  /** Height of the scrolled element in CSS pixels. */
  scrolledPx: number
  rows: { index: number; topPx: number }[]
  /** Brings a row into view with the smallest move. */
  reveal(index: number): void
}

/**
 * Windows any number of equal rows. Rows taller in all than an element may be are scrolled on a shorter one: the
 * content's own position is kept here, and the scroll bar is put back in proportion whenever it rests.
 * `headPx` is what a sticky head takes from the view.
 */
export function useRowWindow(
  element: RefObject<HTMLElement | null>,
  options: { count: number; rowPx: number; headPx: number },
): RowWindow {
  const { count, rowPx, headPx } = options
  const position = useRef({ contentTop: 0, scrollTop: 0 })
  const notify = useRef<(offset: number, isScrolling: boolean) => void>(() => {})

  const readScale = useCallback(() => {
    const viewPx = Math.max(0, (element.current?.clientHeight ?? 0) - headPx)
    return createScrollScale(count * rowPx, viewPx)
  }, [element, count, rowPx, headPx])
  const scaleReader = useRef(readScale)
  scaleReader.current = readScale

  const moveTo = useCallback(
    (contentTop: number) => {
      const scrolled = element.current
      if (!scrolled) return
      scrolled.scrollTop = toScrollTop(contentTop, scaleReader.current())
      position.current = { contentTop, scrollTop: scrolled.scrollTop }
      notify.current(contentTop, false)
    },
    [element],
  )

  const virtualizer = useVirtualizer({
    count,
    getScrollElement: () => element.current,
    estimateSize: () => rowPx,
    overscan: OVERSCAN_ROWS,
    scrollToFn: (offset) => moveTo(offset),
    observeElementOffset: (instance, report) => {
      const scrolled = instance.scrollElement
      if (!scrolled) return
      notify.current = report
      let rest: ReturnType<typeof setTimeout> | undefined
      const settle = () => {
        const { contentTop } = position.current
        const scrollTop = toScrollTop(contentTop, scaleReader.current())
        if (Math.abs(scrollTop - scrolled.scrollTop) >= 1) moveTo(contentTop)
        else report(contentTop, false)
      }
      const follow = () => {
        const { scrollTop } = scrolled
        const previous = position.current
        if (scrollTop === previous.scrollTop) return
        const contentTop = nextContentTop(
          { scrollTop, previousScrollTop: previous.scrollTop, contentTop: previous.contentTop },
          scaleReader.current(),
        )
        position.current = { contentTop, scrollTop }
        report(contentTop, true)
        clearTimeout(rest)
        rest = setTimeout(settle, IDLE_MS)
      }
      report(position.current.contentTop, false)
      scrolled.addEventListener('scroll', follow, { passive: true })
      return () => {
        clearTimeout(rest)
        scrolled.removeEventListener('scroll', follow)
      }
    },
  })

  // A shorter list leaves the browser's scroll position behind: read it again.
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs when the number or height of rows changes
  useEffect(() => {
    virtualizer.measure()
    const reach = Math.max(0, count * rowPx - readScale().viewPx)
    if (position.current.contentTop > reach) moveTo(reach)
  }, [count, rowPx])

  const reveal = useCallback(
    (index: number) => {
      const { contentTop } = position.current
      const next = toRevealTop({ index, heightPx: rowPx }, contentTop, scaleReader.current())
      if (next !== contentTop) moveTo(next)
    },
    [rowPx, moveTo],
  )

  const shift = position.current.scrollTop - position.current.contentTop
  return {
    scrolledPx: readScale().scrolledPx,
    rows: virtualizer.getVirtualItems().map((item) => ({ index: item.index, topPx: item.start + shift })),
    reveal,
  }
}

/** Tallest scrolled element in CSS pixels: far below every browser's limit, and exact in 32-bit floats. */
export const SCROLL_MAX_PX = 2_000_000

/** How far the rows reach, how far the scroll bar reaches, and how much of either is in view. CSS pixels. */
interface ScrollScale {
  contentPx: number
  scrolledPx: number
  viewPx: number
}

/** The scale of `contentPx` of rows seen through `viewPx`: one to one until the rows are too tall for an element. */
export function createScrollScale(contentPx: number, viewPx: number): ScrollScale {
  return { contentPx, scrolledPx: Math.min(contentPx, SCROLL_MAX_PX), viewPx }
}

/** Furthest `contentTop`. */
export function maxContentTop(scale: ScrollScale): number {
  return Math.max(0, scale.contentPx - scale.viewPx)
}

/** Furthest `scrollTop`. */
export function maxScrollTop(scale: ScrollScale): number {
  return Math.max(0, scale.scrolledPx - scale.viewPx)
}

/** Which content stands at the top when the scroll bar is at `scrollTop`. */
export function toContentTop(scrollTop: number, scale: ScrollScale): number {
  if (scale.contentPx === scale.scrolledPx) return scrollTop
  const reach = maxScrollTop(scale)
  return reach === 0 ? 0 : (clamp(scrollTop, reach) / reach) * maxContentTop(scale)
}

/** Where the scroll bar stands when `contentTop` is at the top. */
export function toScrollTop(contentTop: number, scale: ScrollScale): number {
  if (scale.contentPx === scale.scrolledPx) return contentTop
  const reach = maxContentTop(scale)
  return reach === 0 ? 0 : (clamp(contentTop, reach) / reach) * maxScrollTop(scale)
}

/**
 * The content's position after the scroll bar moved. A small step (wheel, arrow, touch) moves the content just as far,
 * so no row is ever skipped; a long one (a dragged bar) goes to the proportional place.
 */
export function nextContentTop(
  move: { scrollTop: number; previousScrollTop: number; contentTop: number },
  scale: ScrollScale,
): number {
  if (scale.contentPx === scale.scrolledPx) return move.scrollTop
  const step = move.scrollTop - move.previousScrollTop
  if (Math.abs(step) > scale.viewPx * 2) return toContentTop(move.scrollTop, scale)
  return clamp(move.contentTop + step, maxContentTop(scale))
}

/** The smallest move that brings a row wholly into view; `contentTop` where it already is. */
export function toRevealTop(
  row: { index: number; heightPx: number },
  contentTop: number,
  scale: ScrollScale,
): number {
  const start = row.index * row.heightPx
  const end = start + row.heightPx
  if (start < contentTop) return start
  if (end > contentTop + scale.viewPx) return clamp(end - scale.viewPx, maxContentTop(scale))
  return contentTop
}

function clamp(value: number, max: number): number {
  return Math.min(Math.max(0, value), max)
}
