import { shell } from 'electron'

/** Whether a URL may be handed to the person's browser: https, and no credentials in it. */
export function isExternalLink(url: string): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, username, password } = new URL(url)
  return protocol === 'https:' && username === '' && password === ''
}

/** Opens an https link in the person's browser; anything else is not opened at all. */
export function openExternalLink(url: string): void {
  // A system without a browser is no reason to fail: nothing was asked for but a look elsewhere.
  if (isExternalLink(url)) shell.openExternal(new URL(url).href).catch(() => undefined)
}
