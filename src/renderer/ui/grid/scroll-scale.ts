/** Tallest scrolled element in CSS pixels: far below every browser's limit, and exact in 32-bit floats. */
export const SCROLL_MAX_PX = 2_000_000

/** How far the rows reach, how far the scroll bar reaches, and how much of either is in view. CSS pixels. */
export interface ScrollScale {
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
