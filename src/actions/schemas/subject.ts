import { z } from 'zod'
import texts from './field-texts.json' with { type: 'json' }

/** A subject in a response. It never contains templates. */
export const subject = z
  .object({
    subjectId: z.uuid(),
    externalId: z.string().nullable(),
    displayName: z.string().nullable(),
    groups: z.array(z.string()),
    attributes: z.record(z.string(), z.unknown()),
    embeddingCount: z.int().min(0).describe(texts.subject.embeddingCount),
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
    tenantId: z.uuid().describe(texts.subject.tenantId),
    groups: z.array(z.string()),
    externalId: z.string().nullable(),
    embeddingCount: z.int().min(0).describe(texts.subject.deletedEmbeddings),
    deletedAtUtc: z.string(),
  })
  .meta({ id: 'DeletionRecord' })
