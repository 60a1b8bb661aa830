import { z } from 'zod'
import { ActionError } from '../lib/errors.ts'
import { listGroups } from '../store/groups.ts'
import type { Reading } from '../store/tx.ts'
import { count } from './fields.ts'
import { Invalid } from './invalid.ts'
import { defineList, describeList } from './list.ts'
import { defineRead, defineWrite, noQuery, type ConsoleCall } from './route.ts'
import { theProject } from './the-project.ts'

const group = z.object({ name: z.string(), subjectCount: count })

const groups = describeList({
  path: '/projects/:projectId/groups',
  who: 'viewer',
  filter: z.strictObject({ q: z.string().min(1).max(64).optional() }),
  item: group,
  place: z.string(),
  find: async (call, { after, limit }) =>
    call.services.store.read(async (reading) => {
      const { galleryId } = await theProject(reading, call)
      const part = { text: call.query.q, after, limit }
      return (await listGroups(reading, galleryId, part)).map((item) => ({
        item,
        place: item.name,
      }))
    }),
})

export const listAllGroups = defineList(groups)

/** How many subjects would go with a group. */
export const countGroup = defineRead({
  path: '/projects/:projectId/groups/:name',
  who: 'viewer',
  query: noQuery,
  answer: z.object({ group: z.string(), count }),
  handle: async (call) =>
    call.services.store.read(async (reading) => {
      const { name, subjectCount } = await theGroup(reading, call)
      return { group: name, count: subjectCount }
    }),
})

/** Deletes every subject of a group. It takes many transactions: the audit says so before the first. */
export const removeGroup = defineWrite({
  method: 'DELETE',
  path: '/projects/:projectId/groups/:name',
  who: 'admin',
  act: 'group.delete',
  query: noQuery,
  body: z.strictObject({ confirm: z.string().max(64) }),
  answer: z.object({ group: z.string(), deletedCount: count }),
  handle: async (call, { tx }) => {
    const { gallery } = call.services
    const { name, subjectCount } = await theGroup(tx, call)
    const { projectId, galleryId } = await theProject(tx, call)
    if (call.body.confirm !== name)
      throw new Invalid([{ path: 'body.confirm', message: 'repeat the name of the group' }])
    const answer = { group: name, deletedCount: subjectCount }
    return {
      answer,
      target: name,
      detail: { projectId, subjectCount },
      afterwards: async () => {
        answer.deletedCount = (await gallery.removeGroup(galleryId, name)).length
      },
    }
  },
})

async function theGroup(reading: Reading, call: ConsoleCall) {
  const { galleryId } = await theProject(reading, call)
  const { name = '' } = call.parts
  const found = (await listGroups(reading, galleryId, { name }))[0]
  if (!found) throw new ActionError('GROUP_NOT_FOUND', 'The gallery has no such group.')
  return found
}
