import { z } from 'zod'
import { sameSubjectDescription } from '../parts/pictures/merge-frames.ts'
import * as fields from './fields.ts'
import { imageBatch } from './images.ts'

/** The parameters that apply only to images. */
export const pictureFields = {
  sameSubject: z.boolean().default(false).meta({ description: sameSubjectDescription }),
  maxFaces: z.int().min(1).max(20).default(1),
  uniqueSubjects: z.boolean().default(false).meta({
    description:
      'With maxFaces: matches each subject with at most one face of an image, so that the total of the similarities above the threshold is the highest possible. A face whose subjects are all matched with other faces has no match.',
  }),
  ...fields.faceParams,
  ...fields.requiredLivenessParams,
}

/** The parameters of svc.identify. */
export const identifyParams = z
  .strictObject({
    images: imageBatch.optional().meta({
      description:
        'Each image is one item of the batch, with a separate result. Exactly one of images, subjectId, externalId and faceId is required.',
    }),
    subjectId: fields.subjectId.optional().meta({
      description:
        'Searches with the stored templates of this subject, merged into one probe, among all other subjects. No image is analyzed; the price is that of one image.',
    }),
    externalId: fields.externalId.optional().meta({
      description: 'The same, by the external id of the subject.',
    }),
    faceId: fields.uuid.optional().meta({
      description: 'The same with the template of one stored face.',
    }),
    maxCandidates: z.int().min(1).max(100).default(5),
    threshold: fields.matchThreshold.optional().meta({
      description:
        '0..1, or `auto`: from 0.80 for a small gallery to 0.95, so that about 1 % of searches for people who are not enrolled return a false match. If absent, the threshold of the project applies, or else `auto`.',
    }),
    groups: z.array(fields.groupName).min(1).max(20).optional().meta({
      description:
        'Only subjects of any of these groups. If none of them exists: GROUP_NOT_FOUND; if some do not, `warnings` names them.',
    }),
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
          ambiguous: z.literal(true).optional().meta({
            description:
              'The face matches, but the next subject is so near that it is likely to be the right one: check the match in another way. Absent otherwise.',
          }),
          candidates: z.array(fields.candidate),
          visitorId: z.uuid().optional().meta({
            description:
              'The unknown person, if the project stores unknown people: the face has no match, and its quality is sufficient for an enrollment. Later pictures of the person get the same id. Absent with `groups`.',
          }),
        }),
      )
      .meta({ description: 'Empty in a search for a stored face.' }),
    probe: z
      .object({ subjectId: z.uuid(), faceIds: z.array(z.uuid()) })
      .optional()
      .meta({
        description:
          'Only in a search for a stored face: the subject, which is not searched, and the faces that were used.',
      }),
    candidates: z.array(fields.candidate).optional().meta({
      description: 'Only in a search for a stored face: the subjects that match, best first.',
    }),
    threshold: fields.similarity,
    thresholdSource: z.enum(['request', 'project', 'auto']),
    calibration: fields.calibration,
    gallerySize: z.int().min(0).meta({ description: 'Number of subjects in the gallery.' }),
    notComparable: z.int().min(1).optional().meta({
      description:
        'Number of faces that were not compared because they have only templates of other models; absent if there are none.',
    }),
    image: fields.imageFacts
      .optional()
      .meta({ description: 'Absent in a search for a stored face.' }),
    warnings: fields.warnings,
    debug: fields.debug,
  })
  .meta({ id: 'IdentifyValue' })
