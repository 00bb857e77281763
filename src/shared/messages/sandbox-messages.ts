import { type ErrorEntry, ofCode } from './error-entry.ts'
import { sayPortProblem, type Thrown } from './thrown.ts'

/** Errors of the sandbox: its settings, its store, its port. */
export const SANDBOX_MESSAGES = {
  ...ofCode('BAD_USAGE', {
    sandbox_setting_malformed: (args: {
      what: 'callbacks' | 'latency' | 'fault'
      found: string
      expected: string
      /** The syntax of the setting. */
      help: string
    }) => ({ text: `${args.what} "${args.found}": expected ${args.expected}`, remedy: args.help }),
    sandbox_options_refused: ({ faults }: { faults: string }) => ({
      text: `invalid sandbox settings: ${faults}`,
      remedy: 'Correct these settings. docs/sandbox.md lists all of them.',
    }),
    terms_unreadable: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot read the terms in ${file}: ${reason}`,
      remedy: 'Choose a text file with one term per line, each followed by a tab and its notes.',
    }),
  }),
  ...ofCode('SANDBOX_UNAVAILABLE', {
    sandbox_cannot_listen: ({ host, port, ...thrown }: Thrown & { host: string; port: number }) => ({
      text: `the sandbox cannot listen on ${host}:${port}: ${sayPortProblem(thrown)}`,
      remedy: 'Choose another port, or 0 for a free one.',
    }),
    sandbox_ended: ({ reason }: { reason: string }) => ({
      text: `the sandbox stopped: ${reason}`,
      remedy: {
        terminal:
          'Start it again. If it stops again, start it without a store file and with default settings.',
        window: 'Nothing of your runs is lost. It starts again with the next run against it.',
      },
    }),
    sandbox_store_unusable: (args: {
      /** Null for a store in memory. */
      file: string | null
      reason: string
    }) => ({
      text: `cannot open the sandbox's store ${args.file ?? 'in memory'}: ${args.reason}`,
      remedy:
        'Choose a file in a writable folder that no other sandbox uses. Or start without a store file, to keep everything in memory.',
    }),
  }),
} satisfies Record<string, ErrorEntry>
