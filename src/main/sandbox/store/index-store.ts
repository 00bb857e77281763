import type { DatabaseSync, SQLOutputValue } from 'node:sqlite'
import { type JsonObject, jsonObjectSchema } from '../../../shared/service/json-object.ts'
import { type GroupCommit, seedOnce } from './open-database.ts'

/** An item of a custom index (docs/interface.md §2.4). */
export interface StoredIndexItem {
  itemId: string
  url: string
  /** SHA-256 of the media in hexadecimal; null if it was not fetched. */
  contentHash: string | null
  metadata: JsonObject | null
  contentVariant: string | null
}

const ITEMS = `SELECT item_id AS itemId, url, content_hash AS contentHash, metadata, content_variant AS contentVariant
  FROM index_item WHERE index_id = ?`

/**
 * Opens the custom indexes of the project and their items. A store that never had any starts with empty ones
 * with the ids `seedIndexes`.
 */
export function createIndexStore(database: DatabaseSync, group: GroupCommit, seedIndexes: readonly string[]) {
  const selectIndexes = database.prepare(
    `SELECT index_id AS indexId,
      (SELECT count(*) FROM index_item WHERE index_item.index_id = custom_index.index_id) AS items
      FROM custom_index ORDER BY index_id`,
  )
  const selectIndex = database.prepare('SELECT 1 FROM custom_index WHERE index_id = ?')
  const insertIndex = database.prepare('INSERT INTO custom_index VALUES (?) ON CONFLICT DO NOTHING')
  const removeIndex = database.prepare('DELETE FROM custom_index WHERE index_id = ?')
  const removeItems = database.prepare('DELETE FROM index_item WHERE index_id = ?')
  const insertItem = database.prepare(
    `INSERT INTO index_item (index_id, item_id, url, content_hash, metadata, content_variant)
      VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
  )
  const removeItem = database.prepare('DELETE FROM index_item WHERE index_id = ? AND item_id = ?')
  const selectByContent = database.prepare(`${ITEMS} AND content_hash = ? ORDER BY id`)
  const selectByUrl = database.prepare(`${ITEMS} AND url = ? ORDER BY id`)
  const selectCount = database.prepare('SELECT count(*) AS n FROM index_item WHERE index_id = ?')
  const selectPage = database.prepare(`${ITEMS} ORDER BY id LIMIT ? OFFSET ?`)

  const store = {
    list: (): { indexId: string; items: number }[] =>
      selectIndexes.all() as unknown as { indexId: string; items: number }[],
    has: (indexId: string): boolean => selectIndex.get(indexId) !== undefined,
    /** Creates the index unless it exists. */
    make: (indexId: string): void => {
      group.writeNow(() => insertIndex.run(indexId))
    },
    /** Removes the index with its items; false if it does not exist. */
    remove: (indexId: string): boolean => group.writeNow(() => removeIndex.run(indexId)).changes !== 0,
    /** Removes all items of an index, but keeps the index. */
    empty: (indexId: string): void => {
      group.writeNow(() => removeItems.run(indexId))
    },
    /** Returns false if any index already has an item with that id. */
    addItem: (
      indexId: string,
      { itemId, url, contentHash, metadata, contentVariant }: StoredIndexItem,
    ): boolean => {
      const text = metadata === null ? null : JSON.stringify(metadata)
      return group.write(
        () => insertItem.run(indexId, itemId, url, contentHash, text, contentVariant).changes !== 0,
      )
    },
    /** Returns false if the index has no such item. */
    removeItem: (indexId: string, itemId: string): boolean =>
      group.write(() => removeItem.run(indexId, itemId).changes !== 0),
    /** Items with that content, or without stored content and with that address. */
    findItems: (
      indexId: string,
      { url, contentHash }: { url: string; contentHash: string | null },
    ): StoredIndexItem[] => {
      const byContent = contentHash === null ? [] : selectByContent.all(indexId, contentHash)
      const byUrl = selectByUrl
        .all(indexId, url)
        .filter((row) => contentHash === null || row['contentHash'] === null)
      return [...byContent, ...byUrl].map(toItem)
    },
    countItems: (indexId: string): number => Number(selectCount.get(indexId)?.['n']),
    /** Items from that offset on, in the order they were added. */
    page: (indexId: string, offset: number, limit: number): StoredIndexItem[] =>
      selectPage.all(indexId, limit, offset).map(toItem),
  }
  seedOnce(database, group, 'indexes', () => seedIndexes.forEach(store.make))
  return store
}

function toItem(row: Record<string, SQLOutputValue>): StoredIndexItem {
  const { metadata, ...item } = row as unknown as Omit<StoredIndexItem, 'metadata'> & {
    metadata: string | null
  }
  return { ...item, metadata: metadata === null ? null : jsonObjectSchema.parse(JSON.parse(metadata)) }
}
