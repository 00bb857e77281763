import { quoteForShell } from '../shell-command.ts'
import { type ErrorEntry, ofCode, ofFailure, type Wording } from './error-entry.ts'
import { formatCount, formatCounted } from './figure-text.ts'
import { type DiskTrouble, sayDiskRemedy } from './thrown.ts'

/** Ends a remedy; the command line can also name another workspace. */
export function orOtherWorkspace(remedy: string): Wording {
  return { terminal: `${remedy}, or use another workspace with --workspace DIR.`, window: `${remedy}.` }
}

const OTHER_FOLDER = 'Choose a folder that you can write to'

/** Why a file cannot be written, by the file system's error codes. */
const UNWRITABLE: Record<string, { found: string; remedy: string }> = {
  EACCES: {
    found: 'permission denied',
    remedy:
      'Choose another folder, close the file if a spreadsheet program has it open, or change its permissions.',
  },
  EISDIR: { found: 'it is a folder', remedy: 'Add a file name that ends in .csv, .xlsx or .jsonl.' },
  ENOENT: { found: 'its folder does not exist', remedy: 'Create the folder first, or choose another.' },
  ENOSPC: { found: 'the disk is full', remedy: 'Free some space, or choose another disk.' },
  ENOTDIR: { found: 'a part of the path is a file, not a folder', remedy: 'Check the path.' },
  EFOREIGN: {
    found: 'it is a link, pipe or device of another user, or lies behind one',
    remedy: 'Name the file that you want to write instead of a link, or choose a folder of your own.',
  },
  EROFS: { found: 'the file system is read-only', remedy: 'Choose another folder.' },
  ENAMETOOLONG: { found: 'the name is too long', remedy: 'Choose a shorter name.' },
}

const SAME_AS: Record<string, string> = { EPERM: 'EACCES', EBUSY: 'EACCES' }

