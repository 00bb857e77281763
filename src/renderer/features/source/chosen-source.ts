/** Rows of a source that are looked at before they are sent. */
export const PREVIEW_ROWS = 100
