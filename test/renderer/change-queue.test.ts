import { QueryObserver } from '@tanstack/react-query'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { type ChangeQueue, createChangeQueue, storeShown } from '../../src/renderer/bridge/change-queue.ts'
import { queryClient } from '../../src/renderer/bridge/client.ts'

const queryKey = ['what a person changes']

let changes: ChangeQueue
/** What the engine has stored. */
let stored: string
/** Answers of the engine to come, in the order of its calls. */
let calls: PromiseWithResolvers<void>[]
let stop: () => void

beforeEach(async () => {
  changes = createChangeQueue()
  stored = 'first'
  calls = []
  const read = async () => stored
  const observer = new QueryObserver(queryClient, { queryKey, queryFn: () => changes.read(read) })
  stop = observer.subscribe(() => {})
  await expect.poll(see).toBe('first')
})

afterEach(() => {
  stop()
  queryClient.clear()
})

const see = () => queryClient.getQueryData(queryKey)

/**
 * Changes it to a text; the engine stores that when its call is resolved, and refuses when it is rejected.
 */
function change(text: string): Promise<void> {
  const call = Promise.withResolvers<void>()
  calls.push(call)
  const store = async () => {
    await call.promise
    stored = text
    return text
  }
  return storeShown({ changes, queryKey, show: () => text, store })
}

it('shows what is stored after two quick changes were both refused', async () => {
  const refused = [change('second'), change('third')]
  expect(see()).toBe('third')
  for (const call of calls) call.reject(new Error('refused'))
  expect(await Promise.allSettled(refused)).toMatchObject([{ status: 'rejected' }, { status: 'rejected' }])
  await expect.poll(see).toBe('first')
})

it('does not show an earlier change again when it is stored', async () => {
  const [first, second] = [change('second'), change('third')]
  calls[0]?.resolve()
  await first
  expect(see()).toBe('third')
  calls[1]?.resolve()
  await second
  expect(see()).toBe('third')
})

it('does not show an answer from before a change', async () => {
  const done = change('second')
  const read = queryClient.refetchQueries({ queryKey })
  expect(see()).toBe('second')
  calls[0]?.resolve()
  await Promise.all([done, read])
  expect(see()).toBe('second')
})
