import { z } from 'zod'
import { invalidRequest } from '../lib/errors.ts'
import type { SubjectRow } from '../store/gallery-schema.ts'
import type { ReadTx, Tx } from '../store/database.ts'
import { defineAction, type ActionCall } from './action.ts'
import { faceErrors, imageErrors, subjectNotFound } from './parts/action-errors.ts'
import { repeatedPictureWarning } from './parts/pictures/add-pictures.ts'
import {
  debugInfo,
  debugOfDatabase,
  enrollWarnings,
  recognizerScore,
  toWarnings,
} from './parts/response-fields.ts'
import { extractProbes, type ExtractedProbes } from './parts/extract-probes.ts'
import { addMatchingFace, requireSimilarFaces, storeExtractOptions } from './parts/store-face.ts'
import {
  changePermissions,
  requireChangePermissions,
  requireFacePermission,
  requireForcePermission,
} from './parts/subject-permissions.ts'
import { subjectLookup } from './parts/subject-lookup.ts'
import examples from './schemas/examples.json' with { type: 'json' }
import * as fields from './schemas/fields.ts'
import { optionalImages } from './schemas/images.ts'
import { subject } from './schemas/subject.ts'
import texts from './schemas/field-texts.json' with { type: 'json' }

const updateParams = z
  .strictObject({
    subjectId: fields.subjectId.optional().describe(texts.updateSubject.subjectId),
    externalId: fields.externalId.nullable().optional().describe(texts.updateSubject.externalId),
    displayName: fields.displayName.nullable().optional(),
    attributes: z
      .record(z.string(), z.unknown())
      .optional()
      .describe(texts.updateSubject.attributes),
    addGroups: fields.groups.optional(),
    removeGroups: fields.groups.optional(),
    addFaceIds: z.array(fields.uuid).max(20).optional().describe(texts.updateSubject.addFaceIds),
    removeFaceIds: z.array(fields.uuid).max(20).optional(),
    expiresAtUtc: fields.expiresAtUtc.nullable().optional(),
    images: optionalImages,
    force: z.boolean().default(false).describe(texts.updateSubject.force),
    ...fields.enrollmentFaceParams,
    ...fields.requiredLivenessParams,
  })
  .meta({ id: 'UpdateSubjectParams' })

type UpdateParams = z.output<typeof updateParams>
type UpdateSubjectCall = ActionCall<UpdateParams>

/** Updates a subject. With an image it also adds a template, under the rules of enrollment. */
export const updateSubject = defineAction({
  name: 'svc.updateSubject',
  summary: 'Update a subject: ids, attributes, groups, templates, expiry.',
  price: (imageCount) => 2 * Math.min(imageCount, 1),
  params: updateParams,
  sessionImage: 'only',
  furtherPermissions: [changePermissions.expiry, changePermissions.faces, changePermissions.force],
  value: subject
    .extend({
      faceId: z.uuid().optional().describe(texts.updateSubject.faceId),
      warnings: fields.warnings,
      debug: fields.debug,
    })
    .meta({ id: 'UpdateSubjectValue' }),
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
  example: examples['svc.updateSubject'],
  scrub: (value) => ({
    ...value,
    externalId: null,
    displayName: null,
    groups: [],
    attributes: {},
    warnings: undefined, // they can contain names of groups
  }),
  checkCall: (call) => {
    subjectLookup(call.params)
    requireDifferentLists(call.params)
    requireForcePermission(call)
    requireFacePermission(call)
    call.services.subjects.requireFutureExpiry(call.params.expiresAtUtc)
  },
  run: async (call) => {
    const { params, caller, services } = call
    const { subjects, maintenance } = services
    const { galleryId } = caller
    const lookup = subjectLookup(params)
    const requireSubject = async (reading: ReadTx) => {
      const found = (await subjects.find(reading, galleryId, lookup)) ?? subjectNotFound(lookup)
      await requireChangePermissions(call, reading, found, params)
      return found
    }
    await requireSimilarFaces(call, await subjects.read(requireSubject))
    const extracted = await extractFaceToAdd(call)
    return {
      effect: async (tx) => {
        await subjects.lock(tx, galleryId, 'exclusive')
        const row = await requireSubject(tx)
        return [await applyUpdate(call, tx, row, extracted)]
      },
      // Removed templates must also leave the memory of the search, and replaced ones the files.
      afterCommit:
        params.removeFaceIds || params.addFaceIds ? () => maintenance.purge(galleryId) : undefined,
    }
  },
})

