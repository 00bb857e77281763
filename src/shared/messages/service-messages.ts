import type { KeyFrom } from '../plan/connection.ts'
import type { KeyPlace } from '../plan/stored-connection.ts'
import { quoteForShell } from '../shell-command.ts'
import { formatSetDuration } from './duration.ts'
import { type ErrorEntry, ofCode } from './error-entry.ts'
import { formatCount } from './figure-text.ts'
import type { Thrown } from './thrown.ts'

/** Files of a connection that hold keys and certificates. */
export type TlsFile = keyof typeof TLS_FILES

const TLS_FILES = {
  authorities: 'the CA file',
  certificate: 'the client certificate',
  key: 'the client key',
}

/** Why a typed key is not available, by where it is kept. */
const ELSEWHERE: Record<KeyPlace, string> = {
  keyring: 'was not found in the keyring, or was typed for another address, proxy or CA file',
  profile: 'is kept by the desktop app, which gives it to no other program',
  session: 'was typed into a window that kept it only until it was closed',
}

/** Why a run's key is not available, by how it was given. */
const GIVEN_BEFORE: Record<KeyFrom, string> = {
  window: 'address and key were typed into a window, and keys are not stored',
  file: 'it was read from a file, and keys and their files are not stored',
  command: 'a command printed it, and keys and their commands are not stored',
}

/** How a command that should have printed a key ended. */
export type KeyCommandFailure =
  | { kind: 'not_started'; reason: string }
  | { kind: 'exit'; exitCode: number }
  | { kind: 'signal'; signal: string }
  | { kind: 'timeout'; ms: number }

function sayFailure(how: KeyCommandFailure): string {
  switch (how.kind) {
    case 'not_started':
      return `cannot be started: ${how.reason}`
    case 'exit':
      return `ended with exit code ${how.exitCode}`
    case 'signal':
      return `was ended by ${how.signal}`
    case 'timeout':
      return `did not end within ${formatSetDuration(how.ms)}`
  }
}

