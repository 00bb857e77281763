import { z } from 'zod'
import { chosenSourceSchema } from './source.ts'

/** Where the page opens its websocket, in a browser. */
export const BRIDGE_SOCKET_PATH = '/bridge'

/**
 * Where a browser sends a chosen file: `PUT /files/uploads?name=NAME` with the file as the body, streamed and of any
 * size. Answers 201 with {@link chosenSourceSchema}, or an error status with an `ErrorMessage` as JSON. With
 * `&folder=ID` the file becomes part of a folder, its name is its path in there, and {@link uploadedPartSchema} answers.
 */
export const UPLOAD_PATH = '/files/uploads'

/**
 * Where a browser begins to send a chosen folder: `PUT /files/folders?name=NAME`, without a body. Answers 201 with
 * {@link uploadedFolderSchema}; its files follow, each to {@link UPLOAD_PATH}.
 */
export const UPLOAD_FOLDER_PATH = '/files/folders'

export const DOWNLOAD_PATH = '/files/exports'

/**
 * Where a person is led to the question before production, which another origin shows. A link to it tells the page
 * nothing of that address.
 */
export const CONFIRM_PATH = '/confirm'

/** The answer to a file that became part of a folder. */
export const uploadedPartSchema = z.object({ name: z.string(), sizeBytes: z.number() })

/** The answer to the beginning of a folder, which is a source; `folder` is what its files name. */
export const uploadedFolderSchema = chosenSourceSchema.extend({ folder: z.string() })
