import { z } from 'zod'
import { groupName } from '../../../actions/schemas/fields.ts'
import { ActionError, HttpError } from '../../../lib/errors.ts'
import { lockGallery } from '../../../store/gallery/galleries.ts'
import { count, invalidField, requireProject } from '../../server/input.ts'
import { defineList } from '../../server/define-list.ts'
import { defineRead, defineWrite } from '../../server/console-route.ts'

const groupItem = z.object({ name: z.string(), subjectCount: count })

export const { pages: listAllGroups } = defineList({
  path: '/projects/:projectId/groups',
  filter: z.strictObject({ q: z.string().min(1).max(64).optional() }),
  item: groupItem,
  sortBy: ['name'],
  isDescending: false,
  position: z.string(),
  find: async (call, { after, limit, sort }) => {
    const { store, subjects } = call.services
    const { galleryId } = await store.read((tx) => requireProject(tx, call))
    const filter = { text: call.query.q, after, limit, isDescending: sort.isDescending }
    const groups = await subjects.listGroups(galleryId, filter)
    return groups.map((item) => ({ item, position: item.name }))
  },
})

/** Returns the number of subjects that deleting a group would delete. */
export const countGroup = defineRead('/projects/:projectId/groups/:name', {
  isLong: true,
  response: z.object({ group: z.string(), count }),
  handle: async (call) => {
    const { store, subjects } = call.services
    const { galleryId } = await store.read((tx) => requireProject(tx, call))
    const { name = '' } = call.pathParameters
    const [group] = await subjects.listGroups(galleryId, { name })
    return { group: name, count: requireFound(group?.subjectCount) }
  },
})

/**
 * Deletes every subject of a group, in many transactions. The audit entry is committed before the
 * first of them.
 */
export const removeGroup = defineWrite('/projects/:projectId/groups/:name', {
  method: 'DELETE',
  auditAction: 'group.delete',
  body: z.strictObject({
    confirm: z.string().max(64),
    confirmedCount: count.optional().meta({
      description: 'The count that was shown. If the group has more subjects now: 409.',
    }),
  }),
  response: z.object({ group: z.string(), deletedCount: count }),
  handle: async (call, { tx }) => {
    const { maintenance, subjects } = call.services
    const { projectId, galleryId } = await requireProject(tx, call)
    const { name = '' } = call.pathParameters
    const subjectCount = requireFound(await subjects.countGroup(tx, galleryId, name))
    if (call.body.confirm !== name) throw invalidField('body.confirm', 'must repeat the group name')
    const { confirmedCount = subjectCount } = call.body
    if (subjectCount > confirmedCount)
      throw new HttpError(
        409,
        `The group has ${subjectCount} subjects now, but ${confirmedCount} were confirmed. Check the number, then confirm again.`,
      )
    const response = { group: name, deletedCount: subjectCount }
    return {
      response,
      target: name,
      detail: { projectId, subjectCount },
      afterCommit: async () => {
        response.deletedCount = 0
        for (let hasMore = true; hasMore;) {
          const deleted = await maintenance.removeGroup(galleryId, name)
          response.deletedCount += deleted.records.length
          hasMore = deleted.hasMore
        }
      },
    }
  },
})

/** Renames a group. */
export const changeGroupName = defineWrite('/projects/:projectId/groups/:name/rename', {
  auditAction: 'group.rename',
  body: z.strictObject({ name: groupName }),
  response: groupItem,
  handle: async (call, { tx }) => {
    const { projectId, galleryId } = await requireProject(tx, call)
    const { name = '' } = call.pathParameters
    const { name: newName } = call.body
    await lockGallery(tx, galleryId, 'exclusive')
    const response = await call.services.subjects.renameGroup(tx, { galleryId, name, newName })
    return { response, target: name, detail: { projectId, newName } }
  },
})

function requireFound(subjectCount = 0): number {
  if (subjectCount > 0) return subjectCount
  throw new ActionError('GROUP_NOT_FOUND', 'The gallery has no group with this name.')
}
