import { setImmediate as nextTurn } from 'node:timers/promises'
import { z } from 'zod'
import type { Caller, Services } from '../../actions/action.ts'
import { subjectNotFound } from '../../actions/parts/action-errors.ts'
import { changePermissions, requirePermission } from '../../actions/parts/subject-permissions.ts'
import { externalId, uuid } from '../../actions/schemas/fields.ts'
import type { HttpRequest } from '../../http/route.ts'
import { mapSequential } from '../../lib/account-context.ts'
import { ActionError, invalidRequest } from '../../lib/errors.ts'
import { isUuid } from '../../lib/ids.ts'
import type { ReadTx, Tx } from '../../store/database.ts'
import type { SubjectRow } from '../../store/gallery-schema.ts'
import {
  pageQuery,
  readExactQuery,
  readImageId,
  readQuery,
  refuseParameters,
} from '../input/query.ts'
import { defineJsonRoute } from '../prepare-action.ts'
import type { CallContext } from '../serve-route.ts'
import { changeSubjects, deleteAllPermissions, deleteAllSubjects } from './change-subjects.ts'

const subjectsPath = '/api/v1/recognition/subjects'
const subjectBody = z.object({ subject: externalId })

/** Returns the names of all subjects. */
export const listSubjects = defineJsonRoute('GET', subjectsPath, {
  permissions: ['subjects:read'],
  run: async ({ caller, services }) => {
    const subjects = await listSubjectNames(services, caller)
    return { outcome: { body: { subjects } } }
  },
})

/** Creates a subject without a face. */
export const addSubject = defineJsonRoute('POST', subjectsPath, {
  status: 201,
  permissions: ['svc.enroll'],
  body: subjectBody,
  run: ({ body: { subject: name }, caller, services }) => ({
    effect: async (tx) => {
      await services.subjects.lock(tx, caller.galleryId, 'exclusive')
      if (await findSubjectByName(services, tx, caller, name))
        throw new ActionError('EXTERNAL_ID_CONFLICT', 'a subject already has this name')
      await services.subjects.create(tx, caller, { externalId: name, withoutFaces: true })
      return { body: { subject: name } }
    },
  }),
})

/**
 * Renames a subject. If the new name is in use, the subjects are merged, as CompreFace does: the
 * faces and groups move to the subject with that name, and the renamed subject is deleted with a
 * deletion record. Merging therefore also needs the permission to delete a subject and, because the faces
 * are not compared, the one to force faces.
 */
export const renameSubject = defineJsonRoute('PUT', `${subjectsPath}/:subject`, {
  permissions: ['svc.updateSubject'],
  body: subjectBody,
  run: (call) =>
    changeSubjects(call, async (tx) => {
      const { body, caller, services } = call
      const subject = await requireSubject(tx, call)
      const holder = await findSubjectByName(services, tx, caller, body.subject)
      if (holder && holder.subjectId !== subject.subjectId) {
        requirePermission(
          caller,
          'svc.deleteSubject',
          'A subject with the new name exists, so that the subjects would be merged',
        )
        requirePermission(
          caller,
          changePermissions.force.permission,
          'The subjects would be merged, and their faces are not compared',
        )
        await services.subjects.merge(tx, { source: subject, target: holder })
      } else await services.subjects.update(tx, subject, { externalId: body.subject })
      return { updated: true }
    }),
})

export const deleteSubject = defineJsonRoute('DELETE', `${subjectsPath}/:subject`, {
  permissions: ['svc.deleteSubject'],
  run: (call) =>
    changeSubjects(call, async (tx) => {
      const subject = await requireSubject(tx, call)
      await call.services.subjects.remove(tx, subject)
      return { subject: subjectName(subject) }
    }),
})

/** @throws ActionError SUBJECT_NOT_FOUND unless the gallery has the subject in the path. */
async function requireSubject(
  tx: Tx,
  { pathParams, caller, services }: CallContext & Pick<HttpRequest, 'pathParams'>,
) {
  const name = pathParams['subject'] ?? ''
  return (await findSubjectByName(services, tx, caller, name)) ?? subjectNotFound()
}

export const deleteSubjects = defineJsonRoute('DELETE', subjectsPath, {
  permissions: deleteAllPermissions,
  run: (call) => deleteAllSubjects(call, (records) => records.length),
})

/** Each page is a separate read, and SQLite needs a turn of the event loop for other calls between. */
const pageSize = 1000
const namesMax = 100_000

/** @throws ActionError INVALID_REQUEST if there are too many subjects for one response. */
async function listSubjectNames({ subjects }: Services, { galleryId }: Caller): Promise<string[]> {
  const names: string[] = []
  let after: SubjectRow | undefined
  do {
    const position = after && { value: after.createdAtUtc, subjectId: after.subjectId }
    const filter = { galleryId, after: position, limit: pageSize }
    const page = await subjects.read((reading) => subjects.listRows(reading, filter))
    names.push(...page.map(subjectName))
    if (names.length > namesMax)
      throw invalidRequest(
        `the gallery has more than ${namesMax} subjects: GET /v1/subjects lists them in pages`,
      )
    after = page.length === pageSize ? page.at(-1) : undefined
    await nextTurn()
  } while (after)
  return names
}

