import { ACCEPT_WORDS } from '../run/accept-code.ts'
import type { ProblemGroup } from '../run/problem.ts'
import { quoteForShell } from '../shell-command.ts'
import { listNeeded, sayOpenWarning } from './accept-messages.ts'
import { type ErrorEntry, ofCode, ofFailure, type Wording } from './error-entry.ts'
import { formatCounted } from './figure-text.ts'

function listRuns(sluice: string): Wording {
  return {
    terminal: `To list the runs: ${sluice} runs. For a run in another workspace, add --workspace DIR.`,
    window: 'It may have been deleted. Go back to Runs.',
  }
}

function nameTaker({ by, isDeleted }: { by: string; isDeleted: boolean }): string {
  return isDeleted ? `run ${by} (deleted)` : `run ${by}`
}

/** What to do about rows that another retry took over. */
function goOnWith(taken: { by: string; isDeleted: boolean }, command: string): Wording {
  return taken.isDeleted
    ? 'That run was deleted, so it is unknown which rows it sent. Send the source again.'
    : { terminal: `Continue with that run: ${command} ${taken.by}`, window: `Continue with run ${taken.by}.` }
}

/** Errors of runs: finding, resuming, retrying and deleting them. */
export const RUN_MESSAGES = {
  ...ofCode('RUN_NOT_FOUND', {
    run_not_found: ({ runId, workspace }: { runId: string; workspace: string }, sluice: string) => ({
      text: `run ${runId} does not exist in the workspace ${workspace}`,
      remedy: listRuns(sluice),
    }),
    run_deleted: ({ runId }: { runId: string }, sluice: string) => ({
      text: `run ${runId} was deleted`,
      remedy: listRuns(sluice),
    }),
    run_file_unplanned: ({ file }: { file: string }) => ({
      text: `the run in ${file} was interrupted while it was being created`,
      remedy: 'Nothing was sent. You can delete the file.',
    }),
  }),
  ...ofCode('RUN_NOT_RESUMABLE', {
    run_unplanned: ({ runId }: { runId: string }, sluice: string) => ({
      text: `run ${runId} was interrupted while it was being created`,
      remedy: {
        terminal: `Nothing was sent. To delete it, run: ${sluice} delete ${runId}`,
        window: 'Nothing was sent. Delete it from the list of runs.',
      },
    }),
    load_not_repeatable: ({ runId }: { runId: string }, sluice: string) => ({
      text: `run ${runId} is a load test and cannot be retried`,
      remedy: {
        terminal: `Its results are kept: ${sluice} show ${runId}. To measure again, start a new load test.`,
        window: 'Its results are kept. To measure again, start a new load test.',
      },
    }),
    load_not_resumable: ({ runId }: { runId: string }, sluice: string) => ({
      text: `run ${runId} is a load test and cannot be resumed`,
      remedy: {
        terminal: `Results up to the interruption are kept: ${sluice} show ${runId}. To measure again, start a new load test.`,
        window: 'Results up to the interruption are kept. To measure again, start a new load test.',
      },
    }),
    rest_taken_over: (
      { runId, ...taken }: { runId: string; by: string; isDeleted: boolean },
      sluice: string,
    ) => ({
      text: `the remaining rows of run ${runId} were taken over by ${nameTaker(taken)}`,
      remedy: goOnWith(taken, `${sluice} resume`),
    }),
    unknown_taken_over: (
      { runId, ...taken }: { runId: string; by: string; isDeleted: boolean },
      sluice: string,
    ) => ({
      text: `the rows of run ${runId} with an unknown outcome were taken over by ${nameTaker(taken)}`,
      remedy: goOnWith(taken, `${sluice} resume`),
    }),
    retry_taken_over: (
      { runId, ...taken }: { runId: string; by: string; isDeleted: boolean },
      sluice: string,
    ) => ({
      text: `the unsuccessful rows of run ${runId} were taken over by ${nameTaker(taken)}`,
      remedy: goOnWith(taken, `${sluice} retry`),
    }),
    rows_unread: ({ runId }: { runId: string }, sluice: string) => ({
      text: `the rows of run ${runId} have not all been read`,
      remedy: {
        terminal: `Nothing was sent. If the run was interrupted, resume it: ${sluice} resume ${runId}`,
        window: 'Nothing was sent. If the run was interrupted, open it to resume it.',
      },
    }),
    retry_while_awaiting: ({ runId, rows }: { runId: string; rows: number }, sluice: string) => ({
      text: `${formatCounted(rows, 'row')} of run ${runId} still ${rows === 1 ? 'awaits its callback' : 'await their callbacks'}`,
      remedy: {
        terminal: `To wait for them, run: ${sluice} resume ${runId}. Overdue rows can then be retried.`,
        window: 'Resume the run to wait for them. Overdue rows can then be retried.',
      },
    }),
    nothing_to_retry: ({ runId, onUnknown }: { runId: string; onUnknown: 'resend' | 'skip' }) => ({
      text: `nothing is left to retry in run ${runId}`,
      remedy:
        onUnknown === 'resend'
          ? 'Invalid rows are never sent. Correct the source and send it again.'
          : {
              terminal:
                'Invalid rows are never sent: correct the source. To retry rows with an unknown outcome, add --on-unknown resend.',
              window:
                'Invalid rows are never sent: correct the source. To retry rows with an unknown outcome, choose to send them again.',
            },
    }),
  }),
  ...ofCode('RUN_BUSY', {
    run_going_on: ({ runId }: { runId: string }) => ({
      text: `run ${runId} is already running`,
      remedy: 'Wait until it ends, or stop it first.',
    }),
    run_held_elsewhere: ({ runId }: { runId: string }) => ({
      text: `run ${runId} is in use by another process`,
      remedy: 'Wait until that process ends, or stop it.',
    }),
  }),
  ...ofCode('RUN_NOT_HELD', {
    run_not_held: ({ runId }: { runId: string }) => ({
      text: `run ${runId} is not running here`,
      remedy: 'Open its summary. If it was interrupted, resume it.',
    }),
  }),
  ...ofFailure('INTERNAL', {
    run_broke_off: (
      {
        runId,
        name = runId,
        reason,
        isDamaged = false,
      }: { runId: string; name?: string; reason: string; isDamaged?: boolean },
      sluice: string,
    ) => ({
      text: `run ${name} ended unexpectedly: ${reason}`,
      remedy: isDamaged
        ? 'It cannot go on. Restore the file from a backup, then resume the run.'
        : {
            terminal: `Everything recorded so far is kept. To resume it, run: ${sluice} resume ${runId}`,
            window:
              'Nothing that was recorded is lost, and no row is sent twice without your decision. Open the run to resume it or, if it is a load test, to see what was measured.',
          },
    }),
  }),
  ...ofFailure('WORKSPACE_UNUSABLE', {
    run_unread: ({ runId, reason }: { runId: string; reason: string }, sluice: string) => ({
      text: `run ${runId} has ended, but its results cannot be read: ${reason}`,
      remedy: {
        terminal: `Everything recorded is kept; do not send the source again. To view the results, run: ${sluice} show ${runId}`,
        window:
          'Everything recorded is kept; do not send the source again. Open the run to view its results.',
      },
    }),
  }),
  ...ofFailure('FILE_UNWRITABLE', {
    run_not_exported: (
      { runId, file, reason }: { runId: string; file: string; reason: string },
      sluice: string,
    ) => ({
      text: `run ${runId} has ended, but was not exported: ${reason}`,
      remedy: {
        terminal: `The run is kept; do not send the source again. To export it, run: ${sluice} export ${runId} ${quoteForShell(file)}`,
        window: 'The run is kept; do not send the source again. Open the run to export it.',
      },
    }),
  }),
  ...ofCode('NOT_CONFIRMED', {
    warnings_unaccepted: ({ groups }: { groups: readonly ProblemGroup[] }) => ({
      text: `sending needs a confirmation, since ${listNeeded(groups)
        .map((code) => ACCEPT_WORDS[code])
        .join(', and ')}`,
      causes: groups.map((group) => ({
        terminal: sayOpenWarning(group, 'terminal'),
        window: sayOpenWarning(group, 'window'),
      })),
      remedy: {
        terminal: `To send the rows as they are read, add --accept ${listNeeded(groups).join(',')}. Nothing was sent.`,
        window: 'Look at the warnings of Check, then accept them on Review. Nothing was sent.',
      },
    }),
    index_adds_unconfirmed: ({ runId, items }: { runId: string; items: number }) => ({
      text: `sending run ${runId} again may add ${formatCounted(items, 'item')} a second time`,
      remedy: {
        terminal:
          'Nothing was sent. To accept that, add --resend-index-adds. To leave these items alone, add --on-unknown skip.',
        window: 'Nothing was sent. Confirm that items may be added twice, or leave these items alone.',
      },
    }),
  }),
  ...ofFailure('INTERNAL', {
    query_cut_off: ({ reason }: { reason: string }) => ({
      text: `a query was interrupted: ${reason}`,
      remedy: 'Try again. Nothing is lost; runs in progress continue.',
    }),
    lookup_cut_off: ({ reason }: { reason: string }) => ({
      text: `what was sent before could not be looked up: ${reason}`,
      remedy: 'Nothing was sent. Try again.',
    }),
  }),
  ...ofCode('BAD_USAGE', {
    row_not_found: (args: { runId: string; row: string; source: string; rows: number }) => ({
      text: `run ${args.runId} has no row ${args.row}`,
      remedy: `The run has ${formatCounted(args.rows, 'row')}, read from ${args.source}. Rows are numbered as a spreadsheet shows them, the header and lines above it included.`,
    }),
    record_not_found: ({ runId, record }: { runId: string; record: number }) => ({
      text: `run ${runId} has no record ${record}`,
      remedy:
        'Record numbers are those of sluice_record in an export; versions up to 0.2 wrote them to sluice_row.',
    }),
    row_not_single: (args: { runId: string; row: string; candidates: readonly string[] }) => ({
      text: `row ${args.row} of run ${args.runId} can be ${args.candidates.join(' or ')}`,
      remedy: `Name one of them, such as ${args.candidates[0]}.`,
    }),
  }),
} satisfies Record<string, ErrorEntry>
