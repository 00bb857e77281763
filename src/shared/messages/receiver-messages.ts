import type { ErrorEntry, Wording } from './error-entry.ts'

/** What someone at the window does where another address of the receiver would help, which cannot be chosen there. */
const TAKE_SYNC = 'Choose to get the answers at once (sync), or close what else uses the address.'

interface Problem {
  found: string
  remedy: Wording
}

/** Why the receiver cannot listen, by the code of the operating system. */
function explainListening(system: string | null, reason: string, port: number, isOwn: boolean): Problem {
  switch (system) {
    case 'EADDRINUSE':
      return {
        found: 'another program uses that port',
        remedy: isOwn
          ? {
              terminal: `End that program: callbacks of earlier runs go to port ${port}. Or use another port this time, with --callback-port PORT.`,
              window: `End that program: callbacks of earlier runs go to port ${port}.`,
            }
          : {
              terminal: 'End that program, or choose another port with --callback-port PORT.',
              window: 'End that program.',
            },
      }
    case 'EACCES':
      return {
        found: 'this user may not use that port',
        remedy: { terminal: 'Choose a port from 1024 on, with --callback-port PORT.', window: TAKE_SYNC },
      }
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return {
        found: 'this machine does not have that address',
        remedy: {
          terminal:
            'Leave --callback-host out for this machine alone, or give 0.0.0.0 for every address it has.',
          window: TAKE_SYNC,
        },
      }
    default:
      return {
        found: reason,
        remedy: {
          terminal: 'Choose another address with --callback-host and --callback-port.',
          window: TAKE_SYNC,
        },
      }
  }
}

/** Answer to a callback that was posted to try a public address. */
interface TestAnswer {
  status: number
  location: string | null
  /** Its first words. */
  excerpt: string
}

function quoteAnswer({ status, excerpt }: Omit<TestAnswer, 'location'>): string {
  return `${status}${excerpt === '' ? '' : ` "${excerpt}"`}`
}

/** Why nothing arrived, by what answered instead. */
function explainAnswer({ status, location, excerpt }: TestAnswer): Problem {
  const found = `it answered ${quoteAnswer({ status, excerpt })}, and nothing arrived here`
  if (status >= 300 && status < 400) {
    return {
      found: `it answered ${status} and points to ${location ?? 'another address'}, and nothing arrived here`,
      remedy:
        'A service may not follow that. Give the address it points to; check that http or https is right.',
    }
  }
  if (status === 401 || status === 403) {
    return {
      found,
      remedy: 'Something in front of the receiver asks for a login. Let /callback/ through without one.',
    }
  }
  if (status === 404 || status === 405) {
    return {
      found,
      remedy:
        'Something else answers there, or another workspace. Check that the proxy or tunnel leads to the port of this receiver, for POST and every path below.',
    }
  }
  if (status >= 502 && status <= 504) {
    return {
      found,
      remedy: 'The proxy or tunnel does not reach the receiver. Check the host and port it leads to.',
    }
  }
  return {
    found,
    remedy: 'Check what answers at that address, and that it forwards POST requests unchanged.',
  }
}

/** Why a request to the public address failed, by the code of the operating system or of TLS. */
function explainFailure(system: string | null, reason: string): Problem {
  switch (system) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return { found: 'its host name is unknown', remedy: 'Check the spelling of the host, and the DNS.' }
    case 'ECONNREFUSED':
      return {
        found: 'nothing listens there (connection refused)',
        remedy: 'Check the port, and that the proxy or tunnel is running.',
      }
    case 'ECONNRESET':
    case 'EPIPE':
      return {
        found: 'the connection was closed before an answer',
        remedy: 'Check whether that port speaks https or http, and what is in front of the receiver.',
      }
    default:
      return {
        found: reason,
        remedy: /CERT|TLS|SSL|SELF_SIGNED/i.test(`${system} ${reason}`)
          ? 'Its certificate or its TLS is not accepted here, and may not be by the service. Check both, and whether the port speaks https.'
          : 'Check the address, and that the proxy or tunnel is running.',
      }
  }
}

