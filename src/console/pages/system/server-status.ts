import { z } from 'zod'
import { count } from '../../server/input.ts'

/** The parts of responses that the server reports about itself. Their types are those of its reports. */

export const diskUsage = z.object({ freeBytes: count, totalBytes: count, modelsBytes: count })

export type DiskUsage = z.output<typeof diskUsage>

/** The settings of one topic of docs/configuration.md. */
export const settingsTopic = z.object({
  topic: z.string(),
  settings: z.array(
    z.object({
      name: z.string(),
      value: z.string().meta({ description: 'Of a secret only `set` or `not set`.' }),
      isDefault: z.boolean(),
      meaning: z.string(),
      range: z.string().meta({ description: 'The permitted values, as plain text.' }),
    }),
  ),
})

export type SettingsTopic = z.output<typeof settingsTopic>
