import { expect, test } from 'vitest'
import { AnswerSilence } from '../../../../src/main/engine/load/answer-silence.ts'

/**
 * The longest silence for requests with send and end times in seconds, and the code of those without an
 * answer.
 */
function findLongest(...requests: readonly [sentS: number, endS: number, code?: string][]) {
  const silence = new AnswerSilence()
  for (const [sentS, endS, code = null] of requests) silence.add(endS * 1e6, (endS - sentS) * 1e6, code)
  const { longest } = silence
  return longest && [longest.fromUs / 1e6, longest.untilUs / 1e6, longest.unanswered]
}

test('a silence begins with the last answer, and ends with the last unanswered request', () => {
  const stop = 'GRACEFUL_STOP'
  expect(findLongest([0, 1], [0, 2], [1, 45, stop], [2, 45, stop])).toEqual([2, 45, 2])
})

test('requests that time out one after another are one silence, which an answer ends', () => {
  expect(findLongest([0, 1], [1, 6, 'TIMEOUT'], [6, 11, 'TIMEOUT'], [11, 12], [12, 13])).toEqual([1, 12, 2])
})

test('a time without requests in flight is not a silence', () => {
  expect(findLongest([0, 1], [10, 11], [20, 22])).toEqual([20, 22, 0])
})

test('a connection closed by the service is a sign of life', () => {
  expect(findLongest([0, 1, 'ECONNRESET'], [0, 3, 'CONNECTION_CLOSED'], [3, 4])).toEqual([1, 3, 0])
})
