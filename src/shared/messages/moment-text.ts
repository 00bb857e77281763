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

/** A moment in the person's own time: `2025-11-21 09:07`; nothing for none. */
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
