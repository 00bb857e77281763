import type { ErrorEntry } from './error-entry.ts'

/** Errors of the sandbox: its settings, its store, its port. */
export const SANDBOX_MESSAGES = {
  sandbox_setting_malformed: {
    code: 'BAD_USAGE',
    words: ({
      what,
      found,
      expected,
      help,
    }: {
      what: 'callbacks' | 'latency' | 'fault'
      found: string
      expected: string
      /** How such a setting is written. */
      help: string
    }) => ({ text: `${what} "${found}": expected ${expected}`, remedy: help }),
  },
  sandbox_options_refused: {
    code: 'BAD_USAGE',
    words: ({ faults }: { faults: string }) => ({
      text: `the sandbox cannot be set up like this: ${faults}`,
      remedy: 'Correct these settings; docs/sandbox.md lists all of them.',
    }),
  },
  sandbox_cannot_listen: {
    code: 'SANDBOX_UNAVAILABLE',
    words: ({
      host,
      port,
      reason,
    }: {
      host: string
      port: number
      /** Null where another program listens there. */
      reason: string | null
    }) => ({
      text: `the sandbox cannot listen on ${host}:${port}: ${reason ?? 'another program already does'}`,
      remedy: 'Choose another port, or 0 to take a free one.',
    }),
  },
  sandbox_ended: {
    code: 'SANDBOX_UNAVAILABLE',
    words: ({ reason }: { reason: string }) => ({
      text: `the sandbox ended before it listened: ${reason}`,
      remedy: 'Start it again. If it keeps ending, leave out its store file and its special settings.',
    }),
  },
  sandbox_store_unusable: {
    code: 'SANDBOX_UNAVAILABLE',
    words: ({
      file,
      reason,
    }: {
      /** Null for a store in memory. */ file: string | null
      reason: string
    }) => ({
      text: `the sandbox's store ${file ?? 'in memory'} cannot be opened: ${reason}`,
      remedy:
        'Choose a file in a folder you can write to that no other sandbox holds, or leave it out to keep the store in memory.',
    }),
  },
  terms_unreadable: {
    code: 'BAD_USAGE',
    words: ({ file, reason }: { file: string; reason: string }) => ({
      text: `the terms in ${file} cannot be read: ${reason}`,
      remedy: 'Choose a text file with one term a line, its notes after a tab.',
    }),
  },
} satisfies Record<string, ErrorEntry>
