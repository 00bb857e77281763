/** The items in order, in groups of `size`; the last may have fewer, and none is empty. */
export function* toGroups<Item>(items: Iterable<Item>, size: number): Generator<Item[], void, undefined> {
  let group: Item[] = []
  for (const item of items) {
    group.push(item)
    if (group.length < size) continue
    yield group
    group = []
  }
  if (group.length > 0) yield group
}
