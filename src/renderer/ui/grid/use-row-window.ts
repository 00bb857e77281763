import { type RefObject, useCallback, useEffect, useLayoutEffect, useReducer, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

const IDLE_MS = 140

/** Rows laid out outside the view, ahead of the scrolling direction and behind it. */
const AHEAD_ROWS = 6
const BEHIND_ROWS = 1

/** Delay for these rows, milliseconds after the first rows in view, which must not wait for them. */
const BEYOND_AFTER_MS = 100

/**
 * How long a view stays empty after jumping to rows that are not loaded, milliseconds: most arrive within
 * this time, and are drawn once instead of a page at a time after placeholders.
 */
const PATIENCE_MS = 50

interface LaidOut {
  /** Indexes of the first and the last row; the last is -1 if there is none. */
  first: number
  last: number
  /** Offset from a row's position among all rows to its position in the scrolled element, CSS pixels. */
  shiftPx: number
}

/** The rows in view and their positions in the scrolled element. */
interface RowWindow extends LaidOut {
  /** Height of the scrolled element in CSS pixels. */
  scrolledPx: number
  /** Scrolls a row into view by the smallest distance. */
  reveal(index: number): void
  /** Keeps a row in place after its index has changed. Rows out of view, and a view at the top, stay. */
  keepInPlace(from: number, to: number): void
}

/**
 * Windows any number of rows of equal height. If they are taller in total than an element may be, a shorter
 * element is scrolled: the content's position is kept here, and the scroll bar is corrected in proportion
 * whenever it rests. `headPx` is the height that a sticky head takes from the view. Draws again only when
 * other rows come into view, and reports them to `onWindow`; after a jump, rows that are not loaded have
 * {@link PATIENCE_MS} to arrive before placeholders appear.
 */
export function useRowWindow(
  element: RefObject<HTMLElement | null>,
  options: {
    count: number
    rowPx: number
    headPx: number
    isRead: (index: number) => boolean
    onWindow: ((first: number, last: number) => void) | undefined
  },
): RowWindow {
  const { count, rowPx, headPx, isRead, onWindow } = options
  const [, draw] = useReducer((times: number) => times + 1, 0)
  const position = useRef<Position>({ contentTop: 0, scrollTop: 0, goesUp: false })
  const viewPx = useRef(0)

  const [goesBeyond, setBeyond] = useState(false)

  const toScale = () => createScrollScale(count * rowPx, viewPx.current)
  const toWindow = () => toRowWindow(position.current, { count, rowPx, viewPx: viewPx.current, goesBeyond })
  const countRead = ({ first, last }: LaidOut) => {
    let read = 0
    for (let index = first; index <= last; index += 1) if (isRead(index)) read += 1
    return read
  }
  const patience = useRef<ReturnType<typeof setTimeout>>(undefined)
  const latest = useRef({ toScale, toWindow, countRead, shown: toWindow() })
  const { shown: before } = latest.current
  const next = toWindow()
  const isAwaited =
    patience.current !== undefined && before.last < count && countRead(next) <= next.last - next.first
  const shown = isAwaited ? before : next
  const stopWaiting = useCallback(() => {
    clearTimeout(patience.current)
    patience.current = undefined
  }, [])
  if (!isAwaited) stopWaiting()
  latest.current = { toScale, toWindow, countRead, shown }
  const { first, last } = shown
  useEffect(() => onWindow?.(first, Math.max(first, last)), [onWindow, first, last])
  useEffect(() => stopWaiting, [stopWaiting])
  const hasRows = last >= 0
  useEffect(() => {
    if (!hasRows) return
    const timer = setTimeout(() => setBeyond(true), BEYOND_AFTER_MS)
    return () => clearTimeout(timer)
  }, [hasRows])

  /** Draws new rows in view. While scrolling, this must not be deferred: the view would be empty. */
  const follow = useCallback(
    (isUrgent: boolean) => {
      const { toWindow, countRead, shown } = latest.current
      const next = toWindow()
      if (next.first === shown.first && next.last === shown.last && next.shiftPx === shown.shiftPx) return
      if (countRead(next) > 0 || countRead(shown) === 0) {
        stopWaiting()
        if (isUrgent) flushSync(draw)
        else draw()
        return
      }
      patience.current ??= setTimeout(() => {
        patience.current = undefined
        draw()
      }, PATIENCE_MS)
      onWindow?.(next.first, next.last)
    },
    [onWindow, stopWaiting],
  )

  const moveTo = useCallback(
    (contentTop: number) => {
      const scrolled = element.current
      if (!scrolled) return
      scrolled.scrollTop = toScrollTop(contentTop, latest.current.toScale())
      position.current = toPosition(position.current, contentTop, scrolled.scrollTop)
      follow(false)
    },
    [element, follow],
  )

  useLayoutEffect(() => {
    const scrolled = element.current
    if (!scrolled) return
    const readView = (isUrgent: boolean) => {
      viewPx.current = Math.max(0, scrolled.clientHeight - headPx)
      follow(isUrgent)
    }
    // At once, so that known rows are in the first frame.
    readView(false)
    const observer = new ResizeObserver(() => readView(true))
    observer.observe(scrolled)
    return () => observer.disconnect()
  }, [element, headPx, follow])

  useEffect(() => {
    const scrolled = element.current
    if (!scrolled) return
    let rest: ReturnType<typeof setTimeout> | undefined
    const settle = () => {
      const { contentTop, scrollTop } = position.current
      if (Math.abs(toScrollTop(contentTop, latest.current.toScale()) - scrollTop) >= 1) moveTo(contentTop)
    }
    const read = () => {
      const { scrollTop } = scrolled
      const previous = position.current
      if (scrollTop === previous.scrollTop) return
      const contentTop = nextContentTop(
        { scrollTop, previousScrollTop: previous.scrollTop, contentTop: previous.contentTop },
        latest.current.toScale(),
      )
      position.current = toPosition(previous, contentTop, scrollTop)
      follow(true)
      clearTimeout(rest)
      rest = setTimeout(settle, IDLE_MS)
    }
    scrolled.addEventListener('scroll', read, { passive: true })
    return () => {
      clearTimeout(rest)
      scrolled.removeEventListener('scroll', read)
    }
  }, [element, moveTo, follow])

  // After a list gets shorter, the browser's scroll position is beyond its end, so read it again.
  useEffect(() => {
    const reach = maxContentTop(createScrollScale(count * rowPx, viewPx.current))
    if (position.current.contentTop > reach) moveTo(reach)
  }, [count, rowPx, moveTo])

  const reveal = useCallback(
    (index: number) => {
      const { contentTop } = position.current
      const next = toRevealTop({ index, heightPx: rowPx }, contentTop, latest.current.toScale())
      if (next !== contentTop) moveTo(next)
    },
    [rowPx, moveTo],
  )

  const keepInPlace = useCallback(
    (from: number, to: number) => {
      const { contentTop } = position.current
      const isInView = (from + 1) * rowPx > contentTop && from * rowPx < contentTop + viewPx.current
      if (!isInView || contentTop === 0) return
      moveTo(clamp(contentTop + (to - from) * rowPx, maxContentTop(latest.current.toScale())))
    },
    [rowPx, moveTo],
  )

  return { ...shown, scrolledPx: toScale().scrolledPx, reveal, keepInPlace }
}

/** Positions of the content and the scroll bar, CSS pixels, and the direction of the last move. */
interface Position {
  contentTop: number
  scrollTop: number
  goesUp: boolean
}

function toPosition(previous: Position, contentTop: number, scrollTop: number): Position {
  const byPx = contentTop - previous.contentTop
  return { contentTop, scrollTop, goesUp: byPx === 0 ? previous.goesUp : byPx < 0 }
}

function toRowWindow(
  { contentTop, scrollTop, goesUp }: Position,
  options: { count: number; rowPx: number; viewPx: number; goesBeyond: boolean },
): LaidOut {
  const { count, rowPx, viewPx, goesBeyond } = options
  // The number of rows only depends on the view's height, so scrolling neither creates nor removes elements.
  const beyond = goesBeyond ? AHEAD_ROWS + BEHIND_ROWS : 0
  const rows = viewPx === 0 ? 0 : Math.min(count, Math.floor(viewPx / rowPx) + 2 + beyond)
  const above = goesBeyond ? (goesUp ? AHEAD_ROWS : BEHIND_ROWS) : 0
  const first = Math.min(Math.max(0, Math.floor(contentTop / rowPx) - above), count - rows)
  return {
    first,
    last: first + rows - 1,
    // Whole pixels, so that rounding does not move rows that stay in view.
    shiftPx: Math.round(scrollTop - contentTop),
  }
}

/** Tallest scrolled element in CSS pixels: far below every browser's limit, and exact in 32-bit floats. */
export const SCROLL_MAX_PX = 2_000_000

/** Total height of the rows, range of the scroll bar, and height of the view. CSS pixels. */
interface ScrollScale {
  contentPx: number
  scrolledPx: number
  viewPx: number
}

/** The scale for `contentPx` of rows in a view of `viewPx`: one to one unless too tall for an element. */
export function createScrollScale(contentPx: number, viewPx: number): ScrollScale {
  return { contentPx, scrolledPx: Math.min(contentPx, SCROLL_MAX_PX), viewPx }
}

export function maxContentTop(scale: ScrollScale): number {
  return Math.max(0, scale.contentPx - scale.viewPx)
}

export function maxScrollTop(scale: ScrollScale): number {
  return Math.max(0, scale.scrolledPx - scale.viewPx)
}

/** The content position at the top if the scroll bar is at `scrollTop`. */
export function toContentTop(scrollTop: number, scale: ScrollScale): number {
  if (scale.contentPx === scale.scrolledPx) return scrollTop
  const reach = maxScrollTop(scale)
  return reach === 0 ? 0 : (clamp(scrollTop, reach) / reach) * maxContentTop(scale)
}

/** The position of the scroll bar if `contentTop` is at the top. */
export function toScrollTop(contentTop: number, scale: ScrollScale): number {
  if (scale.contentPx === scale.scrolledPx) return contentTop
  const reach = maxContentTop(scale)
  return reach === 0 ? 0 : (clamp(contentTop, reach) / reach) * maxScrollTop(scale)
}

/**
 * The content position after the scroll bar moved. A small step (wheel, arrow, touch) moves the content by
 * the same distance, so that no row is skipped; a long one (a dragged bar) goes to the proportional position.
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

/** The nearest position with a row completely in view; `contentTop` if it already is. */
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
