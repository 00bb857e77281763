import { openInbox, toInboxFile } from '../../src/main/engine/receiver/inbox.ts'

/**
 * The receiver's side of callbacks. Its process is never killed; it stores them in the inbox of the current
 * workspace.
 */
export class VirtualInbox {
  #workspace: string
  #stored = 0

  constructor(workspace: string) {
    this.#workspace = workspace
  }

  /** Stores callbacks in the inbox of another workspace from now on. */
  moveTo(workspace: string): void {
    this.#workspace = workspace
  }

  /** Stores a post to an address that a request named. */
  store(address: string, receivedAtUs: number, body: string): void {
    const [, , token = '', item = ''] = new URL(address).pathname.split('/')
    const db = openInbox(toInboxFile(this.#workspace))
    this.#stored += 1
    db.prepare('INSERT OR IGNORE INTO run (token) VALUES (?)').run(token)
    db.prepare(
      `INSERT INTO callback (id, run, item, received_at_us, body)
       VALUES (?, (SELECT id FROM run WHERE token = ?), ?, ?, ?)`,
    ).run(this.#stored, token, Number(item), receivedAtUs, Buffer.from(body))
    db.close()
  }
}
