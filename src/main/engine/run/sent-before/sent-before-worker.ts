import { serveCalls } from '../../../worker-rpc.ts'
import { SentBeforeFinder } from './sent-before.ts'
import type { SearchCalls } from './sent-before-search.ts'

let finder: SentBeforeFinder | null = null

serveCalls<SearchCalls>({
  begin(task) {
    finder = new SentBeforeFinder(task)
    return { isEmpty: finder.isEmpty, uncertain: finder.uncertain }
  },
  find(asked) {
    if (finder === null) throw new Error('find was called before begin')
    return { found: finder.find(asked), uncertain: finder.uncertain }
  },
  close() {
    finder?.close()
  },
})
