/** A row of the models table. `false` means "not listed" for the mode: a reason to warn, not to refuse. */
export interface Model {
  /** The value in the `models` field. */
  value: string
  /** Its name for people. */
  label: string
  /** Listed for the synchronous endpoint. */
  sync: boolean
  /** Listed for the asynchronous endpoint. */
  async: boolean
}

/** Models that `models` may name, in docs/interface.md §4.1's order. In v2, also ids of custom indexes. */
export const MODELS: readonly Model[] = [
  { value: 'visual', label: 'Visual moderation', sync: true, async: true },
  { value: 'text', label: 'Text moderation', sync: true, async: true },
  { value: 'ai_generated_media', label: 'AI-generated image and video detection', sync: true, async: true },
  { value: 'ai_generated_text', label: 'AI-generated text detection', sync: true, async: true },
  { value: 'ai_generated_audio', label: 'AI-generated audio detection', sync: true, async: false },
  { value: 'ocr', label: 'Text extraction from images', sync: true, async: true },
  { value: 'deepfake', label: 'Deepfake detection', sync: true, async: true },
  { value: 'demographic', label: 'Demographics', sync: true, async: true },
  { value: 'audio', label: 'Audio moderation', sync: true, async: true },
  { value: 'people_counting', label: 'People counting', sync: true, async: false },
  { value: 'object_detection', label: 'Common object detection', sync: true, async: false },
  { value: 'likeness', label: 'Likeness', sync: true, async: false },
  { value: 'celebrity', label: 'Celebrity', sync: true, async: false },
]

/** Model for text_data if `models` is left out (docs/interface.md §4.1). */
export const DEFAULT_TEXT_MODEL = 'text'

/** Model for a url if `models` is left out (docs/interface.md §4.1). */
export const DEFAULT_URL_MODEL = 'visual'

const byValue = new Map(MODELS.map((model) => [model.value, model]))

/** The listed model of that value; null for a custom index's id, or a name not in docs/interface.md §4.1. */
export function findModel(value: string): Model | null {
  return byValue.get(value) ?? null
}
