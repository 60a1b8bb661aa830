import { z } from 'zod'
import { findGallerySize } from '../../store/gallery/galleries.ts'
import type { ProjectSummary } from '../../store/tenancy/project-summaries.ts'
import { count } from '../server/schemas.ts'
import { defineRead, noQuery } from '../server/route.ts'
import { requireProject } from '../server/require-project.ts'

type ProjectGalleryMode = ProjectSummary['galleryMode']

/** What a project would see if its gallery mode were switched, before anybody switches it. */
export const previewGalleryMode = defineRead({
  path: '/projects/:projectId/gallery-mode-preview',
  minimumRole: 'viewer',
  query: noQuery,
  response: z.object({
    from: z.string(),
    to: z.string(),
    statement: z.string(),
    subjectsSeenNow: count,
    subjectsSeenThen: count,
  }),
  handle: async (call) =>
    call.services.store.read(async (reading) => {
      const facts = await requireProject(reading, call)
      const to = facts.galleryMode === 'isolated' ? 'shared' : 'isolated'
      const then = to === 'shared' ? facts.accountId : facts.projectId
      return {
        from: facts.galleryMode,
        to,
        statement: galleryModeStatement(facts, to),
        subjectsSeenNow: facts.subjectCount,
        subjectsSeenThen: (await findGallerySize(reading, then)).subjectCount,
      }
    }),
})

/** What the switch means, in words that whoever switches has to repeat. */
export function galleryModeStatement(
  { name }: Pick<ProjectSummary, 'name'>,
  to: ProjectGalleryMode,
): string {
  return to === 'shared'
    ? `From now on ${name} searches, lists and deletes in the gallery that all shared projects of the account see, and they see whom it enrolls. Its own gallery is kept, out of its sight, until it is isolated again.`
    : `From now on ${name} searches, lists and deletes in its own gallery alone. Whom it enrolled in the shared gallery stays there, out of its sight, and the other shared projects still see them.`
}
