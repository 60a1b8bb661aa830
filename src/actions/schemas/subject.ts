import { z } from 'zod'

/** A subject as actions and routes show it; never its templates. */
export const subject = z
  .object({
    subjectId: z.uuid(),
    externalId: z.string().nullable(),
    displayName: z.string().nullable(),
    groups: z.array(z.string()),
    attributes: z.record(z.string(), z.unknown()),
    embeddingCount: z.int().min(0).meta({ description: 'Templates that the subject has.' }),
    faces: z
      .array(
        z.object({
          faceId: z.uuid(),
          qualityScore: z.int(),
          modelId: z.string(),
          createdAtUtc: z.string(),
        }),
      )
      .optional(),
    createdAtUtc: z.string(),
    updatedAtUtc: z.string(),
    expiresAtUtc: z.string().nullable(),
  })
  .meta({ id: 'Subject' })

/** What stays of a subject for ever. */
export const deletionRecord = z
  .object({
    deletionId: z.uuid(),
    subjectId: z.uuid(),
    tenantId: z.uuid().meta({ description: 'The account.' }),
    groups: z.array(z.string()),
    externalId: z.string().nullable(),
    embeddingCount: z.int().min(0).meta({ description: 'Templates that were removed.' }),
    deletedAtUtc: z.string(),
  })
  .meta({ id: 'DeletionRecord' })
