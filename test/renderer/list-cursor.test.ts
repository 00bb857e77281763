import { QueryClient } from '@tanstack/react-query'
import { describe, expect, it } from 'vitest'
import { PAGE_ROWS } from '../../src/renderer/bridge/read-ahead.ts'
import {
  followRow,
  type ListCursor,
  leaveRows,
  stepFrom,
} from '../../src/renderer/features/results/list-cursor.ts'
import { createResultPages } from '../../src/renderer/features/results/result-pages.ts'
import type { PageRow } from '../../src/shared/bridge/results.ts'

/** The pages of a list with these row numbers; a later read can return others. */
async function openList(numbers: readonly number[], view = { first: 0, last: 30 }) {
  let rows = numbers
  const client = new QueryClient()
  const pages = createResultPages(client, (offset) => ({
    queryKey: [offset],
    queryFn: async () => ({
      rows: rows.slice(offset, offset + PAGE_ROWS).map((row) => ({ row }) as PageRow),
      total: rows.length,
      isCounted: true,
    }),
  }))
  pages.subscribe(() => {})
  pages.want(view.first, view.last)
  const read = async (next: readonly number[]) => {
    rows = next
    await client.refetchQueries()
  }
  await read(numbers)
  return { pages, client, read }
}

const START: ListCursor = { index: 0, row: null, kind: 'waiting' }
const toPlace = ({ index, row, kind }: ListCursor) => [index, row?.row ?? null, kind]
const upTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1)

describe('the cursor of a list', () => {
  it('takes the row read at its position, and stays with it when rows are inserted before it or leave', async () => {
    const { pages, read } = await openList([4, 5, 6])
    let at = followRow(pages, { ...START, index: 1 })
    expect(toPlace(at)).toEqual([1, 5, 'on'])
    await read([1, 2, 4, 5, 6])
    at = followRow(pages, at)
    expect(toPlace(at)).toEqual([3, 5, 'on'])
    await read([5, 6])
    at = followRow(pages, at)
    expect(toPlace(at)).toEqual([0, 5, 'on'])
    expect(followRow(pages, at)).toBe(at)
  })

  it("stays on its row while the row's page is read again or no longer kept", async () => {
    const { pages, client } = await openList([4, 5, 6])
    const at = followRow(pages, START)
    const again = client.refetchQueries()
    expect(followRow(pages, at)).toBe(at)
    await again
    client.removeQueries()
    expect(toPlace(followRow(pages, at))).toEqual([0, 4, 'waiting'])
  })

  it('is on no row while its own has left the list, and returns with it', async () => {
    const { pages, read } = await openList([4, 5, 6])
    const at = followRow(pages, { ...START, index: 1 })
    await read([4, 6, 7])
    const left = followRow(pages, at)
    expect(toPlace(left)).toEqual([1, 5, 'off'])
    expect(toPlace(followRow(pages, stepFrom(left, 1, 2)))).toEqual([1, 6, 'on'])
    expect(toPlace(followRow(pages, stepFrom(left, -1, 2)))).toEqual([0, 4, 'on'])
    await read([5, 6, 7])
    expect(toPlace(followRow(pages, left))).toEqual([0, 5, 'on'])
  })

  it('is on no row while its own is outside the pages in view', async () => {
    const { pages, read } = await openList([500, 501])
    const at = followRow(pages, START)
    await read([...upTo(300), 500, 501])
    expect(toPlace(followRow(pages, at))).toEqual([0, 500, 'off'])
    pages.want(290, 310)
    const found = { ...at, index: 300 }
    expect(toPlace(followRow(pages, found))).toEqual([300, 500, 'waiting'])
    await read([...upTo(300), 500, 501])
    expect(toPlace(followRow(pages, found))).toEqual([300, 500, 'on'])
  })

  it('moves to the next remaining row before its own leaves, or to the previous one at the end', async () => {
    const { pages, read } = await openList(upTo(6))
    const at = followRow(pages, { ...START, index: 2 })
    expect(leaveRows(pages, at, new Set([2]))).toBe(at)
    const next = leaveRows(pages, at, new Set([2, 3, 4]))
    await read([1, 5, 6])
    expect(toPlace(followRow(pages, next))).toEqual([1, 5, 'on'])
    const last = leaveRows(pages, followRow(pages, next), new Set([5, 6]))
    await read([1])
    expect(toPlace(followRow(pages, last))).toEqual([0, 1, 'on'])
    expect(leaveRows(pages, last, new Set([1]))).toEqual(START)
  })

  it('steps within the list, and to its last row if the list has become shorter', async () => {
    const { pages, read } = await openList([4, 5, 6])
    const last = followRow(pages, { ...START, index: 2 })
    expect(stepFrom(last, 1, 2)).toBe(last)
    await read([4])
    expect(toPlace(followRow(pages, { ...START, index: 2 }))).toEqual([0, 4, 'on'])
  })
})
