import { z } from 'zod'
import { chosenSourceSchema } from './source.ts'

/** Where the page opens its websocket, in a browser. */
export const BRIDGE_SOCKET_PATH = '/bridge'

/**
 * Where a browser sends a chosen file: `PUT /files/uploads?name=NAME` with the file as the body, streamed and
 * of any size. Answers 201 with {@link chosenSourceSchema}, or an error status with an `ErrorMessage` as
 * JSON. With `&folder=ID` the file becomes part of that folder, NAME is its path there, and the answer is
 * {@link uploadedPartSchema}.
 */
export const UPLOAD_PATH = '/files/uploads'

/**
 * Where a browser announces a chosen folder: `PUT /files/folders?name=NAME`, without a body. Answers 201 with
 * {@link uploadedFolderSchema}; the folder's files follow, each to {@link UPLOAD_PATH}.
 */
export const UPLOAD_FOLDER_PATH = '/files/folders'

export const DOWNLOAD_PATH = '/files/exports'

/**
 * Redirects a person to the question before production, which another origin shows. A link to this path does
 * not reveal that origin's address to the page.
 */
export const CONFIRM_PATH = '/confirm'

/** The answer to a file that became part of a folder. */
export const uploadedPartSchema = z.object({ name: z.string(), sizeBytes: z.number() })

/** The answer to an announced folder, which is a source; its files are uploaded with `folder`. */
export const uploadedFolderSchema = chosenSourceSchema.extend({ folder: z.string() })
