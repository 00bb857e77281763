/** The classes that the sandbox scores (docs/interface.md §2.3, moderated_classes). */
export const CONTENT_CLASSES = ['sexual', 'hate', 'violence', 'bullying', 'spam', 'promotions'] as const

/** One of {@link CONTENT_CLASSES}. */
export type ContentClass = (typeof CONTENT_CLASSES)[number]

/** A score of each class, an integer from 0 to {@link MAX_SCORE}. */
export type ClassScores = Record<ContentClass, number>

/** The highest score of a class. */
export const MAX_SCORE = 3

/** Scores of nothing. */
export function createScores(): ClassScores {
  return { sexual: 0, hate: 0, violence: 0, bullying: 0, spam: 0, promotions: 0 }
}
