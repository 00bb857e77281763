/** This version of Sluice; a test keeps it equal to package.json's. */
export const APP_VERSION = '0.2.0'

/** The command that installs the command line from a file of the same release. */
export const INSTALL_COMMAND = `npm install -g sluice-${APP_VERSION}.tgz`

/** Where a person with the app finds the command line, which the app does not contain. */
export const WHERE_COMMAND_LINE_IS = `The app contains no command line. Download sluice-${APP_VERSION}.tgz from the same release, then run: ${INSTALL_COMMAND}. It needs Node.js 24.18 or newer.`
