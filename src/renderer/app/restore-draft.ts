import { bridge } from '../bridge/client.ts'
import { PREVIEW_ROWS } from '../features/source/chosen-source.ts'
import { changeDraft, useDraft } from './draft.ts'
import { parseMemory, toMemory } from './draft-memory.ts'

const KEY = 'sluice.draft'

/** Keeps the draft of this window over a reload of the page; another window has its own. */
export function rememberDraft(): void {
  useDraft.subscribe((draft) => {
    if (draft.isRestoring) return
    try {
      sessionStorage.setItem(KEY, JSON.stringify(toMemory(draft)))
    } catch {
      // A browser that keeps nothing is no reason to fail: the draft is lost with the page, as it says.
    }
  })
}

/**
 * Takes up the draft that this window had before its page was reloaded: reads the source again, and holds on to the
 * checked rows where the engine still holds them. What is gone is left out; the API key has to be typed again.
 */
export async function restoreDraft(): Promise<void> {
  const memory = parseMemory(sessionStorage.getItem(KEY))
  if (memory === null) return
  const { source, reading, heldRunId, ...rest } = memory
  changeDraft({ ...rest, reading, isRestoring: source !== null })
  if (source === null) return
  try {
    const [preview, runs] = await Promise.all([
      bridge.source.preview({ source: { sourceId: source.sourceId, ...reading }, limit: PREVIEW_ROWS }),
      bridge.runs.list(),
    ])
    // Another source was chosen meanwhile.
    if (!useDraft.getState().isRestoring) return
    const isHeld = runs.some(({ summary, isHeld }) => isHeld && summary.run_id === heldRunId)
    changeDraft({ source, preview, heldRunId: isHeld ? heldRunId : null, isRestoring: false })
  } catch {
    if (!useDraft.getState().isRestoring) return
    // The file is gone, or can no longer be read: what was chosen for it is of no use.
    changeDraft({ source: null, preview: null, mapping: {}, isRestoring: false })
  }
}
