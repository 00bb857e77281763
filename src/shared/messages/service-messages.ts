import type { ErrorEntry } from './error-entry.ts'

/** Files of a connection that hold keys and certificates. */
export type TlsFile = keyof typeof TLS_FILES

const TLS_FILES = {
  authorities: 'the CA file',
  certificate: 'the client certificate',
  key: 'the client key',
}

/** Errors of the way to the service: its key, its certificates, its proxy. */
export const SERVICE_MESSAGES = {
  key_not_set: {
    code: 'NO_API_KEY',
    words: ({ variable, isEmpty }: { variable: string; isEmpty: boolean }) => ({
      text: `the API key is missing: the environment variable ${variable} is ${isEmpty ? 'empty' : 'not set'}`,
      remedy: {
        terminal: `Set it, for example: read -rs ${variable} && export ${variable}`,
        window: 'Type the key, or use a stored connection whose key is set.',
      },
    }),
  },
  key_unusable: {
    code: 'NO_API_KEY',
    words: ({ source }: { /** Follows "the API key". */ source: string }) => ({
      text: `the API key ${source} contains whitespace or non-ASCII characters, which a request header must not contain`,
      remedy: 'Copy the key again, without quotes, spaces or line breaks around it.',
    }),
  },
  key_missing: {
    code: 'NO_API_KEY',
    words: ({ baseUrl, wasTyped }: { baseUrl: string /** Into a window. */; wasTyped: boolean }) => ({
      text: wasTyped
        ? `the API key for ${baseUrl} is missing: address and key were typed into a window, and keys are not stored`
        : `the API key for ${baseUrl} is missing`,
      remedy: {
        terminal:
          'Type the key in the window, or name the environment variable that holds it: --api-key-env NAME.',
        window: 'Type the key, or use a stored connection whose key is set.',
      },
    }),
  },
  key_of_other_address: {
    code: 'NO_API_KEY',
    words: ({ origins, found }: { origins: readonly string[]; found: string }) => ({
      text: `the API key belongs to ${origins.join(' and ')} and is not sent to ${found}`,
      remedy: 'Use the connection that the key belongs to, or provide a key for this address.',
    }),
  },
  proxy_credentials_malformed: {
    code: 'BAD_PLAN',
    words: ({ variable, host }: { variable: string; host: string }) => ({
      text: `the environment variable ${variable} must hold user:password for the proxy ${host}, but contains no colon`,
      remedy: `Set it to user name and password, separated by a colon: export ${variable}=USER:PASSWORD`,
    }),
  },
  proxy_credentials_not_set: {
    code: 'BAD_PLAN',
    words: ({ variable, host }: { variable: string; host: string }) => ({
      text: `the proxy ${host} needs the credentials in ${variable}, but that environment variable is not set`,
      remedy: `Set it where Sluice runs: export ${variable}=USER:PASSWORD`,
    }),
  },
  proxy_credentials_missing: {
    code: 'BAD_PLAN',
    words: ({ variable, host }: { variable: string; host: string }) => ({
      text: `the credentials for the proxy ${host} are missing`,
      remedy: `Store the proxy in a connection, or set ${variable} to user:password.`,
    }),
  },
  proxy_credentials_of_other: {
    code: 'BAD_PLAN',
    words: ({ origins, found }: { origins: readonly string[]; found: string }) => ({
      text: `the proxy credentials belong to ${origins.join(' and ')} and are not sent to ${found}`,
      remedy:
        'Use the proxy that the credentials belong to, or name the environment variable that holds the credentials for this proxy.',
    }),
  },
  tls_file_unreadable: {
    code: 'BAD_PLAN',
    words: ({ what, path, system }: { what: TlsFile; path: string; system: string }) => ({
      text: `${TLS_FILES[what]} ${path} cannot be read (${system})`,
      remedy: 'Check the path and the permissions of the file.',
    }),
  },
  tls_file_not_pem: {
    code: 'BAD_PLAN',
    words: ({
      what,
      path,
      isBroken,
    }: {
      what: TlsFile
      path: string
      /** Whether it contains such a block that cannot be read. */
      isBroken: boolean
    }) => {
      const label = what === 'key' ? 'PRIVATE KEY' : 'CERTIFICATE'
      const block = what === 'key' ? 'a key' : 'a certificate'
      return {
        text: `${TLS_FILES[what]} ${path} ${isBroken ? `contains ${block} that cannot be read` : `does not contain ${block} in PEM format`}`,
        remedy: `Choose a text file with a block that begins with -----BEGIN ${label}-----. Convert a binary (DER) file with openssl first.`,
      }
    },
  },
  tls_key_unusable: {
    code: 'BAD_PLAN',
    words: ({ path, isEncrypted }: { path: string; isEncrypted: boolean }) => ({
      text: `${TLS_FILES.key} ${path} cannot be read as a private key${isEncrypted ? '; it is protected by a passphrase' : ''}`,
      remedy: 'Choose a PEM file with a key that has no passphrase, readable by you alone (chmod 600).',
    }),
  },
  tls_key_of_other_certificate: {
    code: 'BAD_PLAN',
    words: ({ keyFile, certFile }: { keyFile: string; certFile: string }) => ({
      text: `${TLS_FILES.key} ${keyFile} does not belong to the certificate ${certFile}`,
      remedy:
        'Choose the key that the certificate was issued for. In the certificate file, the certificate must come before its chain.',
    }),
  },
} satisfies Record<string, ErrorEntry>
