import { z } from 'zod'
import { gallerySize } from '../store/galleries.ts'
import type { ProjectFacts } from '../store/project-facts.ts'
import { count } from './fields.ts'
import { defineRead, noQuery } from './route.ts'
import { theProject } from './the-project.ts'

type Mode = ProjectFacts['galleryMode']

/** What a project would see if its gallery mode were switched, before anybody switches it. */
export const previewGalleryMode = defineRead({
  path: '/projects/:projectId/gallery-mode-preview',
  who: 'viewer',
  query: noQuery,
  answer: z.object({
    from: z.string(),
    to: z.string(),
    statement: z.string(),
    subjectsSeenNow: count,
    subjectsSeenThen: count,
  }),
  handle: async (call) =>
    call.services.store.read(async (reading) => {
      const facts = await theProject(reading, call)
      const to = facts.galleryMode === 'isolated' ? 'shared' : 'isolated'
      const then = to === 'shared' ? facts.accountId : facts.projectId
      return {
        from: facts.galleryMode,
        to,
        statement: statementOf(facts, to),
        subjectsSeenNow: facts.subjectCount,
        subjectsSeenThen: (await gallerySize(reading, then)).subjectCount,
      }
    }),
})

/** What the switch means, in words that whoever switches has to repeat. */
export function statementOf({ name }: Pick<ProjectFacts, 'name'>, to: Mode): string {
  return to === 'shared'
    ? `From now on ${name} searches, lists and deletes in the gallery that all shared projects of the account see, and they see whom it enrolls. Its own gallery is kept, out of its sight, until it is isolated again.`
    : `From now on ${name} searches, lists and deletes in its own gallery alone. Whom it enrolled in the shared gallery stays there, out of its sight, and the other shared projects still see them.`
}