/** Errors of the workspace: its folder, its journals, its stored connections, and files that are written. */
export const WORKSPACE_MESSAGES = {
  ...ofCode('WORKSPACE_UNUSABLE', {
    workspace_not_made: ({ workspace, reason }: { workspace: string; reason: string }) => ({
      text: `cannot create the workspace ${workspace}: ${reason}`,
      remedy: {
        terminal: `${OTHER_FOLDER}, with --workspace DIR or SLUICE_WORKSPACE.`,
        window: `${OTHER_FOLDER}.`,
      },
    }),
    workspace_unsafe: ({ workspace, reason }: { workspace: string; reason: string }) => ({
      text: `the workspace ${workspace} is not private: ${reason}`,
      remedy: {
        terminal:
          'Choose a folder of your own, with --workspace DIR or SLUICE_WORKSPACE, or restrict this one to yourself (chown, chmod 700).',
        window: 'Choose a folder of your own, or restrict this one to yourself (chown, chmod 700).',
      },
    }),
    path_unreadable: ({ path, reason }: { path: string; reason: string }) => ({
      text: `cannot read ${path}: ${reason}`,
      remedy: orOtherWorkspace(
        'Check its permissions and those of its folder, and that its disk or network drive is connected',
      ),
    }),
    runs_unreadable: ({ workspace, runs }: { workspace: string; runs: number }, sluice: string) => ({
      text: `none of the ${formatCounted(runs, 'run')} in ${workspace} can be read`,
      remedy: {
        terminal: `To see why, run: ${sluice} runs`,
        window: 'The list of runs says why.',
      },
    }),
    run_not_deleted: ({ runId, reason }: { runId: string; reason: string }) => ({
      text: `cannot delete run ${runId}: ${reason}`,
      remedy: 'Make the workspace folder and its files writable, then delete the run again.',
    }),
    foreign_schema: ({ file, foreign }: { file: string; foreign: string }) => ({
      text: `${file} is not a file of Sluice: ${foreign}`,
      remedy: 'Move the file out of the workspace. It was not read.',
    }),
    journal_misnamed: ({ file, runId }: { file: string; runId: string }) => ({
      text: `${file} holds the run ${runId}, not the one in its name`,
      remedy: `Rename it to ${runId}.journal, or delete it if it is a copy.`,
    }),
    journal_damaged: (
      { file, runId, reason }: { file: string; runId: string; reason: string },
      sluice: string,
    ) => ({
      text: `run ${runId} cannot be read from ${file}: ${reason}`,
      remedy: {
        terminal: `Restore the file from a backup. To delete the run, run: ${sluice} delete ${runId}`,
        window: 'Restore the file from a backup, or delete the run.',
      },
    }),
    journal_too_new: ({ file, version, known }: { file: string; version: number; known: number }) => ({
      text: `${file} has journal version ${version}, but this copy of Sluice reads versions up to ${known}`,
      remedy: orOtherWorkspace('A newer version of Sluice wrote it. Update Sluice'),
    }),
    journal_unusable: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot open the journal ${file}: ${reason}`,
      remedy: orOtherWorkspace('Check that the workspace folder exists, is writable and has free space'),
    }),
    lock_damaged: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot lock ${file}: ${reason}`,
      remedy: 'Delete that file: it only marks who writes, and is made again.',
    }),
    lock_unusable: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot lock ${file}: ${reason}`,
      remedy: orOtherWorkspace('Check that the workspace folder exists and is writable'),
    }),
    store_out_of_reach: ({ file, reason, disk }: { file: string; reason: string; disk: DiskTrouble }) => ({
      text: `cannot use ${file}: ${reason}`,
      remedy: `Nothing was changed, and the file is as it was. ${sayDiskRemedy(disk)}, then try again.`,
    }),
    result_views_unusable: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot use the saved filters and columns in ${file}: ${reason}`,
      remedy:
        'Repair the file, or delete it. Saved filters and chosen columns are then lost, and nothing else.',
    }),
    mappings_unusable: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot use the saved mappings in ${file}: ${reason}`,
      remedy: 'Repair the file, or delete it. Only the saved mappings are then lost.',
    }),
    settings_unwritable: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot write the settings to ${file}: ${reason}`,
      remedy: 'Nothing was changed. Check that the workspace folder is writable and has free space.',
    }),
    retention_unusable: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot use the retention settings in ${file}: ${reason}`,
      remedy: 'Nothing was deleted. Correct the file, or delete it and set the limits again.',
    }),
    connections_unreadable: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot read ${file}: ${reason}`,
      remedy: orOtherWorkspace('Check that the file can be read'),
    }),
    connections_unwritable: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot write ${file}: ${reason}`,
      remedy: orOtherWorkspace('Check that the workspace is writable and has free space'),
    }),
    connections_busy: ({ file }: { file: string }) => ({
      text: `another process is changing ${file}`,
      remedy: 'Nothing was changed. Try again in a moment.',
    }),
    connections_damaged: ({ file, reason }: { file: string; reason: string }) => ({
      text: `${file} does not contain valid connections: ${reason}`,
      remedy: 'Correct the file, or move it to another folder and add the connections again.',
    }),
  }),
  ...ofFailure('DISK_FULL', {
    journal_disk_full: (
      {
        file,
        reason,
        disk = 'full',
        runId,
      }: { file: string; reason: string; disk?: DiskTrouble; runId?: string },
      sluice: string,
    ) => {
      const kept = 'Rows that were being sent are listed as unknown; nothing is lost.'
      const remedy = `${kept} ${sayDiskRemedy(disk)}, then resume the run`
      return {
        text: `cannot write the journal ${file}: ${reason}`,
        remedy: {
          terminal: runId === undefined ? `${remedy}.` : `${remedy}: ${sluice} resume ${runId}`,
          window: `${remedy}.`,
        },
      }
    },
    load_journal_disk_full: (
      { file, reason, disk, runId }: { file: string; reason: string; disk: DiskTrouble; runId: string },
      sluice: string,
    ) => ({
      text: `cannot write the journal ${file}: ${reason}`,
      remedy: {
        terminal: `${sayDiskRemedy(disk)}, then start the load test again. What was measured before is kept: ${sluice} show ${runId}`,
        window: `${sayDiskRemedy(disk)}, then start the load test again. What was measured before is kept.`,
      },
    }),
  }),
  ...ofCode('DISK_FULL', {
    journal_no_room: ({ file, reason, disk }: { file: string; reason: string; disk: DiskTrouble }) => ({
      text: `cannot open the journal ${file}: ${reason}`,
      remedy: `Nothing was sent or changed. ${sayDiskRemedy(disk)}, then try again.`,
    }),
    run_not_written: ({ file, reason, disk }: { file: string; reason: string; disk: DiskTrouble }) => ({
      text: `cannot write the journal ${file}: ${reason}`,
      remedy: orOtherWorkspace(
        `Nothing was sent, and no run was created. ${sayDiskRemedy(disk)}, then start again`,
      ),
    }),
  }),
  ...ofFailure('DISK_FULL', {
    disk_failed: ({ reason, disk }: { reason: string; disk: DiskTrouble }) => ({
      text: `a file cannot be read or written: ${reason}`,
      remedy: `${sayDiskRemedy(disk)}, then try again. Everything recorded so far is kept.`,
    }),
  }),
  ...ofCode('RUN_BUSY', {
    held_elsewhere: ({ what }: { what: string }) => ({
      text: `${what} is in use by another process`,
      remedy: `Wait until that process ends, or stop it. Only one process at a time can write to ${what}.`,
    }),
    journal_migrating: ({ file }: { file: string }) => ({
      text: `${file} is of an earlier version, and another process is bringing it up to date or sends its rows`,
      remedy:
        'Try again when that process is done. Bringing a run of a million rows up to date takes some seconds.',
    }),
  }),
  ...ofFailure('DISK_FULL', {
    file_disk_full: ({ file, system }: { file: string; system: string }) => ({
      text: `${file} could not be written completely: the disk is full (${system})`,
      remedy:
        'Free some space or choose another disk, then export again. If a file with that name already existed, it is unchanged.',
    }),
  }),
  ...ofCode('FILE_UNWRITABLE', {
    file_unwritable: ({ file, system }: { file: string; system: string }) => {
      const known = UNWRITABLE[SAME_AS[system] ?? system]
      return {
        text: `${file} cannot be written: ${known?.found ?? `the file system reports ${system}`}`,
        remedy: known?.remedy ?? 'Check the disk or network drive, or choose another folder.',
      }
    },
  }),
  ...ofCode('BAD_USAGE', {
    mappings_full: ({ most }: { most: number }) => ({
      text: `there are ${formatCount(most)} saved mappings already, and no more can be kept`,
      remedy: 'Remove one that is no longer needed.',
    }),
    saved_name_taken: ({ what, name }: { what: string; name: string }) => ({
      text: `a saved ${what} is already called ${name}`,
      remedy: `Choose another name, or remove that ${what} first.`,
    }),
    saved_name_unknown: ({ what, name }: { what: string; name: string }, sluice: string) => ({
      text: `there is no saved ${what} called ${name}`,
      remedy: {
        window: 'It may have been removed or renamed in another window. Look at the list again.',
        terminal: `See the saved ones with: ${sluice} mapping list`,
      },
    }),
    connection_exists: ({ name }: { name: string }, sluice: string) => ({
      text: `connection \`${name}\` already exists`,
      remedy: {
        terminal: `To change it, run: ${sluice} connection set ${quoteForShell(name)}. Or choose another name.`,
        window: 'Choose another name.',
      },
    }),
  }),
  ...ofCode('CONNECTION_NOT_FOUND', {
    connection_not_found: (
      { name, known, nearest }: { name: string; known: readonly string[]; nearest: string | null },
      sluice: string,
    ) => ({
      text: `connection \`${name}\` does not exist${didYouMean(nearest)}`,
      remedy:
        known.length > 0
          ? `Connections in this workspace: ${known.join(', ')}.`
          : {
              terminal: `This workspace has no connections. To store one, run: ${sluice} connection add NAME --base-url URL`,
              window: 'This workspace has no connections.',
            },
    }),
    connection_not_restorable: ({ name }: { name: string }) => ({
      text: `connection \`${name}\` cannot be restored: Sluice no longer remembers it`,
      remedy: 'Add it again.',
    }),
    key_not_restorable: ({ label, connection }: { label: string; connection: string }) => ({
      text: `the key ${label} of ${connection} cannot be restored: Sluice no longer remembers it`,
      remedy: 'Add it again.',
    }),
    key_not_found: (
      {
        connection,
        label,
        known,
        nearest,
      }: { connection: string; label: string; known: readonly string[]; nearest: string | null },
      sluice: string,
    ) => ({
      text: `connection ${connection} has no key \`${label}\`${didYouMean(nearest)}`,
      remedy: {
        terminal: `Its keys: ${known.join(', ')}. To add one, run: ${sluice} connection set ${quoteForShell(connection)} --key LABEL=VARIABLE`,
        window: `Its keys: ${known.join(', ')}.`,
      },
    }),
  }),
} satisfies Record<string, ErrorEntry>

function didYouMean(nearest: string | null): string {
  return nearest === null ? '' : `; did you mean ${nearest}?`
}
