import { app, type Session, type WebContents } from 'electron'
import { isOwnUrl } from './app-origin.ts'
import { createLinkOpener } from './external-link.ts'

/** The one permission a page of ours has: putting text it made itself on the clipboard. */
const ALLOWED_PERMISSION = 'clipboard-sanitized-write'

/** Keeps one page where it is: no other address, no further window, no webview. */
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

/** Locks every page there will ever be, whoever opens it. Must run before the first window. */
export function lockEveryPage(appUrl: string): void {
  app.on('web-contents-created', (_event, contents) => lockNavigation(contents, appUrl))
}

/** Denies every permission and device to every page; our own may write text to the clipboard. */
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
