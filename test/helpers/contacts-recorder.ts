// Loaded into every process and thread before anything else (NODE_OPTIONS=--import): records whom they
// contact, a line each, in the file that CONTACTS_FILE names. It listens below all libraries, where Node
// calls the system.
import { createHook } from 'node:async_hooks'
import { appendFileSync } from 'node:fs'
import process from 'node:process'

/** The objects that Node creates to connect, to look up a name, and to send a datagram. */
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
    // It is only filled in after its creation.
    process.nextTick(() => {
      const { address, port, hostname } = resource
      appendFileSync(file, `${[hostname ?? address ?? type, port].filter((part) => part).join(':')}\n`)
    })
  },
}).enable()
