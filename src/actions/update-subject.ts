import { z } from 'zod'
import { defineAction, type ActionCall } from './action.ts'
import { faceErrors, imageErrors, subjectNotFound } from './parts/action-errors.ts'
import { spendLivenessToken } from './parts/challenge/liveness-proof.ts'
import { debugInfo } from './parts/debug-info.ts'
import { extractProbes, type ExtractedProbes } from './parts/extract-probes.ts'
import { addMatchingFace, storeExtractOptions } from './parts/store-face.ts'
import { subjectExample } from './schemas/examples.ts'
import {
  debug,
  displayName,
  enrollmentFaceParams,
  expiresAtUtc,
  externalId,
  groups,
  optionalImages,
  requiredLivenessParams,
  subjectId,
} from './schemas/fields.ts'
import { subject } from './schemas/subject.ts'

const updateParams = z
  .strictObject({
    subjectId,
    externalId: externalId.nullable().optional(),
    displayName: displayName.nullable().optional(),
    attributes: z
      .record(z.string(), z.unknown())
      .optional()
      .meta({ description: 'A JSON merge patch (RFC 7396): null removes a field.' }),
    addGroups: groups.optional(),
    removeGroups: groups.optional(),
    removeFaceIds: z.array(z.guid()).max(20).optional(),
    expiresAtUtc: expiresAtUtc.nullable().optional(),
    images: optionalImages,
    force: z.boolean().default(false),
    ...enrollmentFaceParams,
    ...requiredLivenessParams,
  })
  .meta({ id: 'UpdateSubjectParams' })

type UpdateSubjectCall = ActionCall<z.output<typeof updateParams>>

/** Updates a subject. With an image it also adds a template, under the rules of enrollment. */
export const updateSubject = defineAction({
  name: 'svc.updateSubject',
  summary: 'Update a subject: ids, attributes, groups, templates, expiry.',
  price: (imageCount) => (imageCount > 0 ? 2 : 0),
  params: updateParams,
  value: subject.extend({ debug }).meta({ id: 'UpdateSubjectValue' }),
  errors: [
    'SUBJECT_NOT_FOUND',
    'EXTERNAL_ID_CONFLICT',
    ...imageErrors,
    ...faceErrors,
    'SUBJECT_FACE_MISMATCH',
    'MODEL_MISMATCH',
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
  run: spendLivenessToken(async (call: UpdateSubjectCall) => {
    const { params, caller, services } = call
    const { gallery } = services
    const { galleryId } = caller
    const { subjectId } = params
    gallery.requireFutureExpiry(params.expiresAtUtc)
    await gallery.read(
      async (reading) =>
        (await gallery.find(reading, galleryId, { subjectId })) ?? subjectNotFound(params),
    )
    const extracted = await extractFaceToAdd(call)
    const faceOptions = { force: params.force, removedFaceIds: params.removeFaceIds }
    return {
      effect: async (tx) => {
        await gallery.lock(tx, galleryId, 'exclusive')
        const row = (await gallery.find(tx, galleryId, { subjectId })) ?? subjectNotFound(params)
        const probe = extracted?.faces[0]
        // The new template is added first: then the last old one can be removed.
        if (probe) await addMatchingFace(call, tx, row, { ...faceOptions, probe })
        const updated = await gallery.update(tx, row, params)
        const [details] = await gallery.loadSubjectDetails(tx, [updated])
        if (!details) throw new Error('the updated subject was not found')
        const value = {
          ...details,
          ...(extracted && debugInfo(call.debug, extracted.analysis, probe)),
        }
        const correlationId = params.images?.[0]?.correlationId
        return [{ correlationId, subjectIds: [updated.subjectId], value }]
      },
      // Removed templates must also leave the memory of the search.
      afterCommit: params.removeFaceIds ? () => gallery.purge(galleryId) : undefined,
    }
  }),
})

async function extractFaceToAdd(call: UpdateSubjectCall): Promise<ExtractedProbes | undefined> {
  const [image] = call.params.images ?? []
  return image && extractProbes({ ...call, extract: await storeExtractOptions(call) }, image, 0)
}
