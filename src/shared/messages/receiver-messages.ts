import { type ErrorEntry, ofCode, ofFailure, type Wording } from './error-entry.ts'
import { sayPortProblem, type Thrown } from './thrown.ts'
import { orOtherWorkspace } from './workspace-messages.ts'

/** What to do if the receiver cannot use its address; the window has no option for another address. */
function adviseOnPort({ system }: Thrown, port: number, isOwn: boolean): Wording {
  switch (system) {
    case 'EADDRINUSE': {
      const earlier = isOwn ? `End that program: callbacks of earlier runs go to port ${port}.` : ''
      return {
        terminal: isOwn
          ? `${earlier} To use another port for this run, pass --callback-port PORT.`
          : 'End that program, or choose another port with --callback-port PORT.',
        window: isOwn ? earlier : 'End that program.',
      }
    }
    case 'EACCES':
      return { terminal: 'Choose port 1024 or higher with --callback-port PORT.', window: NEEDS_NO_RECEIVER }
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return {
        terminal:
          'Remove --callback-host to listen on this machine only, or pass --callback-host 0.0.0.0 to listen on all its addresses.',
        window: NEEDS_NO_RECEIVER,
      }
    default:
      return {
        terminal: 'Choose another address with --callback-host and --callback-port.',
        window: NEEDS_NO_RECEIVER,
      }
  }
}

const NEEDS_NO_RECEIVER = 'Switch to sync mode, which needs no callback receiver.'

/** Answer to a callback that was posted as a test of a public URL. */
export interface TestAnswer {
  status: number
  location: string | null
  /** Its first words. */
  excerpt: string
}

/** Why a test callback did not arrive, and what to do. */
interface TestFailure {
  found: string
  remedy: string
}

/** Why a test callback did not arrive, according to the answer. */
function explainAnswer({ status, location, excerpt }: TestAnswer): TestFailure {
  if (status >= 300 && status < 400) {
    return {
      found: `it redirects (${status}) to ${location ?? 'another address'}`,
      remedy:
        'The service may not follow redirects. Use the address that it redirects to, with the same scheme (http or https).',
    }
  }
  return { found: `it answered ${quoteAnswer({ status, excerpt })}`, remedy: adviseOnStatus(status) }
}

function quoteAnswer({ status, excerpt }: Omit<TestAnswer, 'location'>): string {
  return `${status}${excerpt === '' ? '' : ` "${excerpt}"`}`
}

function adviseOnStatus(status: number): string {
  if (status === 401 || status === 403) {
    return 'Something in front of the receiver requires a login. Allow requests to /callback/ without a login.'
  }
  if (status === 404 || status === 405) {
    return 'Another program or another workspace answers there. Check that the proxy or tunnel forwards POST requests, for every path, to the port of this receiver.'
  }
  if (status >= 502 && status <= 504) {
    return 'The proxy or tunnel does not reach the receiver. Check the host and port that it forwards to.'
  }
  return 'Check what answers at that address, and that it forwards POST requests unchanged.'
}

/** Why a test callback could not be posted. */
function explainFailure({ system, reason }: Thrown): TestFailure {
  switch (system) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return {
        found: 'its host name is unknown',
        remedy: 'Check the spelling of the host, and its DNS entry.',
      }
    case 'ECONNREFUSED':
      return {
        found: 'nothing listens there (connection refused)',
        remedy: 'Check the port, and that the proxy or tunnel is running.',
      }
    case 'ECONNRESET':
    case 'EPIPE':
      return {
        found: 'the connection was closed before an answer arrived',
        remedy: 'Check whether that port speaks https or http, and what is in front of the receiver.',
      }
    default:
      return {
        found: reason,
        remedy: /CERT|TLS|SSL|SELF_SIGNED/i.test(`${system} ${reason}`)
          ? 'The TLS certificate or settings were not accepted, and the service may not accept them either. Check the certificate, and that the port speaks https.'
          : 'Check the address, and that the proxy or tunnel is running.',
      }
  }
}

function failTest(publicUrl: string, { found, remedy }: TestFailure) {
  return {
    text: `a test callback to ${publicUrl} did not arrive: ${found}`,
    remedy: {
      terminal: `${remedy} To send without the test, add --skip-callback-test.`,
      window: remedy,
    },
  }
}

const CHECK_FOLDER = 'Check that the workspace folder is writable and has free space.'

/** What to do about a settings file that cannot be used. */
const REPAIR_SETTINGS =
  'Check that the workspace folder is writable. If the file is damaged, delete it. Sluice then creates a new one, and refuses callbacks of earlier runs.'

