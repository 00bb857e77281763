/** Id of the custom index that a new sandbox has. */
export const DEFAULT_INDEX = 'sandbox-index'

/** The custom indexes of a new sandbox, empty at first. */
export const DEFAULT_INDEXES: readonly string[] = [DEFAULT_INDEX]
