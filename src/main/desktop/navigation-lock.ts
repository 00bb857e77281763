import { app, BrowserWindow, dialog, type Session, shell, type WebContents } from 'electron'
import { isOwnUrl } from './app-protocol.ts'

/** The only permission of our page: writing its own text to the clipboard. */
const ALLOWED_PERMISSION = 'clipboard-sanitized-write'

/** Keeps a page at its address: no navigation, no new window, no webview. */
function lockNavigation(contents: WebContents, appUrl: string): void {
  const openLink = createLinkOpener(contents)
  contents.setWindowOpenHandler(({ url }) => {
    openLink(url)
    return { action: 'deny' }
  })
  contents.on('will-navigate', (details) => {
    if (isOwnUrl(details.url, appUrl)) return
    details.preventDefault()
    openLink(details.url)
  })
  contents.on('will-frame-navigate', (details) => {
    if (!isOwnUrl(details.url, appUrl)) details.preventDefault()
  })
  contents.on('will-redirect', (details) => {
    if (!isOwnUrl(details.url, appUrl)) details.preventDefault()
  })
  contents.on('will-attach-webview', (event) => event.preventDefault())
}

/** Locks every page that this process opens. Must run before the first window. */
export function lockEveryPage(appUrl: string): void {
  app.on('web-contents-created', (_event, contents) => lockNavigation(contents, appUrl))
}

/** Denies all permissions and devices to every page, except that ours may write text to the clipboard. */
export function denyPermissions(session: Session, appUrl: string): void {
  session.setPermissionRequestHandler((_contents, permission, answer, { requestingUrl }) => {
    answer(permission === ALLOWED_PERMISSION && isOwnUrl(requestingUrl, appUrl))
  })
  session.setPermissionCheckHandler(
    (_contents, permission, origin) => permission === ALLOWED_PERMISSION && isOwnUrl(origin, appUrl),
  )
  session.setDevicePermissionHandler(() => false)
  session.setBluetoothPairingHandler((_details, answer) => answer({ confirmed: false }))
}

/** Longest address that is opened, in characters; a dialog can show it completely. */
const URL_MAX = 2_000

/** How long after a click or key press a link may be opened, milliseconds. */
const GESTURE_MS = 1_000

/** Input events that may open a link; moving and scrolling do not. */
const GESTURES: ReadonlySet<string> = new Set(['mouseDown', 'mouseUp', 'keyDown', 'rawKeyDown', 'gestureTap'])

/** Whether a URL may be opened in the person's browser: https, without credentials, short enough to show. */
function isExternalLink(url: string): boolean {
  if (!URL.canParse(url) || new URL(url).href.length > URL_MAX) return false
  const { protocol, username, password } = new URL(url)
  return protocol === 'https:' && username === '' && password === ''
}

/**
 * Creates the function that opens a page's links in the person's browser: only https links, each only after a
 * real click or key press, which scripts cannot fake, and after a system dialog has shown the whole address.
 * `now` is a clock in milliseconds.
 */
function createLinkOpener(contents: WebContents, now = () => performance.now()): (url: string) => void {
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
    // A system without a browser is no failure worth reporting.
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
