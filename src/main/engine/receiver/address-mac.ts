import { createHmac, timingSafeEqual } from 'node:crypto'

/** 128 bits: nobody guesses that, and addresses stay short. */
const MAC_BYTES = 16

/** What makes an address of the receiver unguessable: an HMAC-SHA256 of `text`, cut to 128 bits, base64url. */
export function toAddressMac(secret: string, text: string): string {
  // The key is the secret as it is written: a Buffer would be made a key object each time, which costs seven hashes.
  const digest = createHmac('sha256', secret).update(text).digest()
  return digest.subarray(0, MAC_BYTES).toString('base64url')
}

/** Whether `mac` is the one of `text`; the time it takes says nothing about how near a guess was. */
export function isAddressMac(secret: string, text: string, mac: string): boolean {
  const expected = Buffer.from(toAddressMac(secret, text))
  // The texts are compared, not their bits: 22 characters have four bits to spare, which would make 16 texts right.
  const given = Buffer.from(mac)
  return given.length === expected.length && timingSafeEqual(given, expected)
}
