import { z } from 'zod'
import type { Gallery } from '../gallery/gallery.ts'
import type { SearchHit } from '../gallery/search/search-across-models.ts'
import { ActionError } from '../lib/errors.ts'
import type { SubjectRow } from '../store/gallery-schema.ts'
import type { ReadTx, Tx } from '../store/tx.ts'
import type { Template } from '../vision/embed/template.ts'
import { defineAction, type ActionCall, type Caller } from './action.ts'
import { faceErrors, imageErrors, subjectNotFound } from './parts/action-errors.ts'
import { spendLivenessToken } from './parts/challenge/liveness-proof.ts'
import { debugInfo } from './parts/debug-info.ts'
import { extractProbes } from './parts/extract-probes.ts'
import { toFaceValue, toImageFacts } from './parts/face-value.ts'
import { addMatchingFace, storeExtractOptions } from './parts/store-face.ts'
import { faceExample, faceIdExample, imageExample, subjectExample } from './schemas/examples.ts'
import {
  attributes,
  debug,
  displayName,
  enrollmentFaceParams,
  expiresAtUtc,
  externalId,
  face,
  groups,
  imageFacts,
  images,
  requiredLivenessParams,
  similarity,
  subjectId,
} from './schemas/fields.ts'

const enrollParams = z
  .strictObject({
    images,
    externalId: externalId.optional(),
    subjectId: subjectId.optional().meta({ description: 'Adds a template to this subject.' }),
    displayName: displayName.optional(),
    groups: groups.default([]).meta({
      description: 'Groups of the subject; a group is created on first use.',
    }),
    attributes: attributes.optional(),
    onExisting: z.enum(['append', 'reject']).default('append').meta({
      description: 'If a subject has this externalId: add a template, or reject the call.',
    }),
    duplicateCheck: z.enum(['off', 'report', 'reject']).default('report').meta({
      description: 'If another subject has a similar face: report it, or reject the call.',
    }),
    duplicateThreshold: similarity.default(0.9),
    expiresAtUtc: expiresAtUtc.optional(),
    force: z.boolean().default(false).meta({
      description: 'Adds the template even if the face does not resemble the subject.',
    }),
    ...enrollmentFaceParams,
    ...requiredLivenessParams,
  })
  .meta({ id: 'EnrollParams' })

type ParsedEnrollParams = z.output<typeof enrollParams>
type EnrollCall = ActionCall<ParsedEnrollParams>

const example = {
  params: {
    externalId: subjectExample.externalId,
    displayName: subjectExample.displayName,
    groups: subjectExample.groups,
  },
  value: {
    subjectId: subjectExample.subjectId,
    faceId: faceIdExample,
    externalId: subjectExample.externalId,
    created: true,
    embeddingCount: 1,
    groups: subjectExample.groups,
    face: faceExample,
    duplicates: [],
    enrolledAtUtc: subjectExample.createdAtUtc,
    image: imageExample,
  },
}

/** Stores a face as a new subject, or as another template of an existing subject. */
export const enroll = defineAction({
  name: 'svc.enroll',
  summary: 'Enroll the face of an image as a new subject, or add it to an existing subject.',
  price: () => 2,
  params: enrollParams,
  value: z
    .object({
      subjectId: z.uuid(),
      faceId: z.uuid(),
      externalId: z.string().nullable(),
      created: z.boolean().meta({ description: 'Whether the subject is new.' }),
      embeddingCount: z.int().min(1),
      groups: z.array(z.string()),
      face,
      duplicates: z.array(
        z.object({ subjectId: z.uuid(), externalId: z.string().nullable(), similarity }),
      ),
      enrolledAtUtc: z.string(),
      image: imageFacts,
      debug,
    })
    .meta({ id: 'EnrollValue' }),
  errors: [
    'SUBJECT_NOT_FOUND',
    'EXTERNAL_ID_CONFLICT',
    ...imageErrors,
    ...faceErrors,
    'DUPLICATE_SUBJECT',
    'SUBJECT_FACE_MISMATCH',
    'MODEL_MISMATCH',
    'TEMPLATE_LIMIT_REACHED',
    'GALLERY_FULL',
  ],
  example,
  scrub: (value) => ({ ...value, externalId: null, groups: [], duplicates: [] }),
  run: spendLivenessToken(enrollFace),
})

