import { expect, test } from 'vitest'
import { UnreadWatch } from '../../../../src/main/engine/sending/unread-watch.ts'

/** A watch in a loop that the test turns: its clock, and what happens once the loop has looked at its connections. */
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
  /** A timer has its turn, and the loop looks. */
  const turn = (ms: number) => {
    clock.ms = ms
    watch.look()
    endLook()
  }
  return { watch, clock, turn, endLook }
}

test('what is read as the loop looks every millisecond has not lain unread', () => {
  const { watch, turn, endLook } = createWatch()
  for (const ms of [1, 2.1, 3.1]) turn(ms)
  expect(watch.noteRead(4.1)).toBe(0)
  endLook()
  expect(watch.noteRead(4.5)).toBe(0)
})

test('what is read first after the thread stood still may have come since it last looked', () => {
  const { watch, turn, endLook } = createWatch()
  turn(1)
  expect(watch.noteRead(31)).toBeCloseTo(28.9, 6)
  // Of the same look, and so as old.
  expect(watch.noteRead(32)).toBeCloseTo(29.9, 6)
  endLook()
  expect(watch.noteRead(32.5)).toBeCloseTo(0.4, 6)
})

test('a timer that has its turn before what came is read does not make that young', () => {
  const { watch, clock, turn, endLook } = createWatch()
  turn(1)
  clock.ms = 31
  watch.look()
  expect(watch.noteRead(31.1)).toBeCloseTo(29, 6)
  endLook()
  expect(watch.noteRead(31.9)).toBe(0)
})

test('what came while answers were worked on is as old as the first of them', () => {
  const { watch, turn, endLook } = createWatch()
  turn(1)
  watch.noteRead(1.5)
  // Working on the answers of this look takes until 21.5.
  endLook()
  expect(watch.noteRead(21.5)).toBeCloseTo(18.9, 6)
})
