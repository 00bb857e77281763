import { expect, test } from 'vitest'
import { UnreadWatch } from '../../../../src/main/engine/sending/unread-watch.ts'

/**
 * A watch in an event loop that the test drives: its clock, and what happens after the loop has polled its
 * connections.
 */
function createWatch() {
  const clock = { ms: 0 }
  const looks: (() => void)[] = []
  const watch = new UnreadWatch(
    () => clock.ms,
    (act) => looks.push(act),
  )
  const endLook = () => {
    for (const act of looks.splice(0)) act()
  }
  /** A timer runs, and the loop polls. */
  const turn = (ms: number) => {
    clock.ms = ms
    watch.look()
    endLook()
  }
  return { watch, clock, turn, endLook }
}

test('data read while the loop polls every millisecond has not lain unread', () => {
  const { watch, turn, endLook } = createWatch()
  for (const ms of [1, 2.1, 3.1]) turn(ms)
  expect(watch.noteRead(4.1)).toBe(0)
  endLook()
  expect(watch.noteRead(4.5)).toBe(0)
})

test('data read first after the thread was blocked may have come since the last poll', () => {
  const { watch, turn, endLook } = createWatch()
  turn(1)
  expect(watch.noteRead(31)).toBeCloseTo(28.9, 6)
  // From the same poll, and therefore as old.
  expect(watch.noteRead(32)).toBeCloseTo(29.9, 6)
  endLook()
  expect(watch.noteRead(32.5)).toBeCloseTo(0.4, 6)
})

test('a timer that runs before data is read does not make the data look younger', () => {
  const { watch, clock, turn, endLook } = createWatch()
  turn(1)
  clock.ms = 31
  watch.look()
  expect(watch.noteRead(31.1)).toBeCloseTo(29, 6)
  endLook()
  expect(watch.noteRead(31.9)).toBe(0)
})

test('data that came while answers were processed is as old as the first of them', () => {
  const { watch, turn, endLook } = createWatch()
  turn(1)
  watch.noteRead(1.5)
  // Processing the answers of this poll takes until 21.5.
  endLook()
  expect(watch.noteRead(21.5)).toBeCloseTo(18.9, 6)
})
