import { z } from 'zod'
import type { Caller, Services } from '../actions/action.ts'
import { externalId } from '../actions/fields.ts'
import { notFound } from '../actions/not-found.ts'
import { ActionError } from '../lib/errors.ts'
import type { SubjectRow } from '../store/schema.ts'
import { defineBookkeeping } from './bookkeeping.ts'
import { clear, clearPermissions } from './clear.ts'
import { findNamed, subjectName } from './subject-name.ts'

const path = '/api/v1/recognition/subjects'
const named = z.object({ subject: externalId })
const noQuery = (): undefined => undefined

/** The names of all subjects. */
export const listSubjects = defineBookkeeping({
  method: 'GET',
  path,
  permissions: ['subjects:read'],
  query: noQuery,
  run: async ({ caller, services }) => {
    const subjects = await allNames(services, caller)
    return { effect: () => ({ body: { subjects } }) }
  },
})

/** A subject without a face yet. */
export const addSubject = defineBookkeeping({
  method: 'POST',
  path,
  status: 201,
  permissions: ['svc.enroll'],
  query: noQuery,
  body: named,
  run: ({ body: { subject }, caller, services }) => ({
    effect: async (tx) => {
      await services.gallery.hold(tx, caller.galleryId, 'alone')
      if (await findNamed(services, tx, caller, subject))
        throw new ActionError('EXTERNAL_ID_CONFLICT', 'a subject has this name already')
      await services.gallery.create(tx, caller, { externalId: subject })
      return { body: { subject } }
    },
  }),
})

/** CompreFace merges subjects when the new name is taken; here it is refused. */
export const renameSubject = defineBookkeeping({
  method: 'PUT',
  path: `${path}/:subject`,
  permissions: ['svc.updateSubject'],
  query: noQuery,
  body: named,
  run: ({ parts, body, caller, services }) => ({
    effect: async (tx) => {
      await services.gallery.hold(tx, caller.galleryId, 'alone')
      const found = (await findNamed(services, tx, caller, parts['subject'] ?? '')) ?? notFound()
      await services.gallery.update(tx, found, { externalId: body.subject })
      return { body: { updated: true } }
    },
  }),
})

export const deleteSubject = defineBookkeeping({
  method: 'DELETE',
  path: `${path}/:subject`,
  permissions: ['svc.deleteSubject'],
  query: noQuery,
  run: ({ parts, caller, services }) => ({
    effect: async (tx) => {
      await services.gallery.hold(tx, caller.galleryId, 'alone')
      const found = (await findNamed(services, tx, caller, parts['subject'] ?? '')) ?? notFound()
      await services.gallery.remove(tx, found)
      return { body: { subject: subjectName(found) } }
    },
    afterwards: () => services.gallery.forget(caller.galleryId),
  }),
})

export const deleteSubjects = defineBookkeeping({
  method: 'DELETE',
  path,
  permissions: clearPermissions,
  query: noQuery,
  run: (call) => clear(call, (records) => records.length),
})

/** Read at once, so that other calls get their turn between. */
const pageSize = 1000
const namesMax = 100_000

/** @throws ActionError INVALID_REQUEST when there are too many for one answer. */
async function allNames({ gallery }: Services, { galleryId }: Caller): Promise<string[]> {
  const names: string[] = []
  let after: SubjectRow | undefined
  do {
    const filter = { galleryId, after, limit: pageSize }
    const page = await gallery.read((reading) => gallery.list(reading, filter))
    names.push(...page.map(subjectName))
    if (names.length > namesMax)
      throw new ActionError(
        'INVALID_REQUEST',
        `there are more than ${namesMax} subjects: GET /v1/subjects lists them page by page`,
      )
    after = page.length === pageSize ? page.at(-1) : undefined
  } while (after)
  return names
}
