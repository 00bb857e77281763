/** A time of today, local: `14:05:09`. */
export function formatClock(ms: number): string {
  const date = new Date(ms)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(toTwoDigits).join(':')
}

/** A time near now, local: `14:05:09`, and on another day than `nowMs` `2026-11-27 14:05:09`. */
export function formatMoment(ms: number, nowMs: number): string {
  const day = toDay(ms)
  return day === toDay(nowMs) ? formatClock(ms) : `${day} ${formatClock(ms)}`
}

function toDay(ms: number): string {
  const date = new Date(ms)
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(toTwoDigits).join('-')
}

function toTwoDigits(part: number): string {
  return String(part).padStart(2, '0')
}
