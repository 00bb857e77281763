/** A time of today, local: `14:05:09`. */
export function formatClock(ms: number): string {
  const date = new Date(ms)
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map(toTwoDigits).join(':')
}

/** A time near now, local: `14:05:09`, or `2026-11-27 14:05:09` if not on the day of `nowMs`. */
export function formatMoment(ms: number, nowMs: number): string {
  const day = toDay(ms)
  return day === toDay(nowMs) ? formatClock(ms) : `${day} ${formatClock(ms)}`
}

/** A time in the local time zone: `2025-11-21 09:07`; empty for null. */
export function formatMinute(iso: string | null): string {
  if (iso === null) return ''
  const ms = Date.parse(iso)
  return `${toDay(ms)} ${formatClock(ms).slice(0, 5)}`
}

function toDay(ms: number): string {
  const date = new Date(ms)
  return [date.getFullYear(), date.getMonth() + 1, date.getDate()].map(toTwoDigits).join('-')
}

/** `07` */
export function toTwoDigits(part: number): string {
  return String(part).padStart(2, '0')
}
