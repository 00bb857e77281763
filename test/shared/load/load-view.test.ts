import { expect, test } from 'vitest'
import { toLoadView } from '../../../src/shared/load/load-view.ts'
import { buildLoadReport } from '../../main/engine/load/report/build-load-report.ts'

test('a cause whose message quotes another text each time is one cause, with all its requests and times', () => {
  const toError = (
    message: string,
    requests: number,
    firstSecond: number,
    errorCode: string | null = 'BAD',
  ) => ({
    ...{ outcome: 'rejected' as const, status: 400, lastSecond: firstSecond + 1 },
    ...{ message, requests, firstSecond, errorCode },
  })
  const errors = [
    toError('busy', 6, 5, 'BUSY'),
    toError('spam', 4, 3),
    toError('hello', 3, 0),
    toError('one', 2, 1, null),
    toError('two', 1, 1, null),
  ]
  const view = toLoadView({ ...buildLoadReport(), errors })
  expect(view.errors.map(({ message, more, requests, when }) => [message, more, requests, when])).toEqual([
    ['spam', ' (and 1 other message)', 7, 'in seconds 0 to 4'],
    ['busy', '', 6, 'in seconds 5 to 6'],
    ['one', '', 2, 'in seconds 1 to 2'],
    ['two', '', 1, 'in seconds 1 to 2'],
  ])
})
