import { z } from 'zod'
import { notFound } from '../actions/not-found.ts'
import type { Caller } from '../actions/action.ts'
import type { Gallery } from '../gallery/gallery.ts'
import { ActionError } from '../lib/errors.ts'
import { isUuid } from '../lib/ids.ts'
import { mapInTurn } from '../lib/in-turn.ts'
import type { Tx } from '../store/tx.ts'
import { defineBookkeeping } from './bookkeeping.ts'
import { clear, clearPermissions } from './clear.ts'
import { readQuery, subjectQuery } from './query.ts'
import { findNamed, subjectName } from './subject-name.ts'

/** Deletes one face; the subject with its last one. */
export const deleteFace = defineBookkeeping({
  method: 'DELETE',
  path: '/api/v1/recognition/faces/:image_id',
  permissions: ['svc.deleteSubject'],
  query: () => undefined,
  run: ({ parts, caller, services: { gallery } }) => ({
    effect: async (tx) => {
      await gallery.hold(tx, caller.galleryId, 'alone')
      return { body: (await removeFace(gallery, tx, caller, parts['image_id'])) ?? notFound() }
    },
    afterwards: () => gallery.forget(caller.galleryId),
  }),
})

const facesMax = 200

/** Deletes faces; ids of nobody's are left out of the answer. */
export const deleteFaceList = defineBookkeeping({
  method: 'POST',
  path: '/api/v1/recognition/faces/delete',
  permissions: ['svc.deleteSubject'],
  query: () => undefined,
  body: z.array(z.guid()).min(1).max(facesMax),
  run: ({ body: faceIds, caller, services: { gallery } }) => ({
    effect: async (tx) => {
      await gallery.hold(tx, caller.galleryId, 'alone')
      const removed = await mapInTurn(faceIds, (faceId) => removeFace(gallery, tx, caller, faceId))
      return { body: removed.filter((face) => face !== undefined) }
    },
    afterwards: () => gallery.forget(caller.galleryId),
  }),
})

/** Deletes all faces of a subject, and so the subject; without the parameter, everybody. */
export const deleteFaces = defineBookkeeping({
  method: 'DELETE',
  path: '/api/v1/recognition/faces',
  permissions: (name) => (name === undefined ? clearPermissions : ['svc.deleteSubject']),
  query: subjectIfAny,
  run: async (call) => {
    const { query: name, caller, services } = call
    const { gallery } = services
    if (name === undefined)
      return clear(call, (records) =>
        records.reduce((sum, { embeddingCount }) => sum + embeddingCount, 0),
      )
    return {
      effect: async (tx) => {
        await gallery.hold(tx, caller.galleryId, 'alone')
        const found = await findNamed(services, tx, caller, name)
        return { body: { deleted: found ? (await gallery.remove(tx, found)).embeddingCount : 0 } }
      },
      afterwards: () => gallery.forget(caller.galleryId),
    }
  },
})

/** An empty name is a mistake of the caller's, not everybody. */
function subjectIfAny(query: URLSearchParams): string | undefined {
  if (!query.has('subject')) return undefined
  if (query.get('subject')?.trim() === '')
    throw new ActionError(
      'INVALID_REQUEST',
      'subject: must not be empty; leave it out for everybody',
    )
  return readQuery(subjectQuery, query).subject
}

async function removeFace(
  gallery: Gallery,
  tx: Tx,
  { galleryId }: Caller,
  faceId: string | undefined,
) {
  if (!isUuid(faceId)) return undefined
  const [face] = await gallery.listFaces(tx, { galleryId, faceId, limit: 1 })
  const subject = face && (await gallery.find(tx, galleryId, face))
  if (!subject) return undefined
  const { subjectId } = subject
  const isLast = (await gallery.listFaces(tx, { galleryId, subjectId, limit: 2 })).length === 1
  if (isLast) await gallery.remove(tx, subject)
  else await gallery.update(tx, subject, { removeFaceIds: [faceId] })
  return { image_id: face.faceId, subject: subjectName(subject) }
}
