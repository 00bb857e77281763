import { toTwoDigits } from '../../shared/messages/moment-text.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/** Time since a start, short enough for an axis: `45 s`, `2:05`, `1:02:05`. */
export function formatClock(seconds: number): string {
  if (seconds < 60) return `${seconds} s`
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60]
  const rest = toTwoDigits(seconds % 60)
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${toTwoDigits(minutes)}:${rest}`
}

/** Date and time in the person's time zone, to the second, sortable as text: `2026-11-21 09:31:07`. */
export function formatTimestamp(iso: string): string {
  const date = new Date(iso)
  if (Number.isNaN(date.getTime())) return iso
  const day = `${date.getFullYear()}-${toTwoDigits(date.getMonth() + 1)}-${toTwoDigits(date.getDate())}`
  return `${day} ${toTwoDigits(date.getHours())}:${toTwoDigits(date.getMinutes())}:${toTwoDigits(date.getSeconds())}`
}

/** How long ago: `just now`, `4 min ago`, `2 h ago`, `yesterday`, else the date. `nowMs` is now. */
export function formatAgo(iso: string, nowMs: number): string {
  const age = nowMs - new Date(iso).getTime()
  if (Number.isNaN(age)) return iso
  if (age < MINUTE) return 'just now'
  if (age < HOUR) return `${Math.floor(age / MINUTE)} min ago`
  if (age < 24 * HOUR) return `${Math.floor(age / HOUR)} h ago`
  if (age < 48 * HOUR) return 'yesterday'
  return formatTimestamp(iso).slice(0, 10)
}
