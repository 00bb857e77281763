import { z } from 'zod'

/** Where the page opens its websocket, in a browser. */
export const BRIDGE_SOCKET_PATH = '/bridge'

/**
 * Where a browser sends a chosen file: `PUT /files/uploads?name=NAME` with the file as the body, streamed and of any
 * size. Answers 201 with {@link uploadedSchema}, or an error status with an `ErrorDocument` as JSON.
 */
export const UPLOAD_PATH = '/files/uploads'

/** Where exports wait to be downloaded, in a browser. */
export const DOWNLOAD_PATH = '/files/exports'

/** The answer to an upload; `path` is what `source.preview` and a plan's source take. */
export const uploadedSchema = z.object({ path: z.string(), name: z.string(), sizeBytes: z.number() })

/** See {@link uploadedSchema}. */
export type Uploaded = z.infer<typeof uploadedSchema>
