import { fileURLToPath } from 'node:url'

/** Absolute path of the bundled sample, written for Sluice: mild posts, and a few rows that must not pass. */
export const SAMPLE_FILE = fileURLToPath(new URL('./sample.csv', import.meta.url))

/** Absolute path of the bundled sample for the asynchronous run: texts and addresses of media. */
export const ASYNC_SAMPLE_FILE = fileURLToPath(new URL('./async-sample.csv', import.meta.url))

/** Absolute path of the bundled terms and notes; the sandbox's watchlist has two of them already. */
export const TERMS_SAMPLE_FILE = fileURLToPath(new URL('./terms-sample.csv', import.meta.url))
