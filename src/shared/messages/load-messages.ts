import { LOAD_EXPORT_FORMATS, listEndings } from '../run/export-formats.ts'
import { type ErrorEntry, ofCode, ofFailure } from './error-entry.ts'
import { formatCounted } from './figure-text.ts'

/** Why a result of k6 cannot be read, by the error codes of the system and of zlib. */
function explainK6File(system: string): { found: string; remedy: string } {
  switch (system) {
    case 'ENOENT':
      return { found: 'does not exist', remedy: 'Check the path.' }
    case 'EISDIR':
      return { found: 'is a folder', remedy: 'Choose a results file inside the folder.' }
    case 'EACCES':
    case 'EPERM':
      return { found: 'cannot be read (permission denied)', remedy: 'Change its permissions.' }
    default:
      return system.startsWith('Z_')
        ? {
            found: `is a broken gzip file (${system})`,
            remedy: 'Check whether k6 was stopped before it finished writing.',
          }
        : { found: `cannot be read (${system})`, remedy: 'Check the disk.' }
  }
}

/** Errors of load tests: their threads, their reports, and k6's files. */
export const LOAD_MESSAGES = {
  ...ofFailure('INTERNAL', {
    search_broke_off: ({ reason, probes }: { reason: string; probes: number }, sluice: string) => ({
      text: `the capacity search ended early, after ${formatCounted(probes, 'probe')}: ${reason}`,
      remedy: {
        terminal: `The load tests so far are kept. To list them, run: ${sluice} runs`,
        window: 'The load tests so far are kept, and listed under Runs.',
      },
    }),
  }),
  ...ofFailure('BAD_PLAN', {
    load_thread_out_of_memory: () => ({
      text: 'a sending thread ran out of memory: too many requests in flight, or requests that are too large',
      remedy: {
        terminal:
          'Lower --max-in-flight or --concurrency, or spread the load with --workers. Results so far are kept.',
        window: 'Lower the number of requests in flight. Results so far are kept.',
      },
    }),
  }),
  ...ofCode('BAD_USAGE', {
    run_not_load: ({ runId }: { runId: string }, sluice: string) => ({
      text: `run ${runId} is not a load test`,
      remedy: {
        terminal: `Export it to .csv, .xlsx, .jsonl or .parquet. To run a load test: ${sluice} load`,
        window: 'Export it to .csv, .xlsx, .jsonl or .parquet.',
      },
    }),
    load_report_ending: ({ file }: { file: string }) => ({
      text: `${file}: expected a name that ends in ${listEndings(LOAD_EXPORT_FORMATS)} or .k6`,
      remedy: `The ending selects the format: ${LOAD_EXPORT_FORMATS.map(({ ending, help }) => `.${ending} (${help})`).join(', ')} or .k6 (a folder with a k6 project for the same load).`,
    }),
    k6_needs_load: ({ runId }: { runId: string }, sluice: string) => ({
      text: `run ${runId} is not a load test; only load tests can be exported for k6`,
      remedy: {
        terminal: `To write a k6 project without a run: ${sluice} load SOURCE --rate 100 --duration 60s --export-k6 FOLDER`,
        window: 'Export a load test instead.',
      },
    }),
    k6_without_rows: (_args: object, sluice: string) => ({
      text: 'all rows of the source are invalid, so there is nothing to export for k6',
      remedy: {
        terminal: `To see what is wrong with each row, run: ${sluice} task SOURCE --dry-run`,
        window: 'Check the rows first.',
      },
    }),
    k6_folder_in_use: ({ folder, holds }: { folder: string; holds: string }) => ({
      text: `${folder} contains ${holds} and is not a k6 project from Sluice`,
      remedy: 'Choose a new folder, such as load.k6.',
    }),
  }),
  ...ofCode('BAD_SOURCE', {
    k6_not_json_lines: ({ file }: { file: string }) => ({
      text: `${file} is not a JSON lines file`,
      remedy:
        'To merge results from several machines, Sluice needs every sample. Run k6 with --out json=FILE on each machine.',
    }),
    k6_same_samples: ({ file, other }: { file: string; other: string }) => ({
      text: `${file} holds the same samples as ${other}`,
      remedy: 'Leave one of them out: each sample counts once.',
    }),
    k6_no_results: ({ file }: { file: string }) => ({
      text: `${file} does not contain k6 results`,
      remedy:
        'Choose a file written by k6: the output of --out json (.gz is fine), --summary-export or handleSummary, or the machine-readable summary.',
    }),
    k6_unreadable: ({ file, system }: { file: string; system: string }) => {
      const { found, remedy } = explainK6File(system)
      return { text: `${file} ${found}`, remedy }
    },
  }),
} satisfies Record<string, ErrorEntry>
