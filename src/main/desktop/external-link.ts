import { BrowserWindow, dialog, shell, type WebContents } from 'electron'

/** Longest address that a dialog shows whole, in characters; a longer one is not opened. */
const URL_MAX = 2_000

/** How long a click or key press counts as asking for a link, milliseconds. */
const GESTURE_MS = 1_000

/** What a person does to a page that may ask for a link; moving and scrolling does not. */
const GESTURES: ReadonlySet<string> = new Set(['mouseDown', 'mouseUp', 'keyDown', 'rawKeyDown', 'gestureTap'])

/** Hands links of one page to the person's browser. */
export type OpenLink = (url: string) => void

/** Whether a URL may be handed to the person's browser: https, no credentials in it, short enough to be shown. */
function isExternalLink(url: string): boolean {
  if (!URL.canParse(url) || new URL(url).href.length > URL_MAX) return false
  const { protocol, username, password } = new URL(url)
  return protocol === 'https:' && username === '' && password === ''
}

/**
 * Makes the way from a page to the person's browser: https links alone, each after a click or key press of its own,
 * which no script can make, and after a dialog of the system has shown the whole address. `now` tells milliseconds.
 */
export function createLinkOpener(contents: WebContents, now = () => performance.now()): OpenLink {
  let gestureAt = Number.NEGATIVE_INFINITY
  let isAsking = false
  contents.on('input-event', (_event, { type }) => {
    if (GESTURES.has(type)) gestureAt = now()
  })
  return (url) => {
    if (!isExternalLink(url) || isAsking || now() - gestureAt > GESTURE_MS) return
    gestureAt = Number.NEGATIVE_INFINITY
    isAsking = true
    const open = async () => {
      const { href } = new URL(url)
      if (await isWanted(contents, href)) await shell.openExternal(href)
    }
    // A system without a browser is no reason to fail: nothing was asked for but a look elsewhere.
    open()
      .catch(() => {})
      .finally(() => {
        isAsking = false
      })
  }
}

async function isWanted(contents: WebContents, href: string): Promise<boolean> {
  const options = {
    type: 'question' as const,
    title: 'Open a link',
    message: 'Open this address in your browser?',
    detail: href,
    buttons: ['Cancel', 'Open'],
    defaultId: 0,
    cancelId: 0,
    noLink: true,
  }
  const window = BrowserWindow.fromWebContents(contents)
  const { response } = await (window === null
    ? dialog.showMessageBox(options)
    : dialog.showMessageBox(window, options))
  return response === 1
}
