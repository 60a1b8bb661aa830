import { deleteSubject } from '../../gallery/deletion/subject-deletion.ts'
import { formatUtc } from '../../lib/clock.ts'
import { lockGallery } from '../../store/gallery/galleries.ts'
import { auditedChange } from '../audit/audited-change.ts'
import type { CommandValues } from '../command.ts'
import { print } from '../output.ts'
import { requireSubject, withProject } from './find-subject.ts'

type RemoveValues = CommandValues<'project' | 'subject'>

export async function remove({ project, subject, json }: RemoveValues): Promise<void> {
  const record = await withProject(project, async (store, { projectId, accountId }, galleryId) => {
    const deleted = await auditedChange(store, 'subject.delete', async ({ tx, nowMs }) => {
      await lockGallery(tx, galleryId, 'exclusive')
      const row = await requireSubject(tx, galleryId, subject)
      const result = await deleteSubject(tx, row, formatUtc(nowMs))
      const detail = { deletionId: result.deletionId, projectId }
      return { result, accountId, target: row.subjectId, detail }
    })
    // The deleted rows leave the write-ahead log.
    await store.checkpoint()
    return deleted
  })
  const { subjectId, embeddingCount, deletionId } = record
  const deleted = `deleted ${subjectId} with ${embeddingCount} templates`
  print(record, json, () => `${deleted}; deletion record ${deletionId}`)
}
