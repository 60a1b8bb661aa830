import { z } from 'zod'

/** A subject in a response. It never contains templates. */
export const subject = z
  .object({
    subjectId: z.uuid(),
    externalId: z.string().nullable(),
    displayName: z.string().nullable(),
    groups: z.array(z.string()),
    attributes: z.record(z.string(), z.unknown()),
    embeddingCount: z.int().min(0).meta({ description: 'Number of templates of the subject.' }),
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

/** The permanent record of a deleted subject. */
export const deletionRecord = z
  .object({
    deletionId: z.uuid(),
    subjectId: z.uuid(),
    tenantId: z.uuid().meta({ description: 'The account.' }),
    groups: z.array(z.string()),
    externalId: z.string().nullable(),
    embeddingCount: z.int().min(0).meta({ description: 'Number of templates that were deleted.' }),
    deletedAtUtc: z.string(),
  })
  .meta({ id: 'DeletionRecord' })
