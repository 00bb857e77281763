/** Characters that user_id and post_id must not contain (docs/interface.md §2.1, §8). */
export const FORBIDDEN_ID_CHARACTERS = /[_;]/

/** Longest term of a watchlist, in characters (docs/interface.md §2.5, §8). */
export const TERM_MAX_CHARACTERS = 1024

/** Longest notes of a watchlist term, in characters (docs/interface.md §2.5, §8). */
export const NOTES_MAX_CHARACTERS = 1024

/** Most models that one v1 task may name; v2 takes several (docs/interface.md §4.1, §8). */
export const V1_MAX_MODELS = 1

/** Longest video behind a task's url, in hours (docs/interface.md §2.1, §8). Only the service can check it. */
export const VIDEO_MAX_HOURS = 1
