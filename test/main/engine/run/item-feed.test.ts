import { expect, test } from 'vitest'
import { ItemFeed } from '../../../../src/main/engine/run/item-feed.ts'
import { ItemClaims } from '../../../../src/main/engine/run/journal/item-claims.ts'
import { openReadyJournal, readRecord } from '../journal/test-journal.ts'

test.each([
  ['a row that was never sent', 1],
  ['a row that an earlier session left', 2],
])(
  'a row that a callback settles while it waits to be sent again does not keep %s waiting',
  async (_, claimed) => {
    const journal = openReadyJournal(2)
    const insert = journal.db.prepare("INSERT INTO result (row, state, attempts) VALUES (?, 'pending', 1)")
    for (let row = 1; row <= claimed; row += 1) insert.run(row)
    journal.db.prepare('UPDATE run SET claimed = ?1, claimed_rows = ?1').run(claimed)
    const feed = new ItemFeed(journal, new ItemClaims(journal, readRecord(journal)), {
      schedule: (_, callback) => {
        callback()
        return () => {}
      },
      onDue: () => {},
      onConfirmed: () => {},
      onError: (error) => {
        throw error
      },
    })
    feed.backOff(1, 1, 10)
    journal.db.exec("UPDATE result SET state = 'succeeded' WHERE row = 1")
    journal.transact('process', () => feed.refill(0, 1))
    feed.confirm()
    await feed.confirmed
    expect(feed.next()?.item).toBe(2)
  },
)