/** Returns a page of the faces of the gallery or of one subject. */
export const listFaces = defineJsonRoute('GET', '/api/v1/recognition/faces', {
  permissions: ['subjects:read'],
  query: (query) => readQuery(pageQuery, query),
  run: async ({ query: { page, size, subject: name }, caller, services: { subjects } }) => {
    const { galleryId } = caller
    const body = await subjects.read(async (reading) => {
      const subject =
        name === undefined
          ? undefined
          : await findSubjectByName({ subjects }, reading, caller, name)
      const isUnknown = name !== undefined && !subject
      const filter = { galleryId, subjectId: subject?.subjectId, offset: page * size, limit: size }
      const faces = isUnknown ? [] : await subjects.listFaces(reading, filter)
      const [details] = subject ? await subjects.loadDetails(reading, [subject]) : []
      const total =
        name === undefined
          ? await subjects.countFaces(reading, galleryId)
          : (details?.embeddingCount ?? 0)
      return {
        faces: faces.map((face) => ({ image_id: face.faceId, subject: subjectName(face) })),
        page_number: page,
        page_size: size,
        total_pages: Math.ceil(total / size),
        total_elements: total,
      }
    })
    return { outcome: { body } }
  },
})

/** Deletes one face. Deleting the last face of a subject deletes the subject. */
export const deleteFace = defineJsonRoute('DELETE', '/api/v1/recognition/faces/:image_id', {
  permissions: ['svc.deleteSubject'],
  run: (call) => {
    const faceId = readImageId(call)
    return changeSubjects(
      call,
      async (tx) => (await removeFace(tx, call, faceId)) ?? subjectNotFound(),
    )
  },
})

const facesMax = 200

/**
 * Deletes faces by id, each in a transaction: no other call waits for all of them. The response omits ids
 * that do not exist.
 */
export const deleteFaceList = defineJsonRoute('POST', '/api/v1/recognition/faces/delete', {
  permissions: ['svc.deleteSubject'],
  query: refuseParameters,
  body: z.array(uuid).min(1).max(facesMax),
  run: async (call) => {
    const { caller, services } = call
    const { change, purge } = services.maintenance
    const removed = await mapSequential(call.body, (faceId) =>
      change(caller.galleryId, (tx) => removeFace(tx, call, faceId)),
    )
    await purge(caller.galleryId)
    return { outcome: { body: removed.filter((face) => face !== undefined) } }
  },
})

/** Deletes a subject with all its faces; without the parameter, all subjects. */
export const deleteFaces = defineJsonRoute('DELETE', '/api/v1/recognition/faces', {
  permissions: (name) => (name === undefined ? deleteAllPermissions : ['svc.deleteSubject']),
  query: optionalSubject,
  run: async (call) => {
    const { query: name, caller, services } = call
    if (name === undefined)
      return deleteAllSubjects(call, (records) =>
        records.reduce((sum, { embeddingCount }) => sum + embeddingCount, 0),
      )
    return changeSubjects(call, async (tx) => {
      const subject = await findSubjectByName(services, tx, caller, name)
      return { deleted: subject ? (await services.subjects.remove(tx, subject)).embeddingCount : 0 }
    })
  },
})

/** An empty name is probably a mistake, so it is rejected instead of deleting all subjects. */
function optionalSubject(query: URLSearchParams): string | undefined {
  if (query.get('subject')?.trim() === '')
    throw invalidRequest('query.subject: must not be empty; omit it to delete all subjects')
  return readExactQuery(z.strictObject({ subject: externalId.optional() }), query).subject
}

async function removeFace(
  tx: Tx,
  { caller: { galleryId }, services: { subjects } }: CallContext,
  faceId: string,
) {
  const [face] = await subjects.listFaces(tx, { galleryId, faceId, limit: 1 })
  const subject = face && (await subjects.find(tx, galleryId, face))
  if (!subject) return undefined
  const { subjectId } = subject
  const isLast = (await subjects.listFaces(tx, { galleryId, subjectId, limit: 2 })).length === 1
  if (isLast) await subjects.remove(tx, subject)
  else await subjects.update(tx, subject, { removeFaceIds: [faceId] })
  return { image_id: face.faceId, subject: subjectName(subject) }
}

/** Returns the CompreFace name of a subject: its externalId, or its subjectId if it has none. */
export function subjectName(subject: Pick<SubjectRow, 'externalId' | 'subjectId'>): string {
  return subject.externalId ?? subject.subjectId
}

/** Finds a subject of the caller's gallery by its CompreFace name, in any Unicode encoding. */
export async function findSubjectByName(
  { subjects }: Pick<Services, 'subjects'>,
  reading: ReadTx,
  { galleryId }: Pick<Caller, 'galleryId'>,
  name: string,
): Promise<SubjectRow | undefined> {
  const subject = await subjects.find(reading, galleryId, { externalId: name.normalize('NFC') })
  if (subject || !isUuid(name)) return subject
  const unnamed = await subjects.find(reading, galleryId, { subjectId: name })
  return unnamed?.externalId === null ? unnamed : undefined
}
