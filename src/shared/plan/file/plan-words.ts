/**
 * What each key of a plan file means, a sentence, by its path; `*` stands for any key. Editors show these next to what
 * is typed. Kinds of a union share the words of a key they have in common.
 */
export const PLAN_WORDS: Readonly<Record<string, string>> = {
  $schema: 'Where an editor finds the schema of plan files; Sluice itself does not read it.',
  version: 'Version of this format.',
  name: 'What to call the run; the name of the source unless given.',
  connection: 'The deployment that the requests go to.',
  'connection.name':
    'A connection stored in the workspace: it fills what is left out here, and its active key is sent, also when it is switched while the run is going.',
  'connection.baseUrl':
    'Scheme, host, port and an optional path prefix of the service, without user name, password, query and fragment.',
  'connection.taskBaseUrl': 'The second host for v2 tasks; the base URL unless given.',
  'connection.keyFrom':
    '`window`: address and key were typed into a window, so no variable is read for the key. Plans of runs from the window say so.',
  'connection.apiKeyEnv':
    'Name of the environment variable that holds the API key. The key itself is never in a plan.',
  'connection.timeoutMs': 'How long an answer is awaited, in milliseconds.',
  'connection.deliveredCodes':
    'Error codes by which the service says that it has a post already; such an answer counts as succeeded.',
  'connection.tls': 'Whom the connection trusts, and what it shows of itself.',
  'connection.tls.caFile':
    'PEM file of certificate authorities to trust beside the built-in ones; relative to the plan file.',
  'connection.tls.certFile':
    "PEM file of the client's certificate, together with keyFile; relative to the plan file.",
  'connection.tls.keyFile': "PEM file of the client certificate's key; relative to the plan file.",
  'connection.proxy': 'An HTTP or HTTPS proxy that every request goes through.',
  'connection.proxy.url': 'Scheme, host and port of the proxy.',
  'connection.proxy.credentialsEnv':
    'Name of the environment variable that holds user:password of the proxy; none where it asks for nothing.',
  source: 'The file or folder of rows, and how to read it.',
  'source.path': 'The file or folder; relative to the plan file.',
  'source.format': "What the source is; by the file's ending unless given.",
  'source.header': 'Whether the first record names the columns.',
  'source.headerRow': 'Number of the record that names the columns, from 1; those before it are passed over.',
  'source.sheet': "Name of a spreadsheet's sheet, or its number from 1; the first unless given.",
  'source.encoding': 'Character encoding, such as windows-1252; recognised unless given.',
  'source.delimiter': 'The character between cells; recognised unless given.',
  'source.media': "Where the service finds a folder's media files.",
  'source.media.kind': 'Addresses made from a template, or served by Sluice itself.',
  'source.media.template': "An address in which {{path}} is the file's path inside the folder.",
  'source.media.url': "Public base of Sluice's own media host; its own address unless given.",
  mapping: 'What fills each field of the request; columns are matched by name where nothing is said.',
  'mapping.*': 'What fills this field: a column, or a template.',
  'mapping.*.kind': 'A column of the source, or a text that is filled in for each row.',
  'mapping.*.column': 'Name of a column, or its number from 1.',
  'mapping.*.template': 'A text in which {{row}}, {{run}} and {{column name}} are filled in.',
  operation: 'What is done with each row.',
  'operation.kind': 'Submit content, maintain a custom index or a watchlist, or read the status of appeals.',
  'operation.mode': 'Wait for each result, or have it posted to the callback receiver.',
  'operation.api': 'Version of the task endpoints.',
  'operation.legacy': 'Ask for the legacy response of v1, which holds the class scores.',
  'operation.models': 'Models that every row runs; v1 takes one.',
  'operation.indexId': 'Id of the custom index, from the dashboard.',
  'operation.watchlist': 'API field name of an existing watchlist.',
  'operation.termsPerRequest': 'Terms that one request carries at most.',
  'operation.emptyNotes': 'What an empty cell of notes means: leave the notes as they are, or clear them.',
  callback: 'Where and how long callbacks of an async run are awaited.',
  'callback.host': 'Address the receiver listens on.',
  'callback.port': "Port the receiver listens on; the workspace's own, the same every time, unless given.",
  'callback.url':
    'Public base of the receiver, behind a reverse proxy or tunnel; its own address unless given.',
  'callback.timeoutMs': 'From an acknowledgement until its item is overdue, in milliseconds.',
  'callback.maxBytes': 'Largest callback that is taken, in bytes.',
  pace: 'How fast to send.',
  'pace.kind': 'closed: so many requests in flight. open: so many started each second, on a schedule.',
  'pace.concurrency': 'Requests in flight at most.',
  'pace.ratePerSecond': 'Requests started each second, whether or not the service keeps up.',
  'pace.maxInFlight': 'Requests in flight at most; a due request that finds it full waits.',
  load: "A load test instead of a run that sends each row once; its pace goes before the plan's.",
  'load.pace': 'How hard to press.',
  'load.pace.kind':
    'closed: so many requests in flight. open: so many started each second, on a schedule. stages: one of both, step by step.',
  'load.pace.concurrency': 'Requests in flight.',
  'load.pace.ratePerSecond': 'Requests started each second, whether or not the service keeps up.',
  'load.pace.of': 'What the stages are levels of: requests a second, or requests in flight.',
  'load.pace.stages': 'One after the other, each from a level to a level.',
  'load.pace.stages.*.from': 'Level that the stage begins with.',
  'load.pace.stages.*.to': 'Level that the stage ends with.',
  'load.pace.stages.*.durationMs': 'How long the stage lasts, in milliseconds.',
  'load.durationMs':
    'Measured time of a closed or open pace, in milliseconds; stages have durations of their own.',
  'load.requests': 'Requests to send, instead of a duration.',
  'load.warmupMs':
    'Sent before, at the level the load begins with, and left out of every figure; in milliseconds.',
  'load.thinkTime':
    'Pause between an answer and the next request of a closed pace, evenly drawn from a range.',
  'load.thinkTime.minMs': 'Shortest pause, in milliseconds.',
  'load.thinkTime.maxMs': 'Longest pause, in milliseconds.',
  'load.gracefulStopMs':
    'How long requests in flight may take to end once the load is over, in milliseconds; then they are given up as unknown.',
  'load.maxInFlight':
    'Most requests of an open pace in flight; its highest rate times the timeout unless given.',
  'load.whenFull':
    'What becomes of a due request that finds that many in flight: it waits, or is dropped and counted.',
  'load.thresholds': 'What has to hold, such as p(99)<500, for the test to pass.',
  'load.thresholds.*.expression': 'What has to hold, such as p(99)<500.',
  'load.thresholds.*.abortOnFail': 'Whether the test ends as soon as it does not hold.',
  'load.thresholds.*.delayAbortEvalMs': 'How long to wait before it is looked at for that, in milliseconds.',
  'load.sampleSize': 'Requests that are kept whole, drawn evenly from all of them.',
  'load.errorLimit': 'Requests that did not succeed and are kept whole, the first ones.',
  'load.httpVersion': 'HTTP version.',
  'load.http2Connections':
    "Maximum HTTP/2 connections per worker (default: as many as the service's stream limit requires).",
  'load.workers': 'Threads that send.',
  retry: 'When a request that was not taken, or may be repeated, is tried again.',
  'retry.limit': 'Tries after the first.',
  'retry.baseMs': 'Pause before the first retry, in milliseconds; doubled each time, with jitter.',
  'retry.maxMs': 'Longest pause between tries, in milliseconds.',
  'retry.maxRetryAfterMs': 'Longest Retry-After that is honoured, in milliseconds.',
}
