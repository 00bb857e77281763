/** Something that is due at a time. */
export interface DueEntry {
  id: number
  /** On a clock that never goes back. */
  dueMs: number
}

/** A queue that gives what is due first, first; of what is due at the same time, the lower id. */
export interface DueHeap {
  readonly size: number
  first(): DueEntry | undefined
  push(entry: DueEntry): void
  /** Takes the first away. */
  pop(): DueEntry | undefined
  /** Makes all of it due by then, in the order of the ids. */
  hurry(dueMs: number): void
  clear(): void
}

/** A binary heap. */
export function createDueHeap(): DueHeap {
  let entries: DueEntry[] = []

  const swapUp = (from: number): void => {
    let at = from
    while (at > 0) {
      const above = (at - 1) >> 1
      if (!swapIfLater(entries, above, at)) return
      at = above
    }
  }
  const swapDown = (): void => {
    let at = 0
    for (;;) {
      const left = 2 * at + 1
      const right = entries[left + 1]
      const leftEntry = entries[left]
      if (leftEntry === undefined) return
      const below = right !== undefined && isBefore(right, leftEntry) ? left + 1 : left
      if (!swapIfLater(entries, at, below)) return
      at = below
    }
  }

  return {
    get size() {
      return entries.length
    },
    first: () => entries[0],
    push: (entry) => {
      entries.push(entry)
      swapUp(entries.length - 1)
    },
    pop: () => {
      const first = entries[0]
      const last = entries.pop()
      if (last !== undefined && entries.length > 0) {
        entries[0] = last
        swapDown()
      }
      return first
    },
    hurry: (dueMs) => {
      // What is sorted is a heap.
      entries = entries.map(({ id, dueMs: due }) => ({ id, dueMs: Math.min(due, dueMs) })).sort(compare)
    },
    clear: () => {
      entries = []
    },
  }
}

function compare(a: DueEntry, b: DueEntry): number {
  return a.dueMs - b.dueMs || a.id - b.id
}

function isBefore(a: DueEntry, b: DueEntry): boolean {
  return compare(a, b) < 0
}

function swapIfLater(entries: DueEntry[], above: number, below: number): boolean {
  const upper = entries[above]
  const lower = entries[below]
  if (upper === undefined || lower === undefined || !isBefore(lower, upper)) return false
  entries[above] = lower
  entries[below] = upper
  return true
}
