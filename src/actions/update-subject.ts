import { z } from 'zod'
import { defineAction, type ActionCall } from './action.ts'
import { faceErrors, imageErrors } from './parts/action-errors.ts'
import {
  debug,
  displayName,
  expiresAtUtc,
  externalId,
  facePolicy,
  groups,
  optionalImages,
  livenessThreshold,
  minFaceConfidence,
  minFaceSize,
  minQuality,
  requireLiveness,
  subjectId,
} from './schemas/fields.ts'
import { debugInfo } from './parts/candidates.ts'
import { subjectExample } from './schemas/examples.ts'
import { subjectNotFound } from './parts/subject-not-found.ts'
import { storeExtractOptions } from './parts/store-face.ts'
import { addMatchingFace } from './parts/add-matching-face.ts'
import { enrollmentMinima } from './parts/assess-enrollment.ts'
import { extractProbes, type ExtractedProbes } from './parts/extract-probes.ts'
import { subject } from './schemas/subject.ts'

const updateParams = z
  .strictObject({
    subjectId,
    externalId: externalId.nullable().optional(),
    displayName: displayName.nullable().optional(),
    attributes: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'A JSON merge patch (RFC 7396): null takes a field away.' }),
    addGroups: groups.optional(),
    removeGroups: groups.optional(),
    removeFaceIds: z.array(z.guid()).max(20).optional(),
    expiresAtUtc: expiresAtUtc.nullable().optional(),
    images: optionalImages,
    force: z.boolean().default(false),
    minFaceConfidence,
    minFaceSize,
    facePolicy: facePolicy('single'),
    minQuality: minQuality(enrollmentMinima.minQuality),
    requireLiveness,
    livenessThreshold,
  })
  .meta({ id: 'UpdateSubjectParams' })

type UpdateSubjectCall = ActionCall<z.output<typeof updateParams>>

/** Changes what is kept of a subject; with an image, adds a template under the guards of enrolment. */
export const updateSubject = defineAction({
  name: 'svc.updateSubject',
  summary: 'Change a subject: ids, attributes, groups, templates, expiry.',
  price: (imageCount) => (imageCount > 0 ? 2 : 0),
  params: updateParams,
  value: subject.extend({ debug }).meta({ id: 'UpdateSubjectValue' }),
  errors: [
    'SUBJECT_NOT_FOUND',
    'EXTERNAL_ID_CONFLICT',
    ...imageErrors,
    ...faceErrors,
    'SUBJECT_FACE_MISMATCH',
    'TEMPLATE_LIMIT_REACHED',
    'GALLERY_FULL',
  ],
  example: {
    params: { subjectId: subjectExample.subjectId, addGroups: ['night-shift'] },
    value: subjectExample,
  },
  scrub: (value) => ({
    ...value,
    externalId: null,
    displayName: null,
    groups: [],
    attributes: {},
  }),
  run: async (call) => {
    const { params, caller, services } = call
    const { gallery } = services
    const name = { subjectId: params.subjectId }
    await gallery.read(
      async (reading) => (await gallery.find(reading, caller.galleryId, name)) ?? subjectNotFound(),
    )
    const sighted = await extractFaceToAdd(call)
    return {
      effect: async (tx) => {
        await gallery.lock(tx, caller.galleryId, 'exclusive')
        const found = (await gallery.find(tx, caller.galleryId, name)) ?? subjectNotFound()
        // First the new template: then the last old one may go.
        if (sighted)
          await addMatchingFace(call, tx, found, { seen: sighted.faces[0], force: params.force })
        const changed = await gallery.update(tx, found, params)
        const [told] = await gallery.loadSubjectDetails(tx, [changed])
        if (!told) throw new Error('the subject is gone')
        const value = {
          ...told,
          ...(sighted && debugInfo(call.debug, sighted.analysis, sighted.faces[0])),
        }
        const correlationId = params.images?.[0]?.correlationId
        return [{ correlationId, subjectIds: [changed.subjectId], value }]
      },
      // Templates may have been removed.
      afterCommit: params.removeFaceIds ? () => gallery.purge(caller.galleryId) : undefined,
    }
  },
})

async function extractFaceToAdd(call: UpdateSubjectCall): Promise<ExtractedProbes | undefined> {
  const [image] = call.params.images ?? []
  return image && extractProbes({ ...call, wanted: await storeExtractOptions(call) }, image, 0)
}