/** Errors on the way to the service: its key, its certificates, its proxy. */
export const SERVICE_MESSAGES = {
  ...ofCode('NO_API_KEY', {
    key_not_set: ({ variable, isEmpty }: { variable: string; isEmpty: boolean }) => ({
      text: `the API key is missing: the environment variable ${variable} is ${isEmpty ? 'empty' : 'not set'}`,
      remedy: {
        terminal: `Set it, for example: read -rs ${variable} && export ${variable}`,
        window: 'Type the key, or use a stored connection whose key is set.',
      },
    }),
    key_unusable: ({ source }: { /** Completes "the API key …". */ source: string }) => ({
      text: `the API key ${source} contains whitespace or non-ASCII characters, which a request header must not contain`,
      remedy: 'Copy the key again, without quotes, spaces or line breaks around it.',
    }),
    key_missing: ({ baseUrl, keyFrom }: { baseUrl: string; keyFrom: KeyFrom | null }) => ({
      text: `the API key for ${baseUrl} is missing${keyFrom === null ? '' : `: ${GIVEN_BEFORE[keyFrom]}`}`,
      remedy: {
        terminal:
          keyFrom === 'file'
            ? 'Add --api-key-file FILE again, or name the environment variable that holds the key: --api-key-env NAME.'
            : keyFrom === 'command'
              ? 'Add --api-key-command COMMAND again, or name the environment variable that holds the key: --api-key-env NAME.'
              : 'Type the key in the window, or name the environment variable that holds it: --api-key-env NAME.',
        window: 'Type the key, or use a stored connection whose key is set.',
      },
    }),
    key_file_unreadable: ({ path, reason }: Thrown & { path: string }) => ({
      text: `the API key cannot be read from ${path}: ${reason}`,
      remedy: 'Check the path and whether the file can be read.',
    }),
    key_source_empty: ({ source }: { /** Completes "the API key …". */ source: string }) => ({
      text: `the API key ${source} is empty`,
      remedy: 'Check that it holds nothing but the key.',
    }),
    key_source_too_long: ({ source, max }: { source: string; max: number }) => ({
      text: `the API key ${source} is longer than ${formatCount(max)} characters`,
      remedy: 'Check that it holds nothing but the key.',
    }),
    key_command_failed: ({ program, failure }: { program: string; failure: KeyCommandFailure }) => ({
      text: `the command for the API key, ${program}, ${sayFailure(failure)}`,
      remedy:
        failure.kind === 'not_started'
          ? "Check the name of the program and the PATH. The command is run without a shell; for one, write: sh -c '…'"
          : 'Run the command by itself to see what is wrong. It must print the key and nothing else.',
    }),
    key_locked: ({ label, connection, reason }: { label: string; connection: string; reason: string }) => ({
      text: `the key ${label} of connection ${connection} cannot be read from where it is kept: ${reason}`,
      remedy: {
        terminal:
          'Unlock the keyring and try again, or name a variable that holds the key: --api-key-env NAME.',
        window: 'Unlock the keyring and try again, or type the key again.',
      },
    }),
    key_elsewhere: (
      { label, connection, place }: { label: string; connection: string; place: KeyPlace },
      sluice: string,
    ) => ({
      text: `the key ${label} of connection ${connection} ${ELSEWHERE[place]}`,
      remedy: {
        terminal: `To type it for this address, run: ${sluice} connection key ${quoteForShell(connection)} --label ${quoteForShell(label)}. Or name a variable that holds it: --api-key-env NAME.`,
        window: 'Type the key again.',
      },
    }),
    key_of_other_address: ({ origins, found }: { origins: readonly string[]; found: string }) => ({
      text: `the API key belongs to ${origins.join(' and ')} and is not sent to ${found}`,
      remedy: 'Use the connection that the key belongs to, or provide a key for this address.',
    }),
  }),
  ...ofCode('BAD_USAGE', {
    scratch_unsendable: (args: {
      /** Null for the whole text. */ field: string | null
      expected: string
    }) => ({
      text: `${args.field ?? 'the request'} ${args.expected}`,
      remedy: 'Correct the text, then send again. Nothing was sent.',
    }),
    scratch_callback_of_run: () => ({
      text: 'callback_url is the address of a row of a run; a callback would change the result of that row',
      remedy: 'Remove callback_url: the Scratchpad then adds an address of its own. Nothing was sent.',
    }),
    key_not_kept: ({ reason, variable }: { reason: string; variable: string }) => ({
      text: `the key was not kept: ${reason}`,
      remedy: `Put the key into an environment variable instead, for example: read -rs ${variable} && export ${variable}`,
    }),
    key_not_removed: ({ entry, place, reason }: { entry: string; place: KeyPlace; reason: string }) => ({
      text: `the key \`${entry}\` could not be removed from ${place === 'keyring' ? 'the keyring' : 'your profile'}: ${reason}`,
      remedy: 'Unlock the keyring and try again. Nothing was changed.',
    }),
  }),
  ...ofCode('BAD_PLAN', {
    system_proxy_unusable: ({ found, host }: { found: string; host: string }) => ({
      text: `the proxy of this system for ${host} cannot be used: ${found} is neither an HTTP nor an HTTPS proxy`,
      remedy: {
        terminal: 'Name an HTTP proxy with --proxy URL, or connect directly with --no-proxy.',
        window: 'Name an HTTP proxy in the connection, or let it connect directly.',
      },
    }),
    system_proxy_unreadable: ({ variable }: { variable: string }) => ({
      text: `the environment variable ${variable} must hold the address of a proxy, such as http://proxy.example.com:3128`,
      remedy: {
        terminal: 'Correct or unset it, or connect directly with --no-proxy.',
        window: 'Correct or unset it where Sluice is started, or let the connection connect directly.',
      },
    }),
    proxy_credentials_malformed: ({ variable, host }: { variable: string; host: string }) => ({
      text: `the environment variable ${variable} must hold user:password for the proxy ${host}, but contains no colon`,
      remedy: `Set it to user name and password, separated by a colon: export ${variable}=USER:PASSWORD`,
    }),
    proxy_credentials_not_set: ({ variable, host }: { variable: string; host: string }) => ({
      text: `the proxy ${host} needs the credentials in ${variable}, but that environment variable is not set`,
      remedy: `Set it where Sluice runs: export ${variable}=USER:PASSWORD`,
    }),
    proxy_credentials_missing: ({ variable, host }: { variable: string; host: string }) => ({
      text: `the credentials for the proxy ${host} are missing`,
      remedy: `Store the proxy in a connection, or set ${variable} to user:password.`,
    }),
    proxy_credentials_of_other: ({ origins, found }: { origins: readonly string[]; found: string }) => ({
      text: `the proxy credentials belong to ${origins.join(' and ')} and are not sent to ${found}`,
      remedy:
        'Use the proxy that the credentials belong to, or name the environment variable that holds the credentials for this proxy.',
    }),
    header_variable_not_set: ({ name, variable }: { name: string; variable: string }) => ({
      text: `the header ${name} needs ${variable}, but that environment variable is not set`,
      remedy: `Set it where Sluice runs: export ${variable}=VALUE`,
    }),
    header_file_unreadable: ({ name, path, reason }: Thrown & { name: string; path: string }) => ({
      text: `the value of the header ${name} cannot be read from ${path}: ${reason}`,
      remedy: 'Check the path and whether the file can be read.',
    }),
    header_value_unusable: ({ name, from }: { name: string; from: string }) => ({
      text: `the value of the header ${name}, from ${from}, cannot be sent: it is empty, too long, or not printable ASCII without spaces at its ends`,
      remedy: 'Correct the variable or file that holds it.',
    }),
    header_values_missing: ({ name }: { name: string }) => ({
      text: `the value of the header ${name} is missing`,
      remedy: {
        terminal: 'Store the header in the connection with `connection set NAME --header`.',
        window:
          'Store the header in a connection on the command line, or send from there: the window reads no variable or file that only a plan names.',
      },
    }),
    headers_of_other: ({ origins, found }: { origins: readonly string[]; found: string }) => ({
      text: `the headers belong to ${origins.join(' and ')} and are not sent to ${found}`,
      remedy: 'Use the connection that the headers belong to.',
    }),
    tls_file_unreadable: ({ what, path, system }: { what: TlsFile; path: string; system: string }) => ({
      text: `${TLS_FILES[what]} ${path} cannot be read (${system})`,
      remedy: 'Check the path and the permissions of the file.',
    }),
    tls_file_not_pem: (args: {
      what: TlsFile
      path: string
      /** Whether it contains such a block, but an unreadable one. */
      isBroken: boolean
    }) => {
      const label = args.what === 'key' ? 'PRIVATE KEY' : 'CERTIFICATE'
      const block = args.what === 'key' ? 'a key' : 'a certificate'
      return {
        text: `${TLS_FILES[args.what]} ${args.path} ${args.isBroken ? `contains ${block} that cannot be read` : `does not contain ${block} in PEM format`}`,
        remedy: `Choose a text file with a block that begins with -----BEGIN ${label}-----. Convert a binary (DER) file with openssl first.`,
      }
    },
    tls_key_unusable: ({ path, isEncrypted }: { path: string; isEncrypted: boolean }) => ({
      text: `${TLS_FILES.key} ${path} cannot be read as a private key${isEncrypted ? '; it is protected by a passphrase' : ''}`,
      remedy: 'Choose a PEM file with a key that has no passphrase, readable by you alone (chmod 600).',
    }),
    tls_key_of_other_certificate: ({ keyFile, certFile }: { keyFile: string; certFile: string }) => ({
      text: `${TLS_FILES.key} ${keyFile} does not belong to the certificate ${certFile}`,
      remedy:
        'Choose the key that the certificate was issued for. In the certificate file, the certificate must come before its chain.',
    }),
  }),
} satisfies Record<string, ErrorEntry>