function failTest(publicUrl: string, { found, remedy }: Problem) {
  return { text: `callbacks do not arrive through ${publicUrl}: posted one there, and ${found}`, remedy }
}

const CHECK_FOLDER = 'Check that the workspace folder is writable and has free space.'

/** What to do about a settings file that cannot be used. */
const MEND_SETTINGS =
  'Check that the workspace folder is writable. If the file is damaged, remove it: a new one is made, and callbacks to earlier addresses are refused.'

/** Errors of the callback receiver and of serving media files. */
export const RECEIVER_MESSAGES = {
  receiver_cannot_listen: {
    code: 'RECEIVER_UNAVAILABLE',
    words: ({
      host,
      port,
      isOwn,
      system,
      reason,
    }: {
      host: string
      port: number
      /** Whether it is the port that the workspace keeps. */
      isOwn: boolean
      system: string | null
      reason: string
    }) => {
      const { found, remedy } = explainListening(system, reason, port, isOwn)
      return { text: `the callback receiver cannot listen on ${host} port ${port}: ${found}`, remedy }
    },
  },
  receiver_cannot_start: {
    code: 'RECEIVER_UNAVAILABLE',
    words: ({ reason }: { reason: string }) => ({
      text: `the callback receiver cannot start: ${reason}`,
      remedy: CHECK_FOLDER,
    }),
  },
  receiver_ended: {
    code: 'RECEIVER_UNAVAILABLE',
    exit: 'rowsFailed',
    words: ({ reason }: { reason: string }) => ({
      text: `the callback receiver has ended: ${reason}`,
      remedy: 'Start it again. Callbacks it answered 200 are stored.',
    }),
  },
  inbox_held_elsewhere: {
    code: 'RECEIVER_UNAVAILABLE',
    words: ({ workspace }: { workspace: string }) => ({
      text: `another process holds the inbox of ${workspace}, but does not listen for callbacks`,
      remedy: 'End that process, or wait until it has ended, and try again.',
    }),
  },
  receiver_elsewhere: {
    code: 'RECEIVER_UNAVAILABLE',
    words: ({
      host,
      port,
      wantedHost,
      wantedPort,
    }: {
      host: string
      port: number
      wantedHost: string
      wantedPort: number | null
    }) => ({
      text: `another process of this workspace receives its callbacks at ${host} port ${port}, not at ${wantedHost}${wantedPort === null ? '' : ` port ${wantedPort}`}`,
      remedy: {
        terminal: `Use that one (--callback-host ${host} --callback-port ${port}), end that process, or use another workspace with --workspace DIR.`,
        window: 'Use that one, or end that process.',
      },
    }),
  },
  receiver_open_elsewhere: {
    code: 'RECEIVER_UNAVAILABLE',
    words: ({ baseUrl, wanted }: { baseUrl: string; wanted: string }) => ({
      text: `the callback receiver is open at ${baseUrl}, not at ${wanted}`,
      remedy: 'Wait until the run that uses it ends, or leave host and port out to share it.',
    }),
  },
  receiver_takes_less: {
    code: 'RECEIVER_UNAVAILABLE',
    words: ({ takesBytes, wantedBytes }: { takesBytes: number; wantedBytes: number }) => ({
      text: `the callback receiver is already open and takes callbacks of up to ${takesBytes} bytes, not ${wantedBytes}`,
      remedy: 'Wait until the run that uses it ends, or leave the size out to share it.',
    }),
  },
  receiver_moved: {
    code: 'RECEIVER_UNAVAILABLE',
    words: ({
      runId,
      wanted,
      found,
      port,
    }: {
      runId: string
      wanted: string
      found: string | null
      /** Null where the address has none. */
      port: string | null
    }) => ({
      text: `run ${runId} told the service to post to ${wanted}, but the callback receiver is at ${found ?? 'no address'}`,
      remedy: {
        terminal: `Open it there again: --callback-port ${port ?? 'PORT'}`,
        window: `Close what else uses the port${port === null ? '' : ` ${port}`}, and start Sluice again.`,
      },
    }),
  },
  inbox_unusable: {
    code: 'WORKSPACE_UNUSABLE',
    words: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot open the inbox ${file}: ${reason}`,
      remedy: {
        terminal:
          'Check that the workspace folder is writable and has free space. If a newer Sluice wrote the file, update this one, or choose another workspace with --workspace DIR.',
        window:
          'Check that the workspace folder is writable and has free space. If a newer Sluice wrote the file, update this one.',
      },
    }),
  },
  inbox_too_new: {
    code: 'WORKSPACE_UNUSABLE',
    words: ({ file, version, known }: { file: string; version: number; known: number }) => ({
      text: `the inbox ${file} has version ${version}, but this Sluice knows versions up to ${known}`,
      remedy: {
        terminal:
          'A newer Sluice wrote it: update this one, or choose another workspace with --workspace DIR.',
        window: 'A newer Sluice wrote it: update this one.',
      },
    }),
  },
  receiver_settings_unreadable: {
    code: 'WORKSPACE_UNUSABLE',
    words: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot read ${file}: ${reason}`,
      remedy: MEND_SETTINGS,
    }),
  },
  receiver_settings_damaged: {
    code: 'WORKSPACE_UNUSABLE',
    words: ({ file }: { file: string }) => ({
      text: `${file} does not hold a receiver's settings`,
      remedy: MEND_SETTINGS,
    }),
  },
  receiver_settings_unwritable: {
    code: 'WORKSPACE_UNUSABLE',
    words: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot write ${file}: ${reason}`,
      remedy: MEND_SETTINGS,
    }),
  },
  media_folder_unusable: {
    code: 'BAD_SOURCE',
    words: ({
      folder,
      reason,
    }: {
      folder: string /** Null where it is a file. */
      reason: string | null
    }) => ({
      text: `cannot serve the files of ${folder}: ${reason ?? 'it is not a folder'}`,
      remedy: 'Choose a folder that exists and can be read.',
    }),
  },
  media_registry_unwritable: {
    code: 'WORKSPACE_UNUSABLE',
    words: ({ file, reason }: { file: string; reason: string }) => ({
      text: `cannot write ${file}: ${reason}`,
      remedy: CHECK_FOLDER,
    }),
  },
  public_url_not_http: {
    code: 'RECEIVER_UNAVAILABLE',
    words: ({ publicUrl }: { publicUrl: string }) => ({
      text: `callbacks do not arrive through ${publicUrl}: it is not an http or https address`,
      remedy: 'Give the public address that leads to the receiver, as in https://example.com/sluice.',
    }),
  },
  public_url_refuses: {
    code: 'RECEIVER_UNAVAILABLE',
    words: ({ publicUrl, ...answer }: TestAnswer & { publicUrl: string }) =>
      failTest(publicUrl, explainAnswer(answer)),
  },
  public_url_loses: {
    code: 'RECEIVER_UNAVAILABLE',
    words: ({
      publicUrl,
      status,
      excerpt,
      seconds,
    }: Omit<TestAnswer, 'location'> & { publicUrl: string; seconds: number }) =>
      failTest(publicUrl, {
        found: `it answered ${quoteAnswer({ status, excerpt })}, but nothing arrived here within ${seconds} s`,
        remedy:
          'Something else answers there. Check that the proxy or tunnel leads to the port of this receiver.',
      }),
  },
  public_url_silent: {
    code: 'RECEIVER_UNAVAILABLE',
    words: ({ publicUrl, seconds }: { publicUrl: string; seconds: number }) =>
      failTest(publicUrl, {
        found: `it did not answer within ${seconds} s`,
        remedy:
          'Check the address, the firewall, and that the tunnel is open. In some networks a machine cannot reach its own public address: then try from outside.',
      }),
  },
  public_url_unreachable: {
    code: 'RECEIVER_UNAVAILABLE',
    words: ({ publicUrl, system, reason }: { publicUrl: string; system: string | null; reason: string }) =>
      failTest(publicUrl, explainFailure(system, reason)),
  },
} satisfies Record<string, ErrorEntry>
