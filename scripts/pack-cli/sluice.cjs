#!/usr/bin/env node
// The installed command. Written for every Node there ever was, so that an old one can say what is missing instead of
// failing on syntax.
var found = process.versions.node
var parts = found.split('.')
if (Number(parts[0]) < 24 || (Number(parts[0]) === 24 && Number(parts[1]) < 18)) {
  process.stderr.write(
    'sluice: needs Node.js 24.18 or newer, found ' +
      found +
      ' at ' +
      process.execPath +
      '.\n' +
      '        Install a newer Node.js from https://nodejs.org, then install sluice again with its npm.\n',
  )
  process.exit(2)
}
require('../main/installed.js')
