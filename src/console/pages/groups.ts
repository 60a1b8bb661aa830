import { z } from 'zod'
import { ActionError } from '../../lib/errors.ts'
import { listGroups } from '../../store/gallery/groups.ts'
import type { ReadTx } from '../../store/tx.ts'
import { count } from '../server/schemas.ts'
import { ValidationError } from '../server/validation-error.ts'
import { defineList, declareList } from '../server/list.ts'
import { defineRead, defineWrite, noQuery, type ConsoleContext } from '../server/route.ts'
import { requireProject } from '../server/require-project.ts'

const group = z.object({ name: z.string(), subjectCount: count })

const groupList = declareList({
  path: '/projects/:projectId/groups',
  minimumRole: 'viewer',
  filter: z.strictObject({ q: z.string().min(1).max(64).optional() }),
  item: group,
  position: z.string(),
  find: async (call, { after, limit }) =>
    call.services.store.read(async (reading) => {
      const { galleryId } = await requireProject(reading, call)
      const part = { text: call.query.q, after, limit }
      return (await listGroups(reading, galleryId, part)).map((item) => ({
        item,
        position: item.name,
      }))
    }),
})

export const listAllGroups = defineList(groupList)

/** How many subjects would go with a group. */
export const countGroup = defineRead({
  path: '/projects/:projectId/groups/:name',
  minimumRole: 'viewer',
  query: noQuery,
  response: z.object({ group: z.string(), count }),
  handle: async (call) =>
    call.services.store.read(async (reading) => {
      const { name, subjectCount } = await requireGroup(reading, call)
      return { group: name, count: subjectCount }
    }),
})

/** Deletes every subject of a group. It takes many transactions: the audit says so before the first. */
export const removeGroup = defineWrite({
  method: 'DELETE',
  path: '/projects/:projectId/groups/:name',
  minimumRole: 'admin',
  auditAction: 'group.delete',
  query: noQuery,
  body: z.strictObject({ confirm: z.string().max(64) }),
  response: z.object({ group: z.string(), deletedCount: count }),
  handle: async (call, { tx }) => {
    const { gallery } = call.services
    const { name, subjectCount } = await requireGroup(tx, call)
    const { projectId, galleryId } = await requireProject(tx, call)
    if (call.body.confirm !== name)
      throw new ValidationError([{ path: 'body.confirm', message: 'repeat the name of the group' }])
    const answer = { group: name, deletedCount: subjectCount }
    return {
      response: answer,
      target: name,
      detail: { projectId, subjectCount },
      afterCommit: async () => {
        answer.deletedCount = (await gallery.removeGroup(galleryId, name)).length
      },
    }
  },
})

async function requireGroup(reading: ReadTx, call: ConsoleContext) {
  const { galleryId } = await requireProject(reading, call)
  const { name = '' } = call.pathParameters
  const found = (await listGroups(reading, galleryId, { name }))[0]
  if (!found) throw new ActionError('GROUP_NOT_FOUND', 'The gallery has no such group.')
  return found
}
