import { z } from 'zod'
import { sameSubjectDescription } from '../parts/pictures/merge-frames.ts'
import * as fields from './fields.ts'
import { imageBatch } from './images.ts'
import texts from './field-texts.json' with { type: 'json' }

/** The parameters that apply only to images. */
export const pictureFields = {
  sameSubject: z.boolean().default(false).meta({ description: sameSubjectDescription }),
  maxFaces: z.int().min(1).max(20).default(1),
  uniqueSubjects: z.boolean().default(false).describe(texts.identify.uniqueSubjects),
  ...fields.faceParams,
  ...fields.requiredLivenessParams,
}

/** The parameters of svc.identify. */
export const identifyParams = z
  .strictObject({
    images: imageBatch.optional().describe(texts.identify.images),
    subjectId: fields.subjectId.optional().describe(texts.identify.subjectId),
    externalId: fields.externalId.optional().describe(texts.identify.externalId),
    faceId: fields.uuid.optional().describe(texts.identify.faceId),
    maxCandidates: z.int().min(1).max(100).default(5).describe(texts.identify.maxCandidates),
    threshold: fields.matchThreshold.optional().describe(texts.identify.threshold),
    groups: z.array(fields.groupName).min(1).max(20).optional().describe(texts.identify.groups),
    ...pictureFields,
  })
  .meta({
    id: 'IdentifyParams',
    'x-hints': {
      allImages: 'Remove the field: svc.identify searches for the faces of every image.',
    },
  })

/** The value of a result of svc.identify. */
export const identifyValue = z
  .object({
    matched: z.boolean(),
    bestMatch: fields.candidate.nullable(),
    faces: z
      .array(
        fields.face.extend({
          matched: z.boolean(),
          ambiguous: z.literal(true).optional().describe(texts.identify.ambiguous),
          candidates: z.array(fields.candidate),
          visitorId: z.uuid().optional().describe(texts.identify.visitorId),
        }),
      )
      .describe(texts.identify.faces),
    probe: z
      .object({ subjectId: z.uuid(), faceIds: z.array(z.uuid()) })
      .optional()
      .describe(texts.identify.probe),
    candidates: z.array(fields.candidate).optional().describe(texts.identify.candidates),
    threshold: fields.similarity,
    thresholdSource: z.enum(['request', 'project', 'auto']),
    calibration: fields.calibration,
    gallerySize: z.int().min(0).describe(texts.identify.gallerySize),
    notComparable: z.int().min(1).optional().describe(texts.identify.notComparable),
    image: fields.imageFacts.optional().describe(texts.identify.image),
    warnings: fields.warnings,
    debug: fields.debug,
  })
  .meta({ id: 'IdentifyValue' })
