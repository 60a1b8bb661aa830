import { z } from 'zod'
import { findGallerySize } from '../../../store/gallery/galleries.ts'
import type { ProjectSummary } from '../../../store/tenancy/project-summaries.ts'
import { count } from '../../server/input.ts'
import { defineRead } from '../../server/console-route.ts'
import { requireProject } from '../../server/require-project.ts'

/** Returns what changes for a project if its gallery mode is switched. */
export const previewGalleryMode = defineRead({
  path: '/projects/:projectId/gallery-mode-preview',
  response: z.object({
    from: z.string(),
    to: z.string(),
    statement: z.string(),
    subjectsSeenNow: count,
    subjectsSeenThen: count,
  }),
  handle: async (call) =>
    call.services.store.read(async (tx) => {
      const project = await requireProject(tx, call)
      const to = project.galleryMode === 'isolated' ? 'shared' : 'isolated'
      const galleryIdThen = to === 'shared' ? project.accountId : project.projectId
      return {
        from: project.galleryMode,
        to,
        statement: galleryModeStatement(project, to),
        subjectsSeenNow: project.subjectCount,
        subjectsSeenThen: (await findGallerySize(tx, galleryIdThen)).subjectCount,
      }
    }),
})

/** Returns the effect of the switch in words. The request that switches the mode must repeat them. */
export function galleryModeStatement(
  { name }: Pick<ProjectSummary, 'name'>,
  to: ProjectSummary['galleryMode'],
): string {
  return to === 'shared'
    ? `After the switch, ${name} searches, lists and deletes in the gallery of all shared projects of the account, and these projects see the subjects it enrolls. Its own gallery is kept but hidden until the project is isolated again.`
    : `After the switch, ${name} searches, lists and deletes only in its own gallery. Subjects it enrolled in the shared gallery stay there: hidden from ${name}, visible to the other shared projects.`
}
