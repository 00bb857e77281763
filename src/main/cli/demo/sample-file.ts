import { fileURLToPath } from 'node:url'

/** Absolute path of the bundled sample, written for Sluice: mild posts, and a few rows that must not pass. */
export const SAMPLE_FILE = fileURLToPath(new URL('./sample.csv', import.meta.url))
