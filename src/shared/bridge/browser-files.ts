import { z } from 'zod'

/** Where the page opens its websocket, in a browser. */
export const BRIDGE_SOCKET_PATH = '/bridge'

/**
 * Where a browser sends a chosen file: `PUT /files/uploads?name=NAME` with the file as the body, streamed and of any
 * size. Answers 201 with {@link uploadedSchema}, or an error status with an `ErrorDocument` as JSON. With
 * `&folder=ID` the file becomes part of a folder, and its name is its path in there.
 */
export const UPLOAD_PATH = '/files/uploads'

/**
 * Where a browser begins to send a chosen folder: `PUT /files/folders?name=NAME`, without a body. Answers 201 with
 * {@link uploadedFolderSchema}; its files follow, each to {@link UPLOAD_PATH}.
 */
export const UPLOAD_FOLDER_PATH = '/files/folders'

/** Where exports wait to be downloaded, in a browser. */
export const DOWNLOAD_PATH = '/files/exports'

/** The answer to an upload; `path` is what `source.preview` and a plan's source take. */
export const uploadedSchema = z.object({ path: z.string(), name: z.string(), sizeBytes: z.number() })

/** See {@link uploadedSchema}. */
export type Uploaded = z.infer<typeof uploadedSchema>

/** The answer to the beginning of a folder; `folder` is what its files name. */
export const uploadedFolderSchema = z.object({ path: z.string(), name: z.string(), folder: z.string() })

/** See {@link uploadedFolderSchema}. */
export type UploadedFolder = z.infer<typeof uploadedFolderSchema>
