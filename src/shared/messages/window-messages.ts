import { quoteForShell } from '../shell-command.ts'
import { type ErrorEntry, ofCode, ofFailure } from './error-entry.ts'
import { formatBytes } from './figure-text.ts'
import { sayPortProblem, type Thrown } from './thrown.ts'

/** Why a load test cannot be the probe of a capacity search. */
const CAPACITY_MISTAKES = {
  no_load: { text: 'this is not a load test', remedy: 'Under Operation, choose Load test.' },
  stages: {
    text: 'its load changes by itself in stages',
    remedy: 'Choose a constant load; the search changes it.',
  },
  requests: {
    text: 'it ends after a number of requests',
    remedy: 'Let each probe end after a duration.',
  },
  no_threshold: {
    text: 'there is no threshold to judge by',
    remedy: 'Add a threshold, such as p(99)<500.',
  },
  max_below_start: {
    text: 'the highest level is below the first one',
    remedy: 'Raise the highest level, or begin lower.',
  },
  max_not_a_level: {
    text: 'the highest level is not one that can be sent',
    remedy: 'Enter a rate with at most three decimals, or a whole number of requests in flight.',
  },
} as const

/** Errors of the window alone: its requests, its uploads, its questions, and its shells. */
export const WINDOW_MESSAGES = {
  ...ofCode('BAD_USAGE', {
    request_invalid: ({ faults }: { faults: readonly string[] }) => ({
      text: `invalid request: ${faults.join('; ')}`,
      remedy: 'Correct these values. If you did not enter them, reload the window.',
    }),
    media_not_named: ({ row, column }: { row: string; column: number }) => ({
      text: `column ${column + 1} of row ${row} is not the address of a picture, video or sound`,
      remedy: 'Reload the window and open the row again.',
    }),
    media_not_fetched: ({ host, reason }: { host: string; reason: string }) => ({
      text: `cannot fetch the file from ${host}: ${reason}`,
      remedy: 'Check the address in the row, then try again.',
    }),
    media_not_shown: ({ host }: { host: string }) => ({
      text: `${host} sent something that is not a picture, video or sound that can be shown here`,
      remedy: 'Nothing was kept of it.',
    }),
    media_too_large: ({ host, maxBytes }: { host: string; maxBytes: number }) => ({
      text: `the file on ${host} is larger than ${formatBytes(maxBytes)}`,
      remedy: 'Nothing was kept of it. Larger files are shown from a local folder only.',
    }),
    media_elsewhere: ({ host, other }: { host: string; other: string }) => ({
      text: `${host} redirects to ${other}`,
      remedy: 'Redirects are not followed, and nothing was asked of the other host.',
    }),
    media_of_this_machine: ({ host }: { host: string }) => ({
      text: `${host} is this machine`,
      remedy:
        'Rows can have nothing fetched from programs on this machine. Put the files into the folder of the source.',
    }),
    media_behind_proxy: ({ host }: { host: string }) => ({
      text: `the file was not fetched from ${host}: the connection of this run uses a proxy, and media are fetched without one`,
      remedy: 'Put the files into the folder of the source.',
    }),
    connection_file_in_browser: ({ connection }: { connection: string }, sluice: string) => ({
      text: 'a browser cannot choose files of this machine',
      remedy: {
        terminal: `Run: ${sluice} connection set ${quoteForShell(connection)} --ca FILE --client-cert FILE --client-key FILE`,
        window: 'Use the desktop app, or set the files in a terminal.',
      },
    }),
    desktop_only: () => ({
      text: 'only the desktop app can do this',
      remedy: 'Settings shows the path of each folder. Open it in your file manager.',
    }),
    folder_unopened: ({ folder, reason }: { folder: string; reason: string }) => ({
      text: `cannot open ${folder}: ${reason}`,
      remedy: 'Open the folder in your file manager.',
    }),
    updates_unavailable: () => ({
      text: 'this build of Sluice has no place to look for updates',
      remedy: 'Install a newer release by hand.',
    }),
    connection_changed_meanwhile: ({ connection }: { connection: string }) => ({
      text: `${connection} was changed by another window or command; nothing was saved`,
      remedy: 'Look at the connection as it is now, then change it again.',
    }),
    address_of_variable: ({ connection, variable }: { connection: string; variable: string }) => ({
      text: `address and proxy of ${connection} cannot be changed here: its key is in the environment variable ${variable} and belongs to the current ones`,
      remedy: 'Add a new connection for the other address or proxy.',
    }),
    address_of_headers: ({ connection, header }: { connection: string; header: string }) => ({
      text: `address and proxy of ${connection} cannot be changed here: the value of its header ${header} comes from a variable or a file and belongs to the current ones`,
      remedy: 'Add a new connection for the other address or proxy.',
    }),
    key_in_variable: ({ label, variable }: { label: string; variable: string }) => ({
      text: `the key ${label} cannot be changed here: it comes from the environment variable ${variable}`,
      remedy: 'Set the variable to the new key where Sluice is started, or add a key with another label.',
    }),
    last_key: ({ label, connection }: { label: string; connection: string }) => ({
      text: `the key ${label} cannot be removed: it is the only key of ${connection}`,
      remedy: 'Add another key first, or remove the connection.',
    }),
    sandbox_callbacks_elsewhere: () => ({
      text: 'rows for the sandbox must not have a callback_url: the sandbox posts callbacks only to Sluice',
      remedy: 'Remove callback_url, or choose another connection.',
    }),
    scratch_row_too_long: ({ row }: { row: string }) => ({
      text: `the request of row ${row} has more than 1,048,576 characters, too many for the Scratchpad`,
      remedy: 'Copy it as curl from the row, and send it from a terminal.',
    }),
    sandbox_refuses: ({ message }: { message: string }) => ({
      text: message,
      remedy: 'The sandbox has not changed. Correct the value, then try again.',
    }),
    sandbox_changed_meanwhile: ({ message }: { message: string }) => ({
      text: message,
      remedy: 'Look at it as it is now, then change it again.',
    }),
    sandbox_port_of_connection: ({ port, connection }: { port: number; connection: string }) => ({
      text: `port ${port} belongs to the connection ${connection}, so the sandbox cannot have it`,
      remedy: 'Choose another port, or 0 for a free one.',
    }),
    capacity_search_unknown: () => ({
      text: 'this capacity search is unknown: Sluice was restarted since it began',
      remedy: 'Its finished probes are load tests in the list of runs.',
    }),
    capacity_search_under_way: () => ({
      text: 'another capacity search is still going on; two would disturb each other',
      remedy: 'Wait for its end, or stop it.',
    }),
    export_without_file: () => ({
      text: 'the export has no file name',
      remedy: 'Export again and choose a file in the dialog.',
    }),
    export_name_mismatch: ({ file, format }: { file: string; format: string }) => ({
      text: `${file} does not end in .${format}`,
      remedy: `Export again and choose a name that ends in .${format}.`,
    }),
    export_into_browser: () => ({
      text: 'in a browser, Sluice cannot choose where an export is saved',
      remedy: 'Export again. The browser downloads the file.',
    }),
    web_port_unusable: ({ port, ...thrown }: Thrown & { port: number }) => ({
      text: `cannot listen on 127.0.0.1:${port}: ${sayPortProblem(thrown)}`,
      remedy: 'Choose another port with --port, or remove --port to use a free one.',
    }),
  }),
  ...ofCode('INTERNAL', {
    helper_process_gone: ({ name, reason }: { name: string; reason: string }) => ({
      text: `a process of the window ended unexpectedly: ${name}, ${reason}`,
      remedy: 'It restarts automatically. Runs in progress continue, and nothing is lost.',
    }),
    screens_not_built: ({ reason }: { reason: string }) => ({
      text: `the user interface could not be built: ${reason}`,
      remedy: 'Run npm ci, then try again.',
    }),
  }),
  ...ofCode('BAD_PLAN', {
    plan_unknown: () => ({
      text: 'this plan is no longer open',
      remedy: 'Open the plan file again.',
    }),
    plan_not_here: ({ name }: { name: string }) => ({
      text: `${name} is a plan, which a browser cannot open: a plan names files on this machine`,
      remedy: 'Open it with the desktop app, or run it with the plan command.',
    }),
    capacity_not_searchable: ({ mistake }: { mistake: keyof typeof CAPACITY_MISTAKES }) => ({
      text: `the capacity cannot be searched: ${CAPACITY_MISTAKES[mistake].text}`,
      remedy: CAPACITY_MISTAKES[mistake].remedy,
    }),
    capacity_unsent: ({ reason }: { /** Null if the run gives no reason. */ reason: string | null }) => ({
      text: `the first probe could not send anything${reason === null ? '' : `: ${reason}`}`,
      remedy: 'Look at the problems of the rows under Check, then start the search again.',
    }),
    destination_missing: (args: { /** Null where an address is missing. */ connection: string | null }) => ({
      text:
        args.connection === null ? 'the address is missing' : `the connection ${args.connection} is missing`,
      remedy: 'Under Operation, choose where to send the rows.',
    }),
  }),
  ...ofFailure('INTERNAL', {
    engine_lost: () => ({
      text: 'the connection to Sluice was lost',
      remedy: 'If Sluice was stopped, start it again. Interrupted runs can be resumed.',
    }),
    call_failed: ({ reason }: { reason: string }) => ({
      text: reason,
      remedy: 'Try again. If Sluice was stopped, start it again. Interrupted runs can be resumed.',
    }),
  }),
  ...ofCode('SANDBOX_UNAVAILABLE', {
    sandbox_is_foreign: ({ baseUrl }: { baseUrl: string }) => ({
      text: `the sandbox of this run is no longer at ${baseUrl}; another program may use its port`,
      remedy:
        'Nothing was sent. End the program that uses the port and try again, or start a new run with the sandbox.',
    }),
    sandbox_stopped: () => ({
      text: 'the sandbox is not running',
      remedy: 'Start it under Sandbox, then try again.',
    }),
  }),
  ...ofCode('BAD_SOURCE', {
    source_unknown: () => ({
      text: 'the source is unknown: Sluice was restarted, or the file was never chosen',
      remedy: 'Choose the file again, or drop it onto the window.',
    }),
    file_not_here: ({ name }: { name: string }) => ({
      text: `${name} is not a file on this machine`,
      remedy: 'Save it to a folder, then drop it from there.',
    }),
    dropped_folder_empty: ({ name }: { name: string }) => ({
      text: `${name} is an empty folder`,
      remedy: 'Choose a folder with text, JSON or media files.',
    }),
    upload_failed: ({ name }: { name: string }) => ({
      text: `${name} could not be uploaded to Sluice`,
      remedy: 'Check that the file can still be read and has not changed, then choose it again.',
    }),
    upload_cut_off: () => ({
      text: 'the upload was incomplete',
      remedy: 'Choose the file again. If it may change or move during the upload, copy it first.',
    }),
    upload_name_unusable: ({ name }: { name: string }) => ({
      text: `${JSON.stringify(name)} cannot be stored under that name`,
      remedy:
        'Remove control characters, colons and backslashes from the name, then choose the folder again.',
    }),
  }),
  ...ofCode('DISK_FULL', {
    upload_disk_full: ({ folder }: { folder: string }) => ({
      text: `the file does not fit on the disk that holds ${folder}`,
      remedy: 'Free some space there, then choose the file again.',
    }),
  }),
  ...ofCode('FILE_UNWRITABLE', {
    upload_unwritable: ({ folder, reason }: { folder: string; reason: string }) => ({
      text: `the file cannot be written to ${folder}: ${reason}`,
      remedy: 'Check that the folder is writable, then choose the file again.',
    }),
  }),
  ...ofCode('WORKSPACE_UNUSABLE', {
    entry_unwritable: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot write ${file}: ${reason}`,
      remedy: 'Choose a folder that you can write to, with --workspace DIR or SLUICE_WORKSPACE.',
    }),
  }),
} satisfies Record<string, ErrorEntry>