/** Errors of the callback receiver and of the media host. */
export const RECEIVER_MESSAGES = {
  ...ofCode('RECEIVER_UNAVAILABLE', {
    receiver_cannot_listen: ({
      host,
      port,
      isOwn,
      ...thrown
    }: Thrown & {
      host: string
      port: number
      /** Whether it is the workspace's stored port. */
      isOwn: boolean
    }) => ({
      text: `the callback receiver cannot listen on ${host} port ${port}: ${sayPortProblem(thrown)}`,
      remedy: adviseOnPort(thrown, port, isOwn),
    }),
    receiver_cannot_start: ({ reason }: { reason: string }) => ({
      text: `the callback receiver cannot start: ${reason}`,
      remedy: CHECK_FOLDER,
    }),
    inbox_held_elsewhere: ({ workspace }: { workspace: string }) => ({
      text: `another process uses the callback inbox of ${workspace}, but does not listen for callbacks`,
      remedy: 'End that process or wait until it ends, then try again.',
    }),
    receiver_elsewhere: (args: {
      host: string
      port: number
      wantedHost: string
      wantedPort: number | null
    }) => ({
      text: `another process receives the callbacks of this workspace at ${args.host} port ${args.port}, not at ${args.wantedHost}${args.wantedPort === null ? '' : ` port ${args.wantedPort}`}`,
      remedy: {
        terminal: `Use that address (--callback-host ${args.host} --callback-port ${args.port}), end that process, or use another workspace with --workspace DIR.`,
        window: 'Use that address, or end that process.',
      },
    }),
    receiver_open_elsewhere: ({ baseUrl, wanted }: { baseUrl: string; wanted: string }) => ({
      text: `the callback receiver is already open at ${baseUrl}, not at ${wanted}`,
      remedy: 'Wait until the run that uses it ends, or leave host and port empty to share it.',
    }),
    receiver_takes_less: ({ takesBytes, wantedBytes }: { takesBytes: number; wantedBytes: number }) => ({
      text: `the callback receiver is already open with a limit of ${takesBytes} bytes per callback, not ${wantedBytes}`,
      remedy: 'Wait until the run that uses it ends, or leave the size empty to share it.',
    }),
    receiver_moved: (args: {
      runId: string
      wanted: string
      found: string | null
      /** Null if the address does not have one. */
      port: string | null
    }) => ({
      text: `callbacks of run ${args.runId} go to ${args.wanted}, but the callback receiver is ${args.found === null ? 'closed' : `at ${args.found}`}`,
      remedy: {
        terminal: `Use that port again: --callback-port ${args.port ?? 'PORT'}`,
        window: `End the program that uses ${args.port === null ? 'its port' : `port ${args.port}`}, then restart Sluice.`,
      },
    }),
    public_url_not_http: ({ publicUrl }: { publicUrl: string }) => ({
      text: `${publicUrl} is not an http or https address`,
      remedy: 'Enter the public address of the receiver, such as https://example.com/sluice.',
    }),
    public_url_refuses: ({ publicUrl, ...answer }: TestAnswer & { publicUrl: string }) =>
      failTest(publicUrl, explainAnswer(answer)),
    public_url_loses: ({
      publicUrl,
      seconds,
      ...answer
    }: Omit<TestAnswer, 'location'> & { publicUrl: string; seconds: number }) =>
      failTest(publicUrl, {
        found: `it answered ${quoteAnswer(answer)}, but did not forward the callback within ${seconds} s`,
        remedy:
          'Another program answers there. Check that the proxy or tunnel forwards to the port of this receiver.',
      }),
    public_url_silent: ({ publicUrl, seconds }: { publicUrl: string; seconds: number }) =>
      failTest(publicUrl, {
        found: `it did not answer within ${seconds} s`,
        remedy:
          'Check the address, the firewall, and that the tunnel is open. In some networks a machine cannot reach its own public address: in that case, test from another network.',
      }),
    public_url_unreachable: ({ publicUrl, ...thrown }: Thrown & { publicUrl: string }) =>
      failTest(publicUrl, explainFailure(thrown)),
  }),
  ...ofFailure('RECEIVER_UNAVAILABLE', {
    receiver_ended: ({ reason }: { reason: string }) => ({
      text: `the callback receiver stopped: ${reason}`,
      remedy: {
        terminal:
          'While a command runs, Sluice starts the receiver again at the same address. Callbacks that it answered with 200 are stored. Others arrive only if the service repeats them.',
        window:
          'Sluice starts it again at the same address; Callbacks shows whether it listens. Callbacks that it answered with 200 are stored. Others arrive only if the service repeats them.',
      },
    }),
  }),
  ...ofCode('WORKSPACE_UNUSABLE', {
    inbox_unusable: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot open the callback inbox ${file}: ${reason}`,
      remedy: orOtherWorkspace(`${CHECK_FOLDER} If a newer version of Sluice wrote the file, update Sluice`),
    }),
    inbox_too_new: ({ file, version, known }: { file: string; version: number; known: number }) => ({
      text: `the callback inbox ${file} has version ${version}, but this copy of Sluice reads versions up to ${known}`,
      remedy: orOtherWorkspace('A newer version of Sluice wrote it. Update Sluice'),
    }),
    receiver_settings_unreadable: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot read ${file}: ${reason}`,
      remedy: REPAIR_SETTINGS,
    }),
    receiver_settings_damaged: ({ file }: { file: string }) => ({
      text: `${file} does not contain valid receiver settings`,
      remedy: REPAIR_SETTINGS,
    }),
    receiver_settings_unwritable: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot write ${file}: ${reason}`,
      remedy: REPAIR_SETTINGS,
    }),
    media_registry_unwritable: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot write ${file}: ${reason}`,
      remedy: CHECK_FOLDER,
    }),
  }),
  ...ofCode('BAD_SOURCE', {
    media_folder_unusable: (args: {
      folder: string
      /** Null if it is a file. */
      reason: string | null
    }) => ({
      text: `cannot serve the files of ${args.folder}: ${args.reason ?? 'it is not a folder'}`,
      remedy: 'Choose a folder that exists and can be read.',
    }),
  }),
} satisfies Record<string, ErrorEntry>
