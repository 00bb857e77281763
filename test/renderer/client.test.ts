import { defaultScheduler, notifyManager } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { drawAnswersTogether } from '../../src/renderer/bridge/client.ts'

let drawn: string[]
let drawFrame: () => void

beforeEach(() => {
  drawn = []
  drawFrame = () => {}
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  vi.stubGlobal('document', { hidden: false })
  vi.stubGlobal('requestAnimationFrame', (draw: () => void) => {
    drawFrame = draw
  })
  drawAnswersTogether()
})

afterEach(() => {
  notifyManager.setScheduler(defaultScheduler)
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const answer = (name: string) => notifyManager.schedule(() => drawn.push(name))

/** Draws everything that needs no frame. */
const goOn = () => vi.advanceTimersByTime(0)

it('draws the first answer after a pause without waiting for a frame', () => {
  answer('first')
  goOn()
  expect(drawn).toEqual(['first'])

  vi.advanceTimersByTime(17)
  answer('after a while')
  goOn()
  expect(drawn).toEqual(['first', 'after a while'])
})

it('draws answers that arrive within a frame of the last one together, in the next frame', () => {
  answer('first')
  goOn()
  for (const name of ['second', 'third']) {
    vi.advanceTimersByTime(5)
    answer(name)
  }
  vi.advanceTimersByTime(1_000)
  expect(drawn).toEqual(['first'])
  drawFrame()
  expect(drawn).toEqual(['first', 'second', 'third'])
})

it('draws answers in a hidden window, which has no frames', () => {
  vi.stubGlobal('document', { hidden: true })
  for (const name of ['first', 'second']) {
    answer(name)
    goOn()
  }
  expect(drawn).toEqual(['first', 'second'])
})