async function enrollFace(call: EnrollCall) {
  const { params, caller, services } = call
  const { gallery } = services
  const [image] = params.images
  gallery.requireFutureExpiry(params.expiresAtUtc)
  const target = await gallery.read((reading) => findTarget(gallery, reading, caller, params))
  const extract = await storeExtractOptions(call)
  const { analysis, faces } = await extractProbes({ ...call, extract }, image, 0)
  const [probe] = faces
  const findDuplicates = await searchDuplicates(call, probe.probes, target?.subjectId)
  return {
    effect: async (tx: Tx) => {
      await gallery.lock(tx, caller.galleryId, 'exclusive')
      const duplicates = await toDuplicates(gallery, tx, caller, await findDuplicates(tx))
      if (duplicates.length > 0 && params.duplicateCheck === 'reject')
        throw duplicateError(duplicates)
      const existing = await findTarget(gallery, tx, caller, params)
      const subject = existing ?? (await gallery.create(tx, caller, params))
      const force = params.force || !existing
      const faceId = await addMatchingFace(call, tx, subject, { probe, force })
      const updated = await gallery.update(tx, subject, toSubjectUpdate(params, existing))
      const [details] = await gallery.loadSubjectDetails(tx, [updated])
      if (!details) throw new Error('the enrolled subject was not found')
      const value = {
        ...details,
        faceId,
        created: !existing,
        face: toFaceValue(analysis, probe, 0),
        duplicates,
        enrolledAtUtc: details.updatedAtUtc,
        image: toImageFacts(analysis),
        ...debugInfo(call.debug, analysis, probe),
      }
      const subjectIds = [details.subjectId, ...duplicates.map((other) => other.subjectId)]
      return [{ correlationId: image.correlationId, subjectIds, value }]
    },
  }
}

/**
 * Returns the existing subject to add the face to; undefined if the subject is new.
 *
 * @throws ActionError SUBJECT_NOT_FOUND, EXTERNAL_ID_CONFLICT.
 */
async function findTarget(
  gallery: Gallery,
  reading: ReadTx,
  { galleryId }: Caller,
  { subjectId, externalId, onExisting }: ParsedEnrollParams,
): Promise<SubjectRow | undefined> {
  const conflict = (message: string): never => {
    throw new ActionError('EXTERNAL_ID_CONFLICT', message)
  }
  const holder =
    externalId === undefined ? undefined : await gallery.find(reading, galleryId, { externalId })
  if (subjectId === undefined) {
    if (holder && onExisting === 'reject') conflict('a subject already has this externalId')
    return holder
  }
  const target = (await gallery.find(reading, galleryId, { subjectId })) ?? subjectNotFound()
  if (holder && holder.subjectId !== target.subjectId)
    conflict('another subject has this externalId')
  if (externalId !== undefined && (target.externalId ?? externalId) !== externalId)
    conflict('the subject has another externalId; svc.updateSubject changes it')
  return target
}

/** The most duplicates in a response. */
const duplicatesMax = 10

/**
 * Searches for other subjects with a similar face.
 *
 * @returns a function that completes the search when the call is settled: it also compares subjects
 *   that changed since the search. Of two concurrent enrollments of one face, one finds the other.
 */
async function searchDuplicates(
  { params, caller: { galleryId }, services: { gallery } }: EnrollCall,
  probes: readonly Template[],
  excludeSubjectId: string | undefined,
): Promise<(tx: Tx) => Promise<readonly SearchHit[]>> {
  if (params.duplicateCheck === 'off') return async () => []
  const sequence = await gallery.read((reading) => gallery.sequence(reading, galleryId))
  const options = { limit: duplicatesMax, excludeSubjectId }
  const hits = await gallery.search(galleryId, probes, options)
  return async (tx) => {
    const changed = await gallery.matchChangedSince(tx, { galleryId, sequence, probes })
    const changedHits = changed.filter(({ subjectId }) => subjectId !== excludeSubjectId)
    const changedIds = new Set(changedHits.map(({ subjectId }) => subjectId))
    return [...changedHits, ...hits.filter(({ subjectId }) => !changedIds.has(subjectId))]
      .filter((hit) => hit.similarity >= params.duplicateThreshold)
      .toSorted((a, b) => b.similarity - a.similarity)
      .slice(0, duplicatesMax)
  }
}

/** Returns the hits with their external ids, without subjects that were deleted since the search. */
async function toDuplicates(
  gallery: Gallery,
  tx: Tx,
  { galleryId }: Caller,
  hits: readonly SearchHit[],
) {
  const subjectIds = hits.map(({ subjectId }) => subjectId)
  const rows = await gallery.findByIds(tx, galleryId, subjectIds)
  const externalIds = new Map(rows.map((row) => [row.subjectId, row.externalId]))
  return hits.flatMap(({ subjectId, similarity }) => {
    const externalId = externalIds.get(subjectId)
    return externalId === undefined ? [] : [{ subjectId, externalId, similarity }]
  })
}

function duplicateError(duplicates: readonly { readonly subjectId: string }[]): ActionError {
  const ids = duplicates.map(({ subjectId }) => subjectId).join(', ')
  return new ActionError('DUPLICATE_SUBJECT', `the face is already enrolled as ${ids}`)
}

/** An existing subject takes the fields of the request; fields that are absent stay unchanged. */
function toSubjectUpdate(params: ParsedEnrollParams, existing: SubjectRow | undefined) {
  const { groups, externalId, displayName, attributes, expiresAtUtc } = params
  return existing
    ? { addGroups: groups, externalId, displayName, attributes, expiresAtUtc }
    : { addGroups: groups }
}