async function applyUpdate(
  call: UpdateSubjectCall,
  tx: Tx,
  row: SubjectRow,
  extracted: ExtractedProbes | undefined,
) {
  const startMs = performance.now()
  const { subjects } = call.services
  const { force, addFaceIds = [], removeFaceIds: removedFaceIds, images = [] } = call.params
  const probe = extracted?.faces[0]
  // The new template is added first: then the last old one can be removed.
  const added = probe && (await addMatchingFace(call, tx, row, { probe, force, removedFaceIds }))
  const isChanged = added?.isAdded === true
  const moved = await subjects.moveFaces(tx, { target: row, faceIds: addFaceIds })
  const [before] = await subjects.loadDetails(tx, [row])
  const update = { ...call.params, isChanged: isChanged || moved > 0 }
  const updated = await subjects.update(tx, row, update)
  const [details] = await subjects.loadDetails(tx, [updated])
  if (!before || !details) throw new Error('the updated subject was not found')
  const value = {
    ...details,
    ...(added && { faceId: added.faceId }),
    ...toWarnings(
      ...warningsOf(call.params, before.groups, added),
      ...(probe && isChanged ? enrollWarnings(details.embeddingCount, [{ index: 0, probe }]) : []),
    ),
    ...(extracted
      ? debugInfo(call.debug, extracted.analysis, probe, recognizerScore(added))
      : debugOfDatabase(call.debug, performance.now() - startMs)),
  }
  const { correlationId } = images[0] ?? {}
  const unbilledImages = isChanged ? 0 : images.length
  return { correlationId, subjectIds: [updated.subjectId], unbilledImages, value }
}

async function extractFaceToAdd(call: UpdateSubjectCall): Promise<ExtractedProbes | undefined> {
  const [image] = call.params.images ?? []
  return image && extractProbes({ ...call, extract: await storeExtractOptions(call) }, image, 0)
}

/** @param groups the groups of the subject before the update. */
function warningsOf(
  { removeGroups = [], images = [] }: UpdateParams,
  groups: readonly string[],
  added: { readonly isAdded: boolean } | undefined,
): string[] {
  const absent = removeGroups.filter((name) => !groups.includes(name))
  return [
    ...(absent.length > 0 ? [`removeGroups: the subject is not in ${absent.join(', ')}`] : []),
    ...(images.length > 1
      ? ['images[1] and later were not used; svc.enroll with allImages adds several']
      : []),
    ...(added?.isAdded === false ? [repeatedPictureWarning] : []),
  ]
}

/** @throws ActionError INVALID_REQUEST if a group or a face is to be added and removed. */
function requireDifferentLists(params: UpdateParams): void {
  const { addGroups = [], removeGroups = [], addFaceIds = [], removeFaceIds = [] } = params
  requireDisjoint('Groups', 'group', addGroups, removeGroups)
  requireDisjoint('FaceIds', 'face', addFaceIds, removeFaceIds)
}

function requireDisjoint(
  field: string,
  item: string,
  added: readonly string[],
  removed: readonly string[],
): void {
  const contradicting = added.filter((name) => removed.includes(name))
  if (contradicting.length > 0)
    throw invalidRequest(
      `params.remove${field}: must not contain ${contradicting.join(', ')}, which add${field} contains; send each ${item} in one of them`,
    )
}
