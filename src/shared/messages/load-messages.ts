import type { ErrorEntry } from './error-entry.ts'

/** Why a result of k6 cannot be read, by the codes that the system and zlib give. */
function explainK6File(system: string): { found: string; remedy: string } {
  switch (system) {
    case 'ENOENT':
      return { found: 'does not exist', remedy: 'Check the path.' }
    case 'EISDIR':
      return { found: 'is a folder', remedy: 'Choose the file of results in it.' }
    case 'EACCES':
    case 'EPERM':
      return { found: 'may not be read', remedy: 'Change its permissions.' }
    default:
      return system.startsWith('Z_')
        ? {
            found: `is a broken gzip file (${system})`,
            remedy: 'Check whether k6 was stopped before it had written all of it.',
          }
        : { found: `cannot be read (${system})`, remedy: 'Check the disk.' }
  }
}

/** Errors of load tests: their threads, their reports, and k6's files. */
export const LOAD_MESSAGES = {
  load_thread_out_of_memory: {
    code: 'BAD_PLAN',
    exit: 'rowsFailed',
    words: () => ({
      text: 'a sending thread ran out of memory: its requests in flight are too many or too large',
      remedy: {
        terminal:
          'Lower --max-in-flight or --concurrency, or divide the load with --workers. What was measured until then is kept.',
        window: 'Lower the number in flight. What was measured until then is kept.',
      },
    }),
  },
  run_not_load: {
    code: 'BAD_USAGE',
    words: ({ runId }: { runId: string }, sluice: string) => ({
      text: `run ${runId} is not a load test`,
      remedy: {
        terminal: `Export its rows and their results to .csv, .xlsx or .jsonl. Start a load test with: ${sluice} load`,
        window: 'Export its rows and their results to .csv, .xlsx or .jsonl.',
      },
    }),
  },
  load_report_ending: {
    code: 'BAD_USAGE',
    words: ({ file }: { file: string }) => ({
      text: `${file}: expected a name that ends in .html, .junit.xml, .hlog, .csv, .jsonl or .k6`,
      remedy:
        'The ending selects the format: .html for people, .junit.xml for CI servers, .hlog for HdrHistogram tools, .csv for one line a second, .jsonl for the requests that were kept, .k6 for a folder with the same load as a k6 project.',
    }),
  },
  k6_needs_load: {
    code: 'BAD_USAGE',
    words: ({ runId }: { runId: string }, sluice: string) => ({
      text: `run ${runId} is not a load test, so there is nothing for k6 to do`,
      remedy: {
        terminal: `Prepare one without running it: ${sluice} load SOURCE --rate 100 --duration 60s --export-k6 FOLDER`,
        window: 'Export a load test instead.',
      },
    }),
  },
  k6_without_rows: {
    code: 'BAD_USAGE',
    words: (_args: object, sluice: string) => ({
      text: 'no row of the source can be sent, so there is nothing for k6 to do',
      remedy: {
        terminal: `Check the rows first: ${sluice} task SOURCE --dry-run says what is wrong with each.`,
        window: 'Check the rows first.',
      },
    }),
  },
  k6_folder_in_use: {
    code: 'BAD_USAGE',
    words: ({ folder, holds }: { folder: string; holds: string }) => ({
      text: `${folder} holds ${holds} and is not a k6 project of Sluice`,
      remedy: 'Choose a folder that does not exist yet, such as load.k6.',
    }),
  },
  k6_not_json_lines: {
    code: 'BAD_SOURCE',
    words: ({ file }: { file: string }) => ({
      text: `${file} is not a file of JSON lines`,
      remedy:
        'Percentiles of several machines can only be combined from their samples: run k6 with --out json=FILE.',
    }),
  },
  k6_no_results: {
    code: 'BAD_SOURCE',
    words: ({ file }: { file: string }) => ({
      text: `${file} holds no results of k6`,
      remedy:
        'Expected one of: --summary-export, the data of handleSummary, the machine-readable summary, --out json (also as .gz).',
    }),
  },
  k6_unreadable: {
    code: 'BAD_SOURCE',
    words: ({ file, system }: { file: string; system: string }) => {
      const { found, remedy } = explainK6File(system)
      return { text: `${file} ${found}`, remedy }
    },
  },
} satisfies Record<string, ErrorEntry>
