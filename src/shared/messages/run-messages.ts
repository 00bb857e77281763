import type { ErrorEntry, Wording } from './error-entry.ts'
import { formatCounted } from './figure-text.ts'

/** Says where all runs are listed. */
function listRuns(sluice: string): Wording {
  return {
    terminal: `List the runs with: ${sluice} runs (a run of another workspace needs --workspace DIR).`,
    window: 'It may have been deleted. Go back to Runs.',
  }
}

function nameTaker({ by, isDeleted }: { by: string; isDeleted: boolean }): string {
  return isDeleted ? `run ${by} (deleted)` : `run ${by}`
}

/** What to do about rows that a retry took over. */
function goOnWith(taken: { by: string; isDeleted: boolean }, command: string): Wording {
  return taken.isDeleted
    ? 'That run was deleted after it had sent some of them, and which ones is unknown. Send the source again.'
    : { terminal: `Go on with that one: ${command} ${taken.by}`, window: `Go on with run ${taken.by}.` }
}

/** Errors of runs: finding, resuming, retrying and deleting them. */
export const RUN_MESSAGES = {
  run_not_found: {
    code: 'RUN_NOT_FOUND',
    words: ({ runId, workspace }: { runId: string; workspace: string }, sluice: string) => ({
      text: `run ${runId} does not exist in the workspace ${workspace}`,
      remedy: listRuns(sluice),
    }),
  },
  run_deleted: {
    code: 'RUN_NOT_FOUND',
    words: ({ runId }: { runId: string }, sluice: string) => ({
      text: `run ${runId} was deleted`,
      remedy: listRuns(sluice),
    }),
  },
  run_unplanned: {
    code: 'RUN_NOT_RESUMABLE',
    words: ({ runId }: { runId: string }, sluice: string) => ({
      text: `run ${runId} was cut off before it had a plan`,
      remedy: {
        terminal: `None of it was sent. Remove it with: ${sluice} delete ${runId}`,
        window: 'None of it was sent. Delete it from the list of runs.',
      },
    }),
  },
  run_file_unplanned: {
    code: 'RUN_NOT_FOUND',
    words: ({ file }: { file: string }) => ({
      text: `the run of ${file} was cut off before it had a plan`,
      remedy: 'None of it was sent. You can delete it.',
    }),
  },
  run_going_on: {
    code: 'RUN_BUSY',
    words: ({ runId }: { runId: string }) => ({
      text: `run ${runId} is already running`,
      remedy: 'Wait until it ends, or stop it first.',
    }),
  },
  run_held_elsewhere: {
    code: 'RUN_BUSY',
    words: ({ runId }: { runId: string }) => ({
      text: `run ${runId} is held by another process`,
      remedy: 'Wait until it ends, or stop it there.',
    }),
  },
  run_not_held: {
    code: 'RUN_NOT_HELD',
    words: ({ runId }: { runId: string }) => ({
      text: `run ${runId} is not running here`,
      remedy: 'See its summary. If it was interrupted, resume it.',
    }),
  },
  run_broke_off: {
    code: 'INTERNAL',
    exit: 'rowsFailed',
    words: ({ runId, reason }: { runId: string; reason: string }, sluice: string) => ({
      text: `run ${runId} broke off: ${reason}`,
      remedy: {
        terminal: `Its journal is intact. Resume it with: ${sluice} resume ${runId}`,
        window: 'Its journal is intact. Resume it on its own screen.',
      },
    }),
  },
  load_not_repeatable: {
    code: 'RUN_NOT_RESUMABLE',
    words: ({ runId }: { runId: string }, sluice: string) => ({
      text: `run ${runId} is a load test and cannot be retried`,
      remedy: {
        terminal: `Its results are kept: ${sluice} show ${runId}. Start another one to measure again.`,
        window: 'Its results are kept. Start another one to measure again.',
      },
    }),
  },
  load_not_resumable: {
    code: 'RUN_NOT_RESUMABLE',
    words: ({ runId }: { runId: string }, sluice: string) => ({
      text: `run ${runId} is a load test and cannot be resumed`,
      remedy: {
        terminal: `What it measured until it was cut off is kept: ${sluice} show ${runId}. Start another one for a whole measurement.`,
        window: 'What it measured until it was cut off is kept. Start another one for a whole measurement.',
      },
    }),
  },
  rest_taken_over: {
    code: 'RUN_NOT_RESUMABLE',
    words: ({ runId, ...taken }: { runId: string; by: string; isDeleted: boolean }, sluice: string) => ({
      text: `what run ${runId} had not settled was taken over by ${nameTaker(taken)}`,
      remedy: goOnWith(taken, `${sluice} resume`),
    }),
  },
  unknown_taken_over: {
    code: 'RUN_NOT_RESUMABLE',
    words: ({ runId, ...taken }: { runId: string; by: string; isDeleted: boolean }, sluice: string) => ({
      text: `the rows of run ${runId} with an unknown outcome were taken over by ${nameTaker(taken)}`,
      remedy: goOnWith(taken, `${sluice} resume`),
    }),
  },
  retry_taken_over: {
    code: 'RUN_NOT_RESUMABLE',
    words: ({ runId, ...taken }: { runId: string; by: string; isDeleted: boolean }, sluice: string) => ({
      text: `what did not succeed in run ${runId} was taken over by ${nameTaker(taken)}`,
      remedy: goOnWith(taken, `${sluice} retry`),
    }),
  },
  retry_before_intake: {
    code: 'RUN_NOT_RESUMABLE',
    words: ({ runId }: { runId: string }, sluice: string) => ({
      text: `run ${runId} was cut off while its rows were read`,
      remedy: {
        terminal: `None of it was sent. Resume it: ${sluice} resume ${runId}`,
        window: 'None of it was sent. Resume it on its own screen.',
      },
    }),
  },
  retry_while_awaiting: {
    code: 'RUN_NOT_RESUMABLE',
    words: ({ runId, rows }: { runId: string; rows: number }, sluice: string) => ({
      text: `${formatCounted(rows, 'row')} of run ${runId} still ${rows === 1 ? 'awaits its callback' : 'await their callbacks'}`,
      remedy: {
        terminal: `Wait for them with: ${sluice} resume ${runId}. A retry then sends what is overdue.`,
        window: 'Resume the run to wait for them. A retry then sends what is overdue.',
      },
    }),
  },
  nothing_to_retry: {
    code: 'RUN_NOT_RESUMABLE',
    words: ({ runId, onUnknown }: { runId: string; onUnknown: 'resend' | 'skip' }) => ({
      text: `nothing is left to retry in run ${runId}`,
      remedy:
        onUnknown === 'resend'
          ? 'Invalid rows are never sent. Correct the source and send it again.'
          : {
              terminal:
                'Invalid rows are never sent: correct the source. Rows with an unknown outcome need --on-unknown resend.',
              window:
                'Invalid rows are never sent: correct the source. Rows with an unknown outcome are sent where that is chosen.',
            },
    }),
  },
  index_adds_unconfirmed: {
    code: 'NOT_CONFIRMED',
    words: ({ runId, items }: { runId: string; items: number }) => ({
      text: `sending run ${runId} again may add ${formatCounted(items, 'item')} a second time`,
      remedy: {
        terminal:
          'Pass --resend-index-adds to accept that, or --on-unknown skip to leave them alone. Nothing was sent.',
        window: 'Confirm that, or leave them alone. Nothing was sent.',
      },
    }),
  },
  query_cut_off: {
    code: 'INTERNAL',
    exit: 'rowsFailed',
    words: ({ reason }: { reason: string }) => ({
      text: `a query was cut off: ${reason}`,
      remedy: 'Ask again; queries never change journals.',
    }),
  },
  row_not_found: {
    code: 'BAD_USAGE',
    words: ({ runId, row, source, rows }: { runId: string; row: number; source: string; rows: number }) => ({
      text: `run ${runId} has no row ${row}`,
      remedy: `Its rows were read from ${source}; ${formatCounted(rows, 'row')} in all.`,
    }),
  },
} satisfies Record<string, ErrorEntry>
