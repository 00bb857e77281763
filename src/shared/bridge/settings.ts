import { z } from 'zod'
import { bareUrlSchema } from '../plan/connection.ts'
import { base, doneSchema } from './procedure.ts'

/** How much of pictures and videos is visible before a person reveals more, least first. */
export const MEDIA_LOOKS = ['hidden', 'blurred', 'soft', 'grey', 'colour'] as const

export type MediaLook = (typeof MEDIA_LOOKS)[number]

/** Longest idle time after which content can be hidden again, minutes. */
const HIDE_AFTER_MAX_MINUTES = 240

/** A person's settings for the window: in `settings.json` of the workspace, for desktop app and browsers. */
export const settingsSchema = z.object({
  version: z.literal(1).default(1),
  theme: z.enum(['system', 'light', 'dark']).default('system'),
  /** Whether user content is shown before a person asks for it. */
  showsContent: z.boolean().default(false),
  mediaLook: z.enum(MEDIA_LOOKS).default('blurred'),
  /** Whether the next row's media are revealed as far as the previous row's. */
  keepsMediaStep: z.boolean().default(false),
  startsMuted: z.boolean().default(true),
  /** Minutes without a key or mouse movement after which all content is hidden again; null: never. */
  hideAfterMinutes: z.int().min(1).max(HIDE_AFTER_MAX_MINUTES).nullable().default(null),
  /** Whether runs that exceed the retention limits are deleted once a day, without asking. */
  cleansUp: z.boolean().default(false),
  /** The public address of a reverse proxy or tunnel to the workspace's callback receiver. */
  publicUrl: bareUrlSchema.nullable().default(null),
})

export type Settings = z.infer<typeof settingsSchema>

/** The settings until a person changes one: content is hidden until asked for. */
export const DEFAULT_SETTINGS: Settings = settingsSchema.parse({})

const changeSchema = z.strictObject({
  theme: z.enum(['system', 'light', 'dark']).exactOptional(),
  showsContent: z.boolean().exactOptional(),
  mediaLook: z.enum(MEDIA_LOOKS).exactOptional(),
  keepsMediaStep: z.boolean().exactOptional(),
  startsMuted: z.boolean().exactOptional(),
  hideAfterMinutes: z.int().min(1).max(HIDE_AFTER_MAX_MINUTES).nullable().exactOptional(),
  cleansUp: z.boolean().exactOptional(),
  publicUrl: bareUrlSchema.nullable().exactOptional(),
})

/** Some of the {@link Settings}, with their new values. */
export type SettingsChange = z.infer<typeof changeSchema>

const storedSettingsSchema = z.object({
  settings: settingsSchema,
  /** Why the settings file cannot be used, so that the defaults apply; null if it can. */
  damage: z.string().nullable(),
  /** Where a damaged file was moved when a setting was changed; null if none was moved. */
  keptAs: z.string().nullable(),
})

/** What is stored, and whether it could be read. */
export type StoredSettings = z.infer<typeof storedSettingsSchema>

const folderSchema = z.enum(['workspace', 'logs', 'diagnostics'])

export type ShownFolder = z.infer<typeof folderSchema>

const cleanUpSchema = z.object({
  /** ISO 8601. */
  at: z.string(),
  runs: z.int(),
  sizeBytes: z.int(),
  /** Why it failed; null if it did not. */
  failure: z.string().nullable(),
})

/** What the last automatic clean-up of this process did. */
export type CleanUpRecord = z.infer<typeof cleanUpSchema>

const aboutSchema = z.object({
  version: z.string(),
  /** Versions of what runs Sluice, such as Node.js and Electron, in the order to show them. */
  runtimes: z.array(z.object({ name: z.string(), version: z.string() })),
  platform: z.string(),
  folders: z.array(z.object({ kind: folderSchema, path: z.string() })),
  /** What only the desktop app has; null in a browser. */
  desktop: z
    .object({
      /** Whether it looks for updates once a day; null if this build has no update server. */
      looksForUpdates: z.boolean().nullable(),
    })
    .nullable(),
})

/** The program itself, and where it keeps things. */
export type About = z.infer<typeof aboutSchema>

const usageSchema = z.object({
  /** Bytes on disk of the runs' files, of the callback inbox, and of everything else in the workspace. */
  runsBytes: z.int(),
  callbacksBytes: z.int(),
  otherBytes: z.int(),
  /** Null before the first. */
  lastCleanUp: cleanUpSchema.nullable(),
})

/** The workspace's size on disk. */
export type WorkspaceUsage = z.infer<typeof usageSchema>

/** A person's settings, and facts about the program. */
export const settingsContract = {
  read: base.output(storedSettingsSchema),
  change: base.input(changeSchema).output(storedSettingsSchema),
  about: base.output(aboutSchema),
  /** The licences of all shipped packages, as one text; null if Sluice runs from sources without a build. */
  readNotices: base.output(z.object({ text: z.string().nullable() })),
  measure: base.output(usageSchema),
  /** Opens a folder on the desktop. Fails in a browser. */
  openFolder: base.input(z.strictObject({ folder: folderSchema })).output(doneSchema),
  /** Collects diagnostics into a new folder and shows it. Fails in a browser. */
  collectDiagnostics: base.output(doneSchema),
  /** Whether the desktop app looks for updates once a day. Fails if it cannot. */
  setUpdates: base.input(z.strictObject({ isAutomatic: z.boolean() })).output(doneSchema),
  /** Looks for an update now, and says in a dialog of the system what it found. Fails if it cannot. */
  checkForUpdates: base.output(doneSchema),
}
