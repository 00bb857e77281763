// Loaded into every process and thread before anything else (NODE_OPTIONS=--import): writes down whom they contact, a line
// each, into the file that CONTACTS_FILE names. It listens below all libraries, where Node asks the system.
import { createHook } from 'node:async_hooks'
import { appendFileSync } from 'node:fs'
import process from 'node:process'

/** What Node makes to connect, to look a name up, and to send a datagram. */
const CONTACTS = [
  'TCPCONNECTWRAP',
  'PIPECONNECTWRAP',
  'GETADDRINFOREQWRAP',
  'GETNAMEINFOREQWRAP',
  'QUERYWRAP',
  'UDPSENDWRAP',
]

const file = process.env['CONTACTS_FILE']
createHook({
  init(_id, type, _trigger, resource: { address?: string; port?: number; hostname?: string }) {
    if (file === undefined || !CONTACTS.includes(type)) return
    // It is filled in after it was made.
    process.nextTick(() => {
      const { address, port, hostname } = resource
      appendFileSync(file, `${[hostname ?? address ?? type, port].filter((part) => part).join(':')}\n`)
    })
  },
}).enable()
