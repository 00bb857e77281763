import { type ErrorEntry, ofCode } from './error-entry.ts'

/** What prevents a window from sending to production. */
export const PRODUCTION_MESSAGES = {
  ...ofCode('NOT_CONFIRMED', {
    production_declined: ({ connection }: { connection: string }) => ({
      text: `the production prompt was not confirmed; nothing was sent to ${connection}`,
      remedy: 'Send again and confirm the prompt, or choose another connection.',
    }),
    production_unanswered: ({ connection }: { connection: string }) => ({
      text: `nobody answered the production prompt for ${connection} within 5 minutes; nothing was sent or changed`,
      remedy: 'Try again and confirm the prompt, or choose another connection.',
    }),
    production_kept: ({ connection }: { connection: string }) => ({
      text: `the production prompt was not confirmed; ${connection} was neither contacted nor changed`,
      remedy: 'Try again and confirm the prompt, or leave the connection as it is.',
    }),
    production_asked_already: ({ connection }: { connection: string }) => ({
      text: `another production prompt is still open; nothing was sent to ${connection}`,
      remedy: 'Answer that prompt, then send again.',
    }),
  }),
  ...ofCode('BAD_USAGE', {
    proxy_is_production: ({ url, connection }: { url: string; connection: string }) => ({
      text: `${url} cannot be the proxy: the production connection ${connection} leads to that host`,
      remedy: 'Enter the address of an HTTP or HTTPS proxy.',
    }),
    address_is_production: ({ url, connection }: { url: string; connection: string }) => ({
      text: `${url} is the address of the production connection ${connection}; callbacks must go to an address that leads to this machine`,
      remedy: 'Enter the public address of a proxy or tunnel that forwards to this machine.',
    }),
  }),
} satisfies Record<string, ErrorEntry>
