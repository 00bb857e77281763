/**
 * Where a key moves the cursor of a table, null where the key is not one that moves: arrows, J and K, Page Up and
 * Page Down by `page` rows, Home and End. Never leaves the table.
 */
export function toMovedCursor(
  key: string,
  place: { cursor: number; count: number; page: number },
): number | null {
  const step = toStep(key, place)
  if (step === null || place.count === 0) return null
  return Math.min(Math.max(0, place.cursor + step), place.count - 1)
}

function toStep(key: string, place: { count: number; page: number }): number | null {
  switch (key) {
    case 'ArrowDown':
    case 'j':
    case 'J':
      return 1
    case 'ArrowUp':
    case 'k':
    case 'K':
      return -1
    case 'PageDown':
      return place.page
    case 'PageUp':
      return -place.page
    case 'Home':
      return -place.count
    case 'End':
      return place.count
    default:
      return null
  }
}
