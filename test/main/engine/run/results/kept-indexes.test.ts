import { expect, it } from 'vitest'
import type { RunFamily } from '../../../../../src/main/engine/journal/run-family.ts'
import { KeptIndexes } from '../../../../../src/main/engine/run/results/kept-indexes.ts'

const FAMILY = { members: [] } as unknown as RunFamily
const STEPS = 10

class CountedIndex {
  #steps = 0

  get isComplete(): boolean {
    return this.#steps >= STEPS
  }

  isOutdated(): boolean {
    return false
  }

  step(): void {
    this.#steps += 1
  }
}

/** Indexes of runs whose queries never wait, so that each call is one step. */
function withIndexes(kept: number) {
  let nowMs = 0
  let created = 0
  const indexes = new KeptIndexes<CountedIndex>({ kept, patienceMs: 0, nowMs: () => ++nowMs })
  const create = () => {
    created += 1
    return new CountedIndex()
  }
  const ask = (file: string) =>
    indexes.ask(file, 'rows', { create, isEnough: () => false, openView: () => FAMILY })
  return { ask, countCreated: () => created }
}

it('completes the indexes of more runs than are kept if they are requested in turn', async () => {
  const { ask, countCreated } = withIndexes(2)
  const files = ['a', 'b', 'c', 'd']
  for (let turn = 1; turn < STEPS; turn++) {
    for (const file of files) expect(await ask(file)).toMatchObject({ isCounted: false })
  }
  for (const file of files) expect(await ask(file)).toMatchObject({ isCounted: true })
  expect(countCreated()).toBe(files.length)
})

it('restarts the index of a run that was complete and evicted', async () => {
  const { ask, countCreated } = withIndexes(1)
  const complete = async (file: string) => {
    for (;;) if ((await ask(file)).isCounted) return
  }
  await complete('a')
  await complete('b')
  expect(countCreated()).toBe(2)
  await complete('b')
  expect(countCreated()).toBe(2)
  await complete('a')
  expect(countCreated()).toBe(3)
})
